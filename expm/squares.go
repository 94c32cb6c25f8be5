// SPDX-License-Identifier: Apache-2.0

package expm

import (
	"context"
	"math"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// ColumnSquares sets low[k] and high[k] to bounds on Σ_i weights[i]·M_ij² for column
// j = js[k] of M = e^{-τL} itself, weights ≥ 0. They come from the balls of the rows that weigh, where these are fewer, or
// from the ball around j that heat reaches within a truncation error of at most tol in the 2-norm, or as far as the ball has
// a bounded number of entries: after k steps the Chebyshev recurrence that starts at e_j is
// 0 beyond distance k. It reports false, with nothing set, where that is no shorter than as
// many products as given by most, or a quarter of the balls would be cut, as a sample of the
// columns shows; and with methods other than Chebyshev. The bits do not depend on the number of workers.
func (d *Diffusion) ColumnSquares(ctx context.Context, js []int, weights []float64, tol float64, most int, low,
	high []float64,
) (bool, error) {
	if done, err := d.rowSquares(ctx, js, weights, tol, most, low, high); done || err != nil {
		return done, err
	}
	b := d.affordable(js, weights, tol, most, ballEntries)
	if b == nil {
		return false, ctx.Err()
	}
	order := d.nearby(js)
	parallel.Rows(len(js), 1<<8, func(lo, hi int) {
		if ctx.Err() != nil {
			return
		}
		p := b.pool.Get().(*ball)
		for _, k := range order[lo:hi] {
			low[k], high[k] = b.bounds(p, js[k])
		}
		b.pool.Put(p)
	})
	return true, ctx.Err()
}

// rowBatch bounds the rows whose entries are kept until they are added, in their order.
const rowBatch = 1 << 6

// rowSquares is [Diffusion.ColumnSquares] by the balls of the rows that weigh: S is symmetric, and e^{-τS} too. It reports false where
// those are not fewer than the columns, or one of their balls would be cut.
//
// What row i misses, off_i in the 2-norm, may be in one column: that misses √Σ_i weights[i]·off_i² at most.
func (d *Diffusion) rowSquares(ctx context.Context, js []int, weights []float64, tol float64, most int, low, high []float64) (bool, error) {
	var rows []int
	for i, w := range weights {
		if w > 0 {
			rows = append(rows, i)
		}
	}
	if len(rows) >= len(js) {
		return false, nil
	}
	b := d.affordable(rows, weights, tol/math.Sqrt(float64(len(rows))), most, rowEntries)
	if b == nil {
		return false, nil
	}
	type row struct {
		nodes []int32
		x     []float64
		off   float64
		cut   bool
	}
	batch, squares, missed := make([]row, rowBatch), make([]float64, len(weights)), 0.0
	order := d.nearby(rows)
	for first := 0; first < len(order); first += rowBatch {
		part := order[first:min(first+rowBatch, len(order))]
		parallel.Rows(len(part), 1<<8, func(lo, hi int) {
			p := b.pool.Get().(*ball)
			for k := lo; k < hi && ctx.Err() == nil; k++ {
				r := &batch[k]
				r.off = b.column(p, rows[part[k]])
				r.nodes, r.x = append(r.nodes[:0], p.nodes[:len(p.sum)]...), append(r.x[:0], p.sum...)
				r.cut = len(p.reach) < len(b.chebyshev)
			}
			b.pool.Put(p)
		})
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		for k, at := range part {
			r, w := &batch[k], b.weights[rows[at]]
			if r.cut {
				return false, nil
			}
			missed += w * r.off * r.off
			for i, t := range r.nodes {
				squares[t] += w * r.x[i] * r.x[i]
			}
		}
	}
	off := math.Sqrt(missed) * (1 + float64(len(rows)+8)*unit)
	for k, j := range js {
		low[k], high[k] = b.within(j, squares[j], len(rows), off*(1+1e-9))
	}
	return true, nil
}

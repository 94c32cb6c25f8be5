// SPDX-License-Identifier: Apache-2.0

package expm

import (
	"math"

	"github.com/graphcloak/graphcloak/linop"
)

// ReadColumns reads columns of e^{-τL} from balls, one at a time where its caller wants them, as [Diffusion.LocalColumns] lists them.
func (d *Diffusion) ReadColumns(js []int, tol float64, most int) (linop.ColumnReader, bool) {
	rows, ok := d.gen.(entries)
	if !ok || d.method != Chebyshev || len(js) == 0 {
		return nil, false
	}
	ones := make([]float64, d.gen.Order())
	for i := range ones {
		ones[i] = 1
	}
	b := d.newBalls(rows, ones, tol)
	if !d.cheaper(b, js, most) {
		return nil, false
	}
	return func(j int, do func(rows []int32, x []float64, off float64)) {
		p := b.pool.Get().(*ball)
		off := b.read(p, j)
		do(p.nodes[:len(p.sum)], p.sum, off)
		b.pool.Put(p)
	}, true
}

// read sets sum to column j of e^{-τL} at the nodes of its ball, and bounds the 2-norm of what it misses.
func (b *balls) read(p *ball, j int) (off float64) {
	off = b.peak * b.column(p, j) * (1 + 1e-9)
	if b.similarity == nil {
		return off
	}
	s, square := b.similarity[j], 0.0
	for i := range p.sum {
		p.sum[i] *= s / b.similarity[p.nodes[i]]
		square += p.sum[i] * p.sum[i]
	}
	return off*s*(1+4*unit) + 8*unit*math.Sqrt(square)
}

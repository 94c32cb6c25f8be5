// SPDX-License-Identifier: Apache-2.0

package expm

import (
	"context"
	"fmt"
	"slices"
)

// Times diffuses one vector for several τ: out[k] = e^{-τ_k L}f with an error of
// at most errs[k]·‖f‖₂. With Chebyshev one recurrence serves all, at the price of
// the longest τ, since the T_j(2S/λ − I)f do not depend on τ.
func Times(ctx context.Context, l Generator, taus []float64, f []float64, opts Options) (out [][]float64, errs []float64, err error) {
	if len(taus) == 0 {
		return nil, nil, nil
	}
	if len(f) != l.Order() {
		return nil, nil, fmt.Errorf("expm: vector of %d entries for %d nodes", len(f), l.Order())
	}
	longest, err := New(ctx, l, slices.Max(taus), opts)
	if err != nil {
		return nil, nil, err
	}
	all := make([]*Diffusion, len(taus))
	for k, tau := range taus {
		if all[k], err = longest.At(tau); err != nil {
			return nil, nil, err
		}
		out, errs = append(out, make([]float64, len(f))), append(errs, all[k].err)
	}
	if longest.method == Chebyshev {
		return out, errs, longest.together(ctx, all, out, f)
	}
	for k, d := range all {
		if err := d.Apply(ctx, out[k], false, f, 1); err != nil {
			return nil, nil, err
		}
	}
	return out, errs, nil
}

// together runs the recurrence of d once and sums it with the weights of each τ.
func (d *Diffusion) together(ctx context.Context, all []*Diffusion, out [][]float64, f []float64) error {
	n := len(f)
	prev, cur := make([]float64, n), make([]float64, n)
	d.gather(prev, f, false, 1, 0, 1)
	sums := make([][]float64, len(all))
	for k := range sums {
		sums[k] = make([]float64, n)
	}
	for j := range d.weights {
		switch h := 2 / d.gen.Bound(); j {
		case 0:
		case 1:
			d.gen.Recur(cur, nil, prev, 1, h, -1, 0, 0)
			prev, cur = cur, prev
		default:
			d.gen.Recur(cur, nil, prev, 1, 2*h, -2, -1, 0)
			prev, cur = cur, prev
		}
		// prev is T_j f now.
		for k, o := range all {
			if j < len(o.weights) {
				for i, v := range prev {
					sums[k][i] += o.weights[j] * v
				}
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	for k := range all {
		d.scatter(out[k], sums[k], false, 1, 0, 1)
	}
	return nil
}

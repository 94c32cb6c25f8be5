// SPDX-License-Identifier: Apache-2.0

package expm

import (
	"context"
	"slices"
)

// Times diffuses one vector for several τ: out[k] = e^{-τ_k L}f with an error of
// at most errs[k]·‖f‖₂. With Chebyshev one recurrence serves all: the polynomials
// T_j(S) f do not depend on τ.
func Times(ctx context.Context, l Generator, taus []float64, f []float64, opts Options) (out [][]float64, errs []float64, err error) {
	if len(taus) == 0 {
		return nil, nil, nil
	}
	d, err := New(ctx, l, slices.Max(taus), opts)
	if err != nil {
		return nil, nil, err
	}
	for _, tau := range taus {
		at, err := d.At(tau)
		if err != nil {
			return nil, nil, err
		}
		y := make([]float64, len(f))
		at.MulVecTo(y, false, f)
		out, errs = append(out, y), append(errs, at.err)
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
	}
	return out, errs, nil
}

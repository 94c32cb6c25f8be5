// SPDX-License-Identifier: Apache-2.0

package expm_test

import (
	"testing"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// TestCoarse: fewer products with L for an error that is as large as allowed at most and declared, also
// where L is not symmetric; and the operator itself where there is nothing to save.
func TestCoarse(t *testing.T) {
	const n, tau = 60, 1
	for _, kind := range []laplacian.Kind{laplacian.Combinatorial, laplacian.RandomWalk} {
		l := laplacian.New(random(t, n), kind)
		fine := must.Get(expm.New(background, l, tau, expm.Options{Method: expm.Chebyshev}))(t)
		coarse, ok := fine.Coarse(1e-5).(*expm.Diffusion)
		if !ok || 10*coarse.Degree() > 8*fine.Degree() {
			t.Fatalf("%v: degree %d, was %d", kind, coarse.Degree(), fine.Degree())
		}
		if e := linop.Err(coarse); !(e > 1e-8 && e < 1.1e-5) {
			t.Errorf("%v: declares an error of %v, want at most 1e-5", kind, e)
		}
		m := truth(l, tau)
		x, y := make([]float64, n), make([]float64, n)
		for j := range n {
			clear(x)
			x[j] = 1
			coarse.MulVecTo(y, false, x)
			for i, v := range y {
				if d := v - m.At(i, j); d > coarse.Err() || d < -coarse.Err() {
					t.Fatalf("%v: entry %d, %d is off by %v, beyond %v", kind, i, j, d, coarse.Err())
				}
			}
		}
		if fine.Coarse(1e-15) != linop.Operator(fine) || coarse.Coarse(1.1e-5) != linop.Operator(coarse) {
			t.Errorf("%v: another operator that saves nothing", kind)
		}
	}
	l := laplacian.New(random(t, n), laplacian.Combinatorial)
	whole := must.Get(expm.New(background, l, tau, expm.Options{Method: expm.Eigen}))(t)
	if whole.Coarse(1e-3) != linop.Operator(whole) {
		t.Error("eigenpairs became a polynomial")
	}
}

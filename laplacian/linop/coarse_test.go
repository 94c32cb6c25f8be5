// SPDX-License-Identifier: Apache-2.0

package linop_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// coarsened adds to its matrix what is asked to be tolerated.
type coarsened struct{ linop.Dense }

func (c coarsened) Coarse(tol float64) linop.Operator {
	m := mat.DenseCopyOf(c.M)
	m.Set(0, 0, m.At(0, 0)+tol)
	return linop.Dense{M: m, Bound: tol}
}

// What scales or picks rows hands on the tolerance of the result, in units of what it is made of; an
// operator that knows no other is its own.
func TestCoarse(t *testing.T) {
	whole := coarsened{linop.Dense{M: mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6})}}
	for name, a := range map[string]linop.Operator{
		"itself": whole,
		"rows":   linop.Rows(whole, []int{2, 0}),
		"scaled": linop.Scaled{A: whole, Rows: []int{1, 0}, Scale: []float64{.5, 4}},
		"both":   linop.Scaled{A: linop.Rows(whole, []int{0, 1}), Rows: []int{0, 1}, Scale: []float64{4, 1}},
	} {
		c := linop.Coarse(a, 1e-3)
		if e := linop.Err(c); math.Abs(e-1e-3) > 1e-15 {
			t.Errorf("%s: an error of %v, want 0.001", name, e)
		}
		m, _ := a.Dims()
		x, y := make([]float64, m), make([]float64, m)
		a.MulVecTo(x, false, []float64{1, 0})
		c.MulVecTo(y, false, []float64{1, 0})
		distance := 0.0
		for i, v := range x {
			distance = math.Hypot(distance, v-y[i])
		}
		if math.Abs(distance-1e-3) > 1e-12 {
			t.Errorf("%s: off by %v, want 0.001", name, distance)
		}
	}
	plain := linop.Scaled{A: whole.Dense, Rows: []int{0}, Scale: []float64{1}}
	if e := linop.Err(linop.Coarse(plain, 1)); e != 0 {
		t.Errorf("a matrix became one with an error of %v", e)
	}
}

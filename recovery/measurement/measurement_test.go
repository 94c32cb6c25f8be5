// SPDX-License-Identifier: Apache-2.0

package measurement_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

func random(rnd *rand.Rand, r, c int) *mat.Dense {
	a := mat.NewDense(r, c, nil)
	for i := range a.RawMatrix().Data {
		a.RawMatrix().Data[i] = rnd.NormFloat64()
	}
	return a
}

// Whitening is diag(√u) with the silent rows gone, in every product.
func TestWhiten(t *testing.T) {
	rnd := rand.New(rand.NewPCG(14, 1))
	const m, n, k = 6, 4, 3
	op := random(rnd, m, n)
	u := []float64{4, 0, 1, 0.25, 0, 9}
	y := []float64{1, 2, 3, 4, 5, 6}
	d := must.Get(measurement.Whiten(linop.Dense{M: op, Bound: 1e-3}, y, u))(t)
	want := mat.NewDense(4, n, nil)
	for r, s := range []int{0, 2, 3, 5} {
		for j := range n {
			want.Set(r, j, math.Sqrt(u[s])*op.At(s, j))
		}
	}
	if !floats.Equal(d.Y, []float64{2, 3, 2, 18}) {
		t.Errorf("Y = %v", d.Y)
	}
	if e := linop.Err(d.A); e < 3e-3 || e > 3.001e-3 {
		t.Errorf("error %v, want 3 times 1e-3", e)
	}
	for _, trans := range []bool{false, true} {
		r, c := 4, n
		var a mat.Matrix = want
		if trans {
			r, c, a = n, 4, want.T()
		}
		x := random(rnd, c, k)
		var prod mat.Dense
		prod.Mul(a, x)
		got := make([]float64, r*k)
		linop.MulBlockTo(d.A, got, trans, x.RawMatrix().Data, k)
		if !floats.EqualApprox(got, prod.RawMatrix().Data, 1e-13) {
			t.Errorf("trans %v: %v, want %v", trans, got, prod.RawMatrix().Data)
		}
	}
}

func TestWhitenRefuses(t *testing.T) {
	op := linop.Dense{M: mat.NewDense(2, 2, []float64{1, 0, 0, 1})}
	nan, inf := math.NaN(), math.Inf(1)
	for name, f := range map[string]func() (measurement.Data, error){
		"NaN":       func() (measurement.Data, error) { return measurement.Whiten(op, []float64{nan, 0}, []float64{1, 1}) },
		"Inf":       func() (measurement.Data, error) { return measurement.Whiten(op, []float64{inf, 0}, []float64{1, 1}) },
		"huge":      func() (measurement.Data, error) { return measurement.Whiten(op, []float64{1e200, 0}, []float64{1, 1}) },
		"short y":   func() (measurement.Data, error) { return measurement.Whiten(op, []float64{1}, []float64{1, 1}) },
		"short u":   func() (measurement.Data, error) { return measurement.Whiten(op, []float64{1, 1}, []float64{1}) },
		"negative":  func() (measurement.Data, error) { return measurement.Whiten(op, []float64{1, 1}, []float64{1, -1}) },
		"no sensor": func() (measurement.Data, error) { return measurement.Whiten(op, []float64{1, 1}, []float64{0, 0}) },
		"none":      func() (measurement.Data, error) { return measurement.Whiten(nil, nil, nil) },
	} {
		if _, err := f(); !errors.Is(err, measurement.ErrInvalid) {
			t.Errorf("%s: %v, want invalid", name, err)
		}
	}
}

// A tail far below the rounding of 1 has a quantile: P(χ²₂ > x) = e^{−x/2}.
func TestChi2AboveOfSmallTail(t *testing.T) {
	if got, want := measurement.Chi2Above(2, 1e-30), 60*math.Ln10; math.Abs(got-want) > 1e-10 {
		t.Errorf("quantile %v, want %v", got, want)
	}
}

// SPDX-License-Identifier: Apache-2.0

package recovery_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// apart is M of two components: a large one, and a small one where every sensor reads
// nearly the mass of the component.
func apart(rnd *rand.Rand) (m *mat.Dense, rows, columns []int32) {
	const large, small = 30, 5
	m = mat.NewDense(large+small, large+small, nil)
	rows, columns = make([]int32, large+small), make([]int32, large+small)
	for i := range large + small {
		for j := range large + small {
			switch {
			case i < large && j < large:
				m.Set(i, j, math.Exp(-math.Abs(float64(i-j))/3)/6)
			case i >= large && j >= large:
				m.Set(i, j, 1.0/small+1e-6*rnd.Float64())
				rows[i], columns[j] = 1, 1
			}
		}
	}
	return m, rows, columns
}

// measured are measurements of a source in M that is off by d, with weights 1e4 in the large component.
func measured(t *testing.T, rnd *rand.Rand, m *mat.Dense, rows, columns []int32, d, small float64) (y, u []float64, data measurement.Data) {
	t.Helper()
	n := len(rows)
	y, u = make([]float64, n), make([]float64, n)
	source := rnd.IntN(n)
	for s := range n {
		u[s] = 1e4
		if rows[s] == 1 {
			u[s] = small
		}
		y[s] = m.At(s, source) + rnd.NormFloat64()/math.Sqrt(u[s])
	}
	op := must.Get(recovery.Separate(linop.Dense{M: m, Bound: d}, rows, columns))(t)
	return y, u, must.Get(measurement.Whiten(op, y, u))(t)
}

// rankOne returns d·u·vᵀ/(‖u‖‖v‖) with the rows and columns of one block only.
func rankOne(rows, columns []int32, block int32, d float64, u, v []float64) *mat.Dense {
	u, v = append([]float64(nil), u...), append([]float64(nil), v...)
	for i := range u {
		if rows[i] != block {
			u[i] = 0
		}
	}
	for j := range v {
		if columns[j] != block {
			v[j] = 0
		}
	}
	e := mat.NewDense(len(u), len(v), nil)
	if norm := floats.Norm(u, 2) * floats.Norm(v, 2); norm > 0 {
		e.Outer(d/norm, mat.NewVecDense(len(u), u), mat.NewVecDense(len(v), v))
	}
	return e
}

// With noise in a small component 1e3 times below that of the large one, the answer is
// certified as well as the large one allows, and the proof holds for every operator
// within the error that keeps to the components: the worst ones for the dual bound and
// for the ball are tried in both blocks.
func TestBlurKeepsToItsBlock(t *testing.T) {
	const d = 1e-10
	rnd := rand.New(rand.NewPCG(23, 1))
	optimal := 0
	for trial := range 40 {
		m, rows, columns := apart(rnd)
		n := len(rows)
		_, u, data := measured(t, rnd, m, rows, columns, d, 1e10)
		res, ball, err := recovery.Recover(t.Context(), data, recovery.ColumnGeneration{}, recovery.Auto, nil)
		if err != nil {
			t.Errorf("trial %d: %v", trial, err)
			continue
		}
		if res.Status != recovery.Optimal {
			continue
		}
		optimal++
		if res.Gap > 1e-6 {
			t.Errorf("trial %d: gap %v, want ≤ 1e-6", trial, res.Gap)
		}
		p, _, err := recovery.NewProblem(t.Context(), data, recovery.Chi2, nil)
		must.Do(t, err)
		p.Radius = ball.Radius
		z := make([]float64, n) // a dual vector in the space of all sensors
		p.A.MulVecTo(z, false, res.F)
		floats.SubTo(z, p.Y, z)
		worst(t, m, rows, columns, u, d, p, z, res.F)
	}
	if optimal < 20 {
		t.Errorf("%d of 40 had an optimum", optimal)
	}
}

// worst compares the bounds by z and at f with those of the operators that are worst
// for them.
func worst(t *testing.T, m *mat.Dense, rows, columns []int32, u []float64, d float64, p recovery.Problem, z, f []float64) {
	t.Helper()
	floats.Scale(1/floats.Dot(z, z), z)
	low := must.Get(p.LowerBound(z))(t)
	lean := make([]float64, len(z))
	for s := range lean {
		lean[s] = math.Sqrt(u[s]) * z[s]
	}
	for block := range int32(2) {
		for _, v := range [][]float64{f, constant(len(f))} {
			for _, sign := range []float64{1, -1} {
				e := rankOne(rows, columns, block, sign*d, lean, v)
				e.Add(e, m)
				exact := whitenedProblem(t, e, rows, columns, u, p)
				high := must.Get(exact.LowerBound(z))(t)
				if low > high+1e-12*math.Abs(high) {
					t.Errorf("block %d: bound %v, that of an operator within the error is %v", block, low, high)
				}
			}
		}
	}
}

func constant(n int) []float64 {
	v := make([]float64, n)
	floats.AddConst(1, v)
	return v
}

// whitenedProblem is p with the operator e, known exactly.
func whitenedProblem(t *testing.T, e *mat.Dense, rows, columns []int32, u []float64, p recovery.Problem) recovery.Problem {
	t.Helper()
	y := make([]float64, len(u))
	data := must.Get(measurement.Whiten(linop.Dense{M: e}, y, u))(t)
	p.A = data.A
	return p
}

// A feasible answer stays within the ball for every operator within the error.
func TestBlurLeavesTheBall(t *testing.T) {
	const d = 1e-7
	rnd := rand.New(rand.NewPCG(29, 1))
	tried := 0
	for range 60 {
		m, rows, columns := apart(rnd)
		n := len(rows)
		y, u, data := measured(t, rnd, m, rows, columns, d, 1e6)
		res, ball, err := recovery.Recover(t.Context(), data, recovery.ColumnGeneration{Options: recovery.Options{Tol: 1e-4}},
			recovery.Chi2, nil)
		if err != nil || res.Status != recovery.Optimal {
			continue
		}
		tried++
		r := make([]float64, n)
		data.A.MulVecTo(r, false, res.F)
		floats.SubTo(r, data.Y, r)
		for s := range r {
			r[s] *= math.Sqrt(u[s]) // the error that lengthens r most
		}
		for block := range int32(2) {
			e := rankOne(rows, columns, block, -d, r, res.F)
			e.Add(e, m)
			exact := must.Get(measurement.Whiten(linop.Dense{M: e}, y, u))(t)
			w := make([]float64, n)
			exact.A.MulVecTo(w, false, res.F)
			floats.SubTo(w, exact.Y, w)
			if norm := floats.Norm(w, 2); norm > ball.Radius*(1+1e-14) {
				t.Errorf("block %d: residual %.17g, want ≤ %.17g", block, norm, ball.Radius)
			}
		}
	}
	if tried < 20 {
		t.Errorf("%d of 60 had an optimum", tried)
	}
}

// What Separate is told must fit.
func TestSeparateRefuses(t *testing.T) {
	op := linop.Dense{M: mat.NewDense(2, 3, nil)}
	for _, c := range []struct{ rows, columns []int32 }{
		{[]int32{0}, []int32{0, 0, 0}},
		{[]int32{0, 1}, []int32{0, 1}},
		{[]int32{0, -1}, []int32{0, 0, 0}},
	} {
		if _, err := recovery.Separate(op, c.rows, c.columns); err == nil {
			t.Errorf("blocks %v and %v: no error", c.rows, c.columns)
		}
	}
}

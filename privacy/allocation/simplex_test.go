// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
)

// oracle solves max cᵀx, Ax ≤ b, 0 ≤ x ≤ 1 by gonum's dense simplex method.
func oracle(t *testing.T, c []float64, a [][]float64, b []float64) float64 {
	t.Helper()
	n, m := len(c), len(a)
	cost := make([]float64, 2*n+m)
	for j, v := range c {
		cost[j] = -v
	}
	eq := mat.NewDense(m+n, 2*n+m, nil)
	rhs := make([]float64, m+n)
	for i := range a {
		for j, v := range a[i] {
			eq.Set(i, j, v)
		}
		eq.Set(i, n+i, 1)
		rhs[i] = b[i]
	}
	for j := range n {
		eq.Set(m+j, j, 1)
		eq.Set(m+j, n+m+j, 1)
		rhs[m+j] = 1
	}
	value, _, err := lp.Simplex(cost, eq, rhs, 0, nil)
	if err != nil {
		t.Fatalf("oracle: %v", err)
	}
	return -value
}

func never() bool { return false }

// check compares the programme's point with the oracle: the value, and that it
// satisfies every row.
func check(t *testing.T, name string, l *simplex, c []float64, a [][]float64, b []float64) {
	t.Helper()
	x := make([]float64, len(c))
	l.x(x)
	got := floats.Dot(c, x)
	want := oracle(t, c, a, b)
	if math.Abs(got-want) > 1e-7*(1+math.Abs(want)) {
		t.Errorf("%s: value %v, oracle %v", name, got, want)
	}
	for i := range a {
		if v := floats.Dot(a[i], x); v > b[i]+1e-7 {
			t.Errorf("%s: row %d is %v, want ≤ %v", name, i, v, b[i])
		}
	}
}

func TestSimplexAgainstOracle(t *testing.T) {
	const seed = 11
	random := rand.New(rand.NewPCG(seed, 1))
	for trial := range 60 {
		n, m := 1+random.IntN(12), 1+random.IntN(10)
		c := make([]float64, n)
		for j := range c {
			c[j] = random.Float64() - .2
		}
		l := newSimplex(c)
		var a [][]float64
		var b []float64
		for range m {
			row := make([]float64, n)
			for j := range row {
				if random.Float64() < .7 {
					row[j] = random.Float64() - .1
				}
			}
			a, b = append(a, row), append(b, .2+random.Float64())
			l.addRow(row, b[len(b)-1])
			if !l.dualSimplex(never) {
				t.Fatalf("seed %d trial %d: dual simplex stopped", seed, trial)
			}
			check(t, "after a row", l, c, a, b)
		}
		for j := range c {
			c[j] = random.Float64() - .2
		}
		l.setCost(c)
		if !l.primal(never) {
			t.Fatalf("seed %d trial %d: primal simplex stopped", seed, trial)
		}
		check(t, "after new costs", l, c, a, b)
	}
}

// Equal rows and columns: every basis is degenerate.
func TestSimplexDegenerate(t *testing.T) {
	c := ones(8)
	l := newSimplex(perturbed(c))
	var a [][]float64
	var b []float64
	for k := range 8 {
		row := make([]float64, 8)
		for j := range row {
			row[j] = .5
		}
		row[k] = 1
		a, b = append(a, row), append(b, 1)
		l.addRow(row, 1)
	}
	if !l.dualSimplex(never) {
		t.Fatal("dual simplex stopped")
	}
	check(t, "degenerate", l, c, a, b)
}

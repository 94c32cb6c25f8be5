// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testgraph"
	"github.com/graphcloak/graphcloak/laplacian"
)

// optimum solves the whole programme, max wᵀu, by gonum's simplex method. Columns are scaled to
// order 1.
func optimum(t *testing.T, a [][]float64, w []float64) float64 {
	t.Helper()
	m, rows := len(a[0]), len(a)
	h := make([]float64, m)
	for s := range h {
		for _, row := range a {
			h[s] = max(h[s], row[s])
		}
		h[s] = 1 / h[s]
	}
	unit := 0.0
	for s, v := range w {
		unit = max(unit, v*h[s])
	}
	if unit == 0 {
		return 0
	}
	eq, rhs, cost := mat.NewDense(rows, m+rows, nil), make([]float64, rows), make([]float64, m+rows)
	for s, v := range w {
		cost[s] = -v * h[s] / unit
	}
	for i, row := range a {
		for s, v := range row {
			eq.Set(i, s, v*h[s])
		}
		eq.Set(i, m+i, 1)
		rhs[i] = 1
	}
	value, _, err := lp.Simplex(cost, eq, rhs, 1e-12, nil)
	if err != nil {
		t.Fatalf("oracle: %v", err)
	}
	return -value * unit
}

// separations returns Σ (mean_a M_s· − mean_b M_s·)² over the pairs of communities.
func separations(m *mat.Dense, labels []int) []float64 {
	n, _ := m.Dims()
	mean := func(s, c int) float64 {
		sum, size := 0.0, 0.0
		for i := range n {
			if labels[i] == c {
				sum += m.At(s, i)
				size++
			}
		}
		return sum / size
	}
	sum := make([]float64, n)
	for b := range slices.Max(labels) + 1 {
		for a := range b {
			for s := range sum {
				d := mean(s, a) - mean(s, b)
				sum[s] += d * d
			}
		}
	}
	return sum
}

// TestOptimumAgainstSimplex: the programmes of separation and location reach the optimum of another
// solver on a matrix exponential, and prove that none is above it.
func TestOptimumAgainstSimplex(t *testing.T) {
	for _, f := range fixtures(t) {
		// The oracle cycles on graphs with symmetries.
		if f.g.Order() > 34 || (f.g.UnitLengths() && f.name != "karate") {
			continue
		}
		m, d := model(t, f.g, laplacian.Combinatorial, 1)
		kernel, n := testgraph.Heat(f.g, 1), f.g.Order()
		a, far := constraints(f.g, kernel, everyone(n), 1), make([]float64, n)
		for i := range n {
			for j := range i {
				if _, near := f.g.Edge(i, j); near {
					continue
				}
				for s := range far {
					x := kernel.At(s, i) - kernel.At(s, j)
					far[s] += x * x / float64(n*n)
				}
			}
		}
		p, sensors := unread(t, m, d, f.labels, Information, Options{})
		p.gap = 1e-8
		must.Do(t, p.read(d, sensors))
		for name, c := range map[string]struct {
			w    []float64
			want float64
		}{
			"separation": {p.separation(), optimum(t, a, separations(kernel, f.labels))},
			"location":   {p.location(), optimum(t, a, far)},
		} {
			g := p.newProgramme(p.cap)
			u, err := g.maximise(c.w)
			if c.want < 1e-12 {
				if !errors.Is(err, ErrNothing) {
					t.Errorf("%s %s: no nodes are that far apart: %v", f.name, name, err)
				}
				continue
			}
			if err != nil {
				t.Fatal(f.name, name, err)
			}
			scale := 0.0
			for s, v := range c.w {
				scale = max(scale, v*p.cap[s])
			}
			if v := floats.Dot(c.w, u); math.Abs(v-c.want) > 1e-6*c.want || g.bound*scale < c.want*(1-1e-7) {
				t.Errorf("%s %s: value %v, bound %v, oracle %v", f.name, name, v, g.bound*scale, c.want)
			}
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package allocation_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy/allocation"
)

// optimum solves the whole programme by gonum's simplex method: max wᵀu, or max t
// with t ≤ v_kᵀu where there are pairs. Columns are scaled to order 1.
func optimum(t *testing.T, a [][]float64, w []float64, pairs [][]float64) float64 {
	t.Helper()
	m := len(a[0])
	h := make([]float64, m)
	for s := range h {
		for _, row := range a {
			h[s] = max(h[s], row[s])
		}
		h[s] = 1 / h[s]
	}
	k, rows := len(pairs), len(a)
	extra := 0
	if k > 0 {
		extra = 1
	}
	unit := 0.0
	for s, v := range w {
		unit = max(unit, v*h[s])
	}
	for _, p := range pairs {
		for s, v := range p {
			unit = max(unit, v*h[s])
		}
	}
	if unit == 0 {
		return 0
	}
	eq := mat.NewDense(rows+k, m+extra+rows+k, nil)
	rhs := make([]float64, rows+k)
	cost := make([]float64, m+extra+rows+k)
	for s, v := range w {
		cost[s] = -v * h[s] / unit
	}
	for i, row := range a {
		for s, v := range row {
			eq.Set(i, s, v*h[s])
		}
		eq.Set(i, m+extra+i, 1)
		rhs[i] = 1
	}
	for i, p := range pairs {
		cost[m] = -1
		for s, v := range p {
			eq.Set(rows+i, s, -v*h[s]/unit)
		}
		eq.Set(rows+i, m, 1)
		eq.Set(rows+i, m+extra+rows+i, 1)
	}
	value, _, err := lp.Simplex(cost, eq, rhs, 1e-12, nil)
	if err != nil {
		t.Fatalf("oracle: %v", err)
	}
	return -value * unit
}

// separations returns (mean_a M_s· − mean_b M_s·)² of every pair of communities.
func separations(m *mat.Dense, labels []int, sensors []int) [][]float64 {
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
	var out [][]float64
	for b := range slices.Max(labels) + 1 {
		for a := range b {
			v := make([]float64, len(sensors))
			for k, s := range sensors {
				d := mean(s, a) - mean(s, b)
				v[k] = d * d
			}
			out = append(out, v)
		}
	}
	return out
}

// hops returns the distances of all pairs by repeated relaxation.
func hops(g *graph.Graph) [][]int {
	n := g.Order()
	d := make([][]int, n)
	for i := range d {
		d[i] = make([]int, n)
		for j := range d[i] {
			d[i][j] = n
		}
		d[i][i] = 0
	}
	for e := range g.Edges() {
		d[e.U][e.V], d[e.V][e.U] = 1, 1
	}
	for k := range n {
		for i := range n {
			for j := range n {
				d[i][j] = min(d[i][j], d[i][k]+d[k][j])
			}
		}
	}
	return d
}

func TestOptimumAgainstSimplex(t *testing.T) {
	ctx := context.Background()
	for _, f := range fixtures(t) {
		// The oracle cycles on graphs with symmetries.
		if f.g.Order() > 34 || (f.g.UnitLengths() && f.name != "karate") {
			continue
		}
		const tau = 1
		m, d := model(t, f.g, laplacian.Combinatorial, tau)
		kernel := heat(f.g, tau)
		sensors := everyone(f.g.Order())
		a := constraints(f.g, kernel, sensors, 1)
		pairs := separations(kernel, f.labels, sensors)
		sum := make([]float64, len(sensors))
		for _, v := range pairs {
			for s := range v {
				sum[s] += v[s]
			}
		}
		far := make([]float64, len(sensors))
		distance, n := hops(f.g), float64(len(sensors))
		for i := range sensors {
			for j := range i {
				if distance[i][j] >= 3 {
					for s := range far {
						x := kernel.At(s, i) - kernel.At(s, j)
						far[s] += x * x / (n * n)
					}
				}
			}
		}
		for _, c := range []struct {
			o    allocation.Objective
			want float64
		}{
			{allocation.Separation, optimum(t, a, sum, nil)},
			{allocation.Location, optimum(t, a, far, nil)},
		} {
			r, err := allocation.Optimize(ctx, m, d, f.labels, allocation.Options{Objective: c.o, Gap: 1e-8, Hops: 3})
			if c.o == allocation.Location && c.want < 1e-12 {
				if !errors.Is(err, allocation.ErrNothing) {
					t.Errorf("%s %s: no nodes are that far apart: %v", f.name, c.o, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s %s: %v", f.name, c.o, err)
				continue
			}
			if math.Abs(r.Value-c.want) > 1e-6*c.want || r.Limit < c.want*(1-1e-7) || r.Limit > r.Value*(1+1e-7) {
				t.Errorf("%s %s: value %v, limit %v, oracle %v", f.name, c.o, r.Value, r.Limit, c.want)
			}
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package whisper

import (
	"math"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
)

func newModel(t *testing.T, g *graph.Graph, o Options) *Model {
	t.Helper()
	if o.Labels == nil {
		o.Labels = make([]int, g.Order())
	}
	if o.Flip == 0 {
		o.Flip = .25
	}
	return must.Get(New(g, o))(t)
}

// columnsOf returns the columns of every source and size.
func columnsOf(m *Model) [][][]float64 {
	n := len(m.labels)
	out := make([][][]float64, n)
	b := m.newBlock()
	for at := 0; at < n; at += width {
		sources := m.order[at:min(at+width, n)]
		b.columns(sources, func(c, k int, x reading) {
			column := make([]float64, n)
			for place, i := range b.nodes {
				column[i] = x(place)
			}
			out[sources[c]] = append(out[sources[c]], column)
		})
	}
	return out
}

// oracle is dx/dt = (1 − x) ∘ Ax by Runge and Kutta's method of order four, in steps far shorter, until the sum is reached.
func oracle(m *Model, source int, sum float64) []float64 {
	n := len(m.labels)
	x := make([]float64, n)
	x[source] = 1
	derive := func(x []float64) []float64 {
		d := make([]float64, n)
		for i := range d {
			for e := m.ptr[i]; e < m.ptr[i+1]; e++ {
				w := 1.0
				if m.rate != nil {
					w = m.rate[e]
				}
				d[i] += w * x[m.adj[e]]
			}
			d[i] *= 1 - x[i]
		}
		return d
	}
	add := func(x, d []float64, h float64) []float64 {
		y := make([]float64, n)
		for i := range y {
			y[i] = x[i] + h*d[i]
		}
		return y
	}
	total := func(x []float64) (s float64) {
		for _, v := range x {
			s += v
		}
		return s
	}
	const h = 2e-3
	for {
		a := derive(x)
		b := derive(add(x, a, h/2))
		c := derive(add(x, b, h/2))
		d := derive(add(x, c, h))
		y := make([]float64, n)
		for i := range y {
			y[i] = x[i] + h/6*(a[i]+2*b[i]+2*c[i]+d[i])
		}
		if before, after := total(x), total(y); after >= sum {
			return add(x, add(y, x, -1), (sum-before)/(after-before))
		}
		x = y
	}
}

// The columns are those of the mean field at equal sums, up to the stated error.
func TestStepError(t *testing.T) {
	sbm, _, err := graph.SBM(60, 3, .3, .02, 1)
	if err != nil {
		t.Fatal(err)
	}
	unequal := must.Get(sbm.Reweigh(func(e graph.Edge) float64 { return 1 + float64((e.U*7+e.V)%5) }))(t)
	tree := weighted(t, 10, graph.Edge{U: 0, V: 1, Weight: 1}, graph.Edge{U: 0, V: 2, Weight: 2}, graph.Edge{U: 0, V: 3, Weight: .5},
		graph.Edge{U: 1, V: 4, Weight: 1}, graph.Edge{U: 1, V: 5, Weight: 4}, graph.Edge{U: 2, V: 6, Weight: 1},
		graph.Edge{U: 6, V: 7, Weight: 1}, graph.Edge{U: 7, V: 8, Weight: 1}, graph.Edge{U: 3, V: 9, Weight: .1})
	star := must.Get(graph.Star(200))(t)
	for name, g := range map[string]*graph.Graph{"blocks": sbm, "weights": unequal, "tree": tree, "star": star} {
		t.Run(name, func(t *testing.T) {
			m := newModel(t, g, Options{})
			all, worst := columnsOf(m), 0.0
			for source := 0; source < g.Order(); source += 1 + g.Order()/8 {
				if len(all[source]) != m.sizesFrom(int32(source)) {
					t.Fatalf("%d columns of %d sizes", len(all[source]), m.sizesFrom(int32(source)))
				}
				for k, got := range all[source] {
					for i, want := range oracle(m, source, m.target(int32(source), k)) {
						worst = max(worst, math.Abs(got[i]-want))
					}
				}
			}
			t.Logf("off by at most %.4f", worst)
			if worst > .04 {
				t.Errorf("entries are off by %v", worst)
			}
		})
	}
}

// Columns have the sums of the grid also where the rumour is held up by a slow relationship or goes to very many at once, and
// those of a small component what there is of it.
func TestHardColumns(t *testing.T) {
	slow := weighted(t, 8, graph.Edge{U: 0, V: 1, Weight: 1}, graph.Edge{U: 1, V: 2, Weight: 1}, graph.Edge{U: 2, V: 3, Weight: 1e-12},
		graph.Edge{U: 3, V: 4, Weight: 1}, graph.Edge{U: 4, V: 5, Weight: 1e12}, graph.Edge{U: 6, V: 7, Weight: 1})
	star := must.Get(graph.Star(20_000))(t)
	for name, g := range map[string]*graph.Graph{"slow": slow, "star": star} {
		m, b := newModel(t, g, Options{}), (*block)(nil)
		b = m.newBlock()
		sources := m.order[:min(width, g.Order())]
		b.columns(sources, func(c, k int, x reading) {
			sum := 0.0
			for place := range b.nodes {
				v := x(place)
				if !(v >= 0 && v <= 1) {
					t.Fatalf("%s: a chance of %v", name, v)
				}
				sum += v
			}
			if want := m.target(sources[c], k); math.Abs(sum-want) > 1e-6*want {
				t.Errorf("%s: the sum of column %d is %v, want %v", name, sources[c], sum, want)
			}
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package emd_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/stat"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/graph/emd"
	"github.com/graphcloak/graphcloak/internal/must"
)

type edge struct {
	u, v   int
	length float64
}

func build(t testing.TB, n int, edges []edge) *graph.Graph {
	t.Helper()
	var b graph.Builder
	for i := range n {
		must.Get(b.AddNode(graph.ID(strconv.Itoa(i))))(t)
	}
	for _, e := range edges {
		must.Do(t, b.Connect(e.u, e.v, 1, e.length))
	}
	return must.Get(b.Graph())(t)
}

func TestReference(t *testing.T) {
	raw := must.Get(os.ReadFile("testdata/maths.json"))(t)
	var ref struct {
		Graphs map[string]struct {
			N     int
			Edges [][3]float64
		}
		EMD []struct {
			Space string
			P, Q  []float64
			EMD   float64
		}
	}
	must.Do(t, json.Unmarshal(raw, &ref))
	if len(ref.EMD) != 23 {
		t.Fatalf("%d reference distances, want 23", len(ref.EMD))
	}
	for _, c := range ref.EMD {
		var got float64
		var err error
		if strings.HasPrefix(c.Space, "line") {
			edges := make([]edge, len(c.P)-1)
			for i := range edges {
				edges[i] = edge{i, i + 1, 1.0 / 5}
			}
			got, err = emd.Distance(t.Context(), build(t, len(c.P), edges), c.P, c.Q)
		} else {
			name, metric, _ := strings.Cut(c.Space, " ")
			var edges []edge
			for _, e := range ref.Graphs[name].Edges {
				l := 1.0
				if metric == "metric=inverse_weight" {
					l = 1 / e[2]
				}
				edges = append(edges, edge{int(e[0]), int(e[1]), l})
			}
			got, err = emd.Distance(t.Context(), build(t, ref.Graphs[name].N, edges), c.P, c.Q)
		}
		if err != nil || !scalar.EqualWithinRel(got, c.EMD, 1e-12) {
			t.Errorf("%s, p = %v, q = %v: %v, %v; want %v", c.Space, c.P, c.Q, got, err, c.EMD)
		}
	}
}

// random returns a connected graph with random lengths.
func random(t testing.TB, r *rand.Rand, n, extra int) *graph.Graph {
	var edges []edge
	for v := 1; v < n; v++ {
		edges = append(edges, edge{r.IntN(v), v, 0.1 + r.Float64()})
	}
	for range extra {
		if u, v := r.IntN(n), r.IntN(n); u != v {
			edges = append(edges, edge{u, v, 0.1 + r.Float64()})
		}
	}
	return build(t, n, edges)
}

// distribution has mass 1 on about a share of the nodes.
func distribution(r *rand.Rand, n int, share float64) []float64 {
	p := make([]float64, n)
	total := 0.0
	for i := range p {
		if r.Float64() < share {
			p[i] = r.Float64()
			total += p[i]
		}
	}
	if total == 0 {
		p[r.IntN(n)], total = 1, 1
	}
	for i := range p {
		p[i] /= total
	}
	return p
}

func TestTransportOracle(t *testing.T) {
	const seed = 11
	r := rand.New(rand.NewPCG(seed, 0))
	for trial := range 60 {
		n := 2 + r.IntN(25)
		g := random(t, r, n, r.IntN(3*n))
		p, q := distribution(r, n, 0.7), distribution(r, n, 0.4)
		got, err := emd.Distance(t.Context(), g, p, q)
		want := transport(distances(g), p, q)
		if err != nil || !scalar.EqualWithinAbsOrRel(got, want, 1e-13, 1e-11) {
			t.Errorf("seed %d, trial %d: %v, %v; the dense programme has %v", seed, trial, got, err, want)
		}
	}
}

// Equal masses and lengths make most pivots move nothing: the method still ends,
// and at the optimum.
func TestDegeneratePivots(t *testing.T) {
	const seed = 13
	r := rand.New(rand.NewPCG(seed, 0))
	for trial := range 30 {
		g, err := graph.Grid(2+r.IntN(4), 2+r.IntN(4))
		if trial%3 == 0 {
			g, err = graph.Hypercube(2 + r.IntN(3))
		}
		must.Do(t, err)
		n := g.Order()
		p, q := make([]float64, n), make([]float64, n)
		for range 1 + r.IntN(n) {
			p[r.IntN(n)]++
			q[r.IntN(n)]++
		}
		got, err := emd.Distance(t.Context(), g, p, q)
		if want := transport(distances(g), p, q); err != nil || got != want {
			t.Errorf("seed %d, trial %d: %v, %v; the dense programme has %v", seed, trial, got, err, want)
		}
	}
}

// The line is a path with equal lengths, and gonum knows it.
func TestLineOracle(t *testing.T) {
	const seed = 5
	r := rand.New(rand.NewPCG(seed, 0))
	for trial := range 40 {
		n := 2 + r.IntN(60)
		p, q := distribution(r, n, 0.8), distribution(r, n, 0.3)
		spacing := 1 / float64(n)
		edges := make([]edge, n-1)
		for i := range edges {
			edges[i] = edge{i, i + 1, spacing}
		}
		xp, wp := support(p, spacing)
		xq, wq := support(q, spacing)
		want := stat.WassersteinDistance(xp, xq, wp, wq)
		got, err := emd.Distance(t.Context(), build(t, n, edges), p, q)
		if err != nil || !scalar.EqualWithinAbsOrRel(got, want, 1e-13, 1e-11) {
			t.Errorf("seed %d, trial %d: %v, %v; gonum has %v", seed, trial, got, err, want)
		}
	}
}

// support returns the points that carry mass, as gonum wants them, and the masses.
func support(p []float64, spacing float64) (x, mass []float64) {
	for i, m := range p {
		if m > 0 {
			x, mass = append(x, float64(i)*spacing), append(mass, m)
		}
	}
	return x, mass
}

func TestBadInput(t *testing.T) {
	g := build(t, 4, []edge{{0, 1, 1}, {2, 3, 1}}) // two components
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name string
		p, q []float64
		mass bool
	}{
		{"total mass", []float64{1, 0, 0, 0}, []float64{0, 2, 0, 0}, true},
		{"mass in a component", []float64{1, 0, 0, 0}, []float64{0, 0, 1, 0}, true},
		{"nothing against something", []float64{0, 0, 0, 0}, []float64{0, 0, 1, 0}, true},
		{"NaN", []float64{nan, 0, 0, 0}, []float64{1, 0, 0, 0}, false},
		{"infinite", []float64{1, 0, 0, 0}, []float64{inf, 0, 0, 0}, false},
		{"negative", []float64{2, -1, 0, 0}, []float64{1, 0, 0, 0}, false},
		{"overflow", []float64{1e308, 1e308, 0, 0}, []float64{1e308, 1e308, 0, 0}, false},
		{"length", []float64{1, 0, 0}, []float64{1, 0, 0, 0}, false},
	} {
		d, err := emd.Distance(t.Context(), g, c.p, c.q)
		if err == nil || errors.Is(err, emd.ErrMass) != c.mass {
			t.Errorf("%s: Distance = %v, %v", c.name, d, err)
		}
	}
}

func TestDegenerate(t *testing.T) {
	for _, c := range []struct {
		name  string
		n     int
		edges []edge
		p, q  []float64
		want  float64
	}{
		{"empty", 0, nil, nil, nil, 0},
		{"one node", 1, nil, []float64{2}, []float64{2}, 0},
		{"isolated nodes", 3, nil, []float64{1, 0, 2}, []float64{1, 0, 2}, 0},
		{"no mass", 2, []edge{{0, 1, 1}}, []float64{0, 0}, []float64{0, 0}, 0},
		{"two components", 4, []edge{{0, 1, 2}, {2, 3, 5}}, []float64{1, 0, 1, 0}, []float64{0, 1, 0, 1}, 7},
		{"the long edge is no shortest path", 3, []edge{{0, 1, 10}, {1, 2, 1}, {0, 2, 1}}, []float64{1, 0, 0}, []float64{0, 1, 0}, 2},
		{"tiny masses", 2, []edge{{0, 1, 1}}, []float64{1e-300, 0}, []float64{0, 1e-300}, 1e-300},
		{"huge lengths", 2, []edge{{0, 1, 1e300}}, []float64{1, 0}, []float64{0, 1}, 1e300},
		{"tiny lengths", 2, []edge{{0, 1, 1e-300}}, []float64{1, 0}, []float64{0, 1}, 1e-300},
		{"rounded mass", 3, []edge{{0, 1, 1}, {1, 2, 1}}, []float64{0, 0, 1}, []float64{1 + 5e-10, 0, 0}, 2},
		{"rounded mass, the other way", 3, []edge{{0, 1, 1}, {1, 2, 1}}, []float64{1, 0, 0}, []float64{0, 0, 1 + 5e-10}, 2},
	} {
		got, err := emd.Distance(t.Context(), build(t, c.n, c.edges), c.p, c.q)
		if err != nil || !scalar.EqualWithinRel(got, c.want, 0x1p-51) {
			t.Errorf("%s: %v, %v; want %v", c.name, got, err, c.want)
		}
	}
}

func TestCancelled(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	g := random(t, r, 300, 900)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := emd.Distance(ctx, g, distribution(r, 300, 1), distribution(r, 300, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
}

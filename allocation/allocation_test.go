// SPDX-License-Identifier: Apache-2.0

package allocation_test

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

	"github.com/graphcloak/graphcloak/allocation"
	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/sensitivity"
)

// noise is σ/Δ₂ of the analytic calibration at ε = 4, δ = 0.1.
const noise = 0.48554

type fixture struct {
	name   string
	g      *graph.Graph
	labels []int
}

func (f fixture) complete() bool { return f.g.Size() == f.g.Order()*(f.g.Order()-1)/2 }

// fixtures are small graphs, each in hops and with random lengths and weights.
func fixtures(t testing.TB) []fixture {
	t.Helper()
	must := func(g *graph.Graph, err error) *graph.Graph {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	sbm, _, err := graph.SBM(60, 3, .3, .03, 5)
	near, _, err2 := graph.KNN(50, 3, 6)
	road, _, err3 := graph.RoadLike(64, 7)
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	list := []fixture{
		{name: "path", g: must(graph.Path(12))},
		{name: "cycle", g: must(graph.Cycle(11))},
		{name: "star", g: must(graph.Star(9))},
		{name: "complete", g: must(graph.Complete(7))},
		{name: "grid", g: must(graph.Grid(5, 6))},
		{name: "hypercube", g: must(graph.Hypercube(4))},
		{name: "sbm", g: sbm}, {name: "knn", g: near}, {name: "road", g: road},
		{name: "karate", g: read(t, "karate")}, {name: "net3", g: read(t, "net3")},
	}
	for _, f := range list {
		list = append(list, fixture{name: f.name + " with lengths", g: measured(t, f.g)})
	}
	for i := range list {
		p, err := community.Leiden{}.Detect(context.Background(), list[i].g)
		if err != nil {
			t.Fatal(err)
		}
		list[i].labels = p.Labels
		if p.Count == 1 {
			list[i].labels = make([]int, list[i].g.Order())
			for k := range list[i].labels {
				list[i].labels[k] = min(1, k/2)
			}
		}
	}
	return list
}

// read reads a graph of the examples.
func read(t testing.TB, name string) *graph.Graph {
	t.Helper()
	f, err := os.Open("../examples/data/" + name + "/relationships.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	b := graph.Builder{Aggregation: graph.Single}
	for _, line := range lines[1:] {
		for _, id := range line[:2] {
			if _, ok := b.Handle(graph.ID(id)); !ok {
				if _, err := b.AddNode(graph.ID(id)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := b.AddEdge(graph.ID(line[0]), graph.ID(line[1]), 1); err != nil {
			t.Fatal(err)
		}
	}
	g, err := b.Graph()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// measured gives the edges of g random weights and lengths.
func measured(t testing.TB, g *graph.Graph) *graph.Graph {
	t.Helper()
	random := rand.New(rand.NewPCG(3, uint64(g.Order())))
	var b graph.Builder
	for i := range g.Order() {
		if _, err := b.AddNode(g.ID(i)); err != nil {
			t.Fatal(err)
		}
	}
	for e := range g.Edges() {
		if err := b.Connect(e.U, e.V, .3+random.Float64(), .3+2*random.Float64()); err != nil {
			t.Fatal(err)
		}
	}
	h, err := b.Graph()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func model(t testing.TB, g *graph.Graph, kind laplacian.Kind, tau float64) (sensitivity.Model, *expm.Diffusion) {
	t.Helper()
	l := laplacian.New(g, kind)
	d, err := expm.New(context.Background(), l, tau, expm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return sensitivity.Model{Graph: g, Laplacian: l, Tau: tau, Diffusion: d}, d
}

// heat computes e^{-τL} for the combinatorial Laplacian by gonum's matrix
// exponential: an independent M.
func heat(g *graph.Graph, tau float64) *mat.Dense {
	l := mat.NewDense(g.Order(), g.Order(), nil)
	for e := range g.Edges() {
		w := -tau * e.Weight
		l.Set(e.U, e.V, l.At(e.U, e.V)-w)
		l.Set(e.V, e.U, l.At(e.V, e.U)-w)
		l.Set(e.U, e.U, l.At(e.U, e.U)+w)
		l.Set(e.V, e.V, l.At(e.V, e.V)+w)
	}
	var m mat.Dense
	m.Exp(l)
	return &m
}

// constraints returns D_es² for every edge and sensor.
func constraints(g *graph.Graph, m *mat.Dense, sensors []int, alpha float64) [][]float64 {
	var a [][]float64
	for e := range g.Edges() {
		row := make([]float64, len(sensors))
		for k, s := range sensors {
			d := alpha * (m.At(s, e.U) - m.At(s, e.V)) / e.Length
			row[k] = d * d
		}
		a = append(a, row)
	}
	return a
}

func everyone(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// worst returns max_e Σ_s a_es u_s.
func worst(a [][]float64, u []float64) float64 {
	peak := 0.0
	for _, row := range a {
		sum := 0.0
		for s, v := range row {
			sum += v * u[s]
		}
		peak = max(peak, sum)
	}
	return peak
}

var all = []allocation.Objective{allocation.Separation, allocation.MaxMin, allocation.Bound, allocation.Location, allocation.Information, allocation.Auto}

// Every plan is re-checked on all edges with a matrix exponential of its own, and
// certified.
func TestFeasibleOnEveryEdge(t *testing.T) {
	ctx := context.Background()
	for _, f := range fixtures(t) {
		for _, tau := range []float64{.5, 2} {
			m, d := model(t, f.g, laplacian.Combinatorial, tau)
			m.Alpha = 1.5
			a := constraints(f.g, heat(f.g, tau), everyone(f.g.Order()), m.Alpha)
			for _, o := range all {
				r, err := allocation.Optimize(ctx, m, d, f.labels, allocation.Options{Objective: o, Noise: noise})
				if f.complete() && o == allocation.Location && errors.Is(err, allocation.ErrNothing) {
					continue // no two nodes are two hops apart
				}
				if err != nil {
					t.Errorf("%s τ=%v %s: %v", f.name, tau, o, err)
					continue
				}
				if v := worst(a, r.Weights); !(v <= 1+1e-7) || !(v >= 1-1e-7) {
					t.Errorf("%s τ=%v %s: worst edge %v, want 1", f.name, tau, o, v)
				}
				if b, err := sensitivity.Bound(ctx, m, r.Weights, sensitivity.Options{}); err != nil || b.Lower > 1+1e-6 || b.Upper < 1-1e-6 {
					t.Errorf("%s τ=%v %s: certificate [%v, %v] %v, want 1 inside", f.name, tau, o, b.Lower, b.Upper, err)
				}
				if o != allocation.Bound && r.Objective != allocation.Information && r.Objective != allocation.Bound && r.Gap > .001 {
					t.Errorf("%s τ=%v %s: gap %v, want ≤ 0.001", f.name, tau, o, r.Gap)
				}
				on := 0
				for _, v := range r.Weights {
					if v < 0 || math.IsNaN(v) || math.IsInf(v, 0) {
						t.Errorf("%s τ=%v %s: weight %v", f.name, tau, o, v)
					}
					if v > 0 {
						on++
					}
				}
				if on != r.Reporting || on == 0 || len(r.Tight) == 0 || r.Objective == allocation.Auto {
					t.Errorf("%s τ=%v %s: %d report, result says %d with %d tight edges, objective %s", f.name, tau, o, on, r.Reporting, len(r.Tight), r.Objective)
				}
			}
		}
	}
}

// The other Laplacians have an M that is not symmetric, or not stochastic: what a
// sensor reads is a row of it.
func TestOtherLaplacians(t *testing.T) {
	ctx := context.Background()
	f := fixtures(t)[6]
	for _, kind := range []laplacian.Kind{laplacian.Normalized, laplacian.RandomWalk} {
		m, d := model(t, f.g, kind, 2)
		m.Sensors = []int{1, 5, 8, 13, 21, 34, 40, 55}
		r, err := allocation.Optimize(ctx, m, d, f.labels, allocation.Options{Objective: allocation.Separation})
		if err != nil {
			t.Fatal(err)
		}
		b, err := sensitivity.Bound(ctx, m, r.Weights, sensitivity.Options{})
		if err != nil || b.Lower > 1+1e-6 || b.Upper < 1-1e-6 {
			t.Errorf("%s: certificate [%v, %v] %v, want 1 inside", kind, b.Lower, b.Upper, err)
		}
	}
}

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
		if f.g.Order() > 34 || (f.g.Hops() && f.name != "karate") {
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
			{allocation.MaxMin, optimum(t, a, nil, pairs)},
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
			if math.Abs(r.Value-c.want) > 1e-6*c.want || r.Limit < c.want*(1-1e-7) || r.Gap > 1e-7 {
				t.Errorf("%s %s: value %v, limit %v, oracle %v", f.name, c.o, r.Value, r.Limit, c.want)
			}
		}
	}
}

// errorBound is the Bhattacharyya bound under u, pair by pair.
func errorBound(m *mat.Dense, labels []int, u []float64) float64 {
	n := len(labels)
	var sum float64
	for i := range n {
		for j := range i {
			if labels[i] == labels[j] {
				continue
			}
			var d float64
			for s, v := range u {
				x := m.At(s, i) - m.At(s, j)
				d += v * x * x / (noise * noise)
			}
			sum += math.Exp(-d / 8)
		}
	}
	return sum / float64(n)
}

func TestBoundIsLeast(t *testing.T) {
	ctx := context.Background()
	const seed = 4
	random := rand.New(rand.NewPCG(seed, 1))
	for _, f := range fixtures(t) {
		if f.g.Order() > 64 {
			continue
		}
		m, d := model(t, f.g, laplacian.Combinatorial, 1)
		kernel := heat(f.g, 1)
		a := constraints(f.g, kernel, everyone(f.g.Order()), 1)
		r, err := allocation.Optimize(ctx, m, d, f.labels, allocation.Options{Objective: allocation.Bound, Noise: noise, Gap: 1e-4})
		if err != nil {
			t.Fatal(f.name, err)
		}
		if got := errorBound(kernel, f.labels, r.Weights); math.Abs(got-r.Value) > 1e-6*got {
			t.Errorf("%s: value %v, by the definition %v", f.name, r.Value, got)
		}
		if r.Gap > .02 {
			t.Errorf("%s: gap %v after all steps", f.name, r.Gap)
		}
		for trial := range 50 {
			u := make([]float64, len(r.Weights))
			for s := range u {
				u[s] = r.Weights[s] * random.ExpFloat64()
				if trial%2 == 0 {
					u[s] += math.Exp(4 * random.NormFloat64())
				}
			}
			peak := worst(a, u)
			for s := range u {
				u[s] /= peak
			}
			if v := errorBound(kernel, f.labels, u); v < r.Limit*(1-1e-9) {
				t.Errorf("%s seed %d: private weights reach %v, below the limit %v", f.name, seed, v, r.Limit)
			}
		}
	}
}

func TestLimitsOnSensors(t *testing.T) {
	ctx := context.Background()
	g, labels, err := graph.SBM(120, 4, .2, .01, 3)
	if err != nil {
		t.Fatal(err)
	}
	m, d := model(t, g, laplacian.Combinatorial, 2)
	last := 0.0
	for _, k := range []int{1, 2, 5, 10, 120, 1000} {
		r, err := allocation.Optimize(ctx, m, d, labels, allocation.Options{Objective: allocation.Separation, MaxSensors: k})
		if err != nil {
			t.Fatal(err)
		}
		if r.Reporting > k || r.Value < last*(1-1e-9) || r.Limit < r.Value {
			t.Errorf("at most %d: %d report, value %v after %v, limit %v", k, r.Reporting, r.Value, last, r.Limit)
		}
		last = r.Value
	}
	for _, k := range []int{30, 100, 120} {
		for _, o := range []allocation.Objective{allocation.Separation, allocation.Bound} {
			r, err := allocation.Optimize(ctx, m, d, labels, allocation.Options{Objective: o, MinSensors: k, Noise: noise})
			if err != nil {
				t.Fatal(err)
			}
			if b, _ := sensitivity.Bound(ctx, m, r.Weights, sensitivity.Options{}); r.Reporting < k || b.Upper > 1+1e-6 {
				t.Errorf("at least %d by %s: %d report, bound %v", k, o, r.Reporting, b.Upper)
			}
		}
	}
}

func TestIsolatedNodesAndLoneCommunities(t *testing.T) {
	ctx := context.Background()
	var b graph.Builder
	for i := range 9 {
		if _, err := b.AddNode(graph.ID(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	// Two paths without an edge between them, and the isolated nodes 7 and 8.
	for _, e := range [][2]int{{0, 1}, {1, 2}, {2, 3}, {4, 5}, {5, 6}} {
		if err := b.Connect(e[0], e[1], 1, 1); err != nil {
			t.Fatal(err)
		}
	}
	g, err := b.Graph()
	if err != nil {
		t.Fatal(err)
	}
	m, d := model(t, g, laplacian.Combinatorial, 1)
	uniform, err := sensitivity.Bound(ctx, m, nil, sensitivity.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, labels := range [][]int{
		{0, 0, 0, 0, 1, 1, 1, 2, 3}, // components
		{0, 1, 2, 3, 4, 5, 6, 7, 8}, // communities of one node
		{5, 5, 5, 9, 9, 9, 9, 9, 9},
	} {
		for _, o := range all {
			r, err := allocation.Optimize(ctx, m, d, labels, allocation.Options{Objective: o, Noise: noise})
			if err != nil {
				t.Errorf("%v %s: %v", labels, o, err)
				continue
			}
			if v := worst(constraints(g, heat(g, 1), everyone(9), 1), r.Weights); math.Abs(v-1) > 1e-7 {
				t.Errorf("%v %s: worst edge %v, want 1", labels, o, v)
			}
			// No less noise than with equal allocation, beside the common scale.
			for _, s := range []int{7, 8} {
				if most := 1 / (uniform.Lower * uniform.Lower); o != allocation.MaxMin && r.Weights[s] > most*1.01 {
					t.Errorf("%v %s: isolated sensor %d has weight %v, want ≤ %v", labels, o, s, r.Weights[s], most)
				}
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	g, _ := graph.Path(6)
	m, d := model(t, g, laplacian.Combinatorial, 1)
	two := []int{0, 0, 0, 1, 1, 1}
	one := make([]int, 6)
	empty, _ := (&graph.Builder{}).Graph()
	_ = empty
	bad := []struct {
		name    string
		labels  []int
		opts    allocation.Options
		nothing bool
	}{
		{"one community", one, allocation.Options{Objective: allocation.Separation}, true},
		{"one community, bound", one, allocation.Options{Objective: allocation.Bound}, true},
		{"too few labels", two[:3], allocation.Options{}, false},
		{"negative label", []int{0, 0, 0, -1, 1, 1}, allocation.Options{}, false},
		{"k below 0", two, allocation.Options{MaxSensors: -1}, false},
		{"more than exist", two, allocation.Options{MinSensors: 7}, false},
		{"contradiction", two, allocation.Options{MinSensors: 4, MaxSensors: 2}, false},
		{"prior with NaN", two, allocation.Options{Prior: []float64{1, 1, 1, 1, 1, math.NaN()}}, false},
		{"prior of 0", two, allocation.Options{Prior: make([]float64, 6)}, false},
		{"prior in one community", two, allocation.Options{Prior: []float64{1, 1, 1, 0, 0, 0}}, true},
		{"unknown objective", two, allocation.Options{Objective: 9}, false},
		{"candidate twice", two, allocation.Options{Candidates: []int{1, 1}}, false},
		{"no candidates", two, allocation.Options{Candidates: []int{}}, false},
		{"noise", two, allocation.Options{Noise: math.Inf(1)}, false},
		{"gap", two, allocation.Options{Gap: math.NaN()}, false},
		{"nobody that far", two, allocation.Options{Objective: allocation.Location, Hops: 99}, true},
	}
	for _, c := range bad {
		if _, err := allocation.Optimize(context.Background(), m, d, c.labels, c.opts); err == nil || errors.Is(err, allocation.ErrNothing) != c.nothing {
			t.Errorf("%s: error %v, ErrNothing %v wanted", c.name, err, c.nothing)
		}
	}
	r, err := allocation.Optimize(context.Background(), m, d, one, allocation.Options{})
	if err != nil || r.Objective != allocation.Location {
		t.Errorf("auto with one community: %v %v, want location", r, err)
	}
	var b graph.Builder
	b.AddNode("a")
	b.AddNode("b")
	lonely, _ := b.Graph()
	m, d = model(t, lonely, laplacian.Combinatorial, 1)
	if _, err := allocation.Optimize(context.Background(), m, d, []int{0, 1}, allocation.Options{}); !errors.Is(err, allocation.ErrNothing) {
		t.Errorf("no relationships: %v", err)
	}
}

func TestSameBits(t *testing.T) {
	g, labels, err := graph.SBM(300, 4, .1, .01, 9)
	if err != nil {
		t.Fatal(err)
	}
	m, d := model(t, g, laplacian.Combinatorial, 1)
	var first *allocation.Result
	for _, workers := range []int{1, 2, 7} {
		old := runtime.GOMAXPROCS(workers)
		r, err := allocation.Optimize(context.Background(), m, d, labels, allocation.Options{Noise: noise, Memory: 300 * 8 * 200})
		runtime.GOMAXPROCS(old)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = r
		}
		if !slices.Equal(r.Weights, first.Weights) || r.Limit != first.Limit {
			t.Errorf("other bits with %d workers", workers)
		}
	}
}

// slow cancels a context after some blocks of rows.
type slow struct {
	*expm.Diffusion
	cancel context.CancelFunc
}

func (s slow) Rows(ctx context.Context, pick []int) (*mat.Dense, error) {
	defer s.cancel()
	return s.Diffusion.Rows(ctx, pick)
}

func TestCancelAndDeadline(t *testing.T) {
	g, labels, err := graph.SBM(300, 4, .1, .01, 9)
	if err != nil {
		t.Fatal(err)
	}
	m, d := model(t, g, laplacian.Combinatorial, 1)
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := allocation.Optimize(ctx, m, slow{d, cancel}, labels, allocation.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for _, limit := range []time.Duration{1, 3 * time.Millisecond, 20 * time.Millisecond} {
		for _, o := range all {
			r, err := allocation.Optimize(context.Background(), m, d, labels, allocation.Options{Objective: o, Noise: noise, Time: limit})
			if err != nil {
				t.Errorf("%v %s: %v", limit, o, err)
				continue
			}
			if b, err := sensitivity.Bound(context.Background(), m, r.Weights, sensitivity.Options{}); err != nil || b.Upper > 1+1e-6 {
				t.Errorf("%v %s: bound %v %v", limit, o, b.Upper, err)
			}
		}
	}
}

func TestCandidates(t *testing.T) {
	ctx := context.Background()
	g, labels, err := graph.SBM(800, 8, .08, .004, 2)
	if err != nil {
		t.Fatal(err)
	}
	m, d := model(t, g, laplacian.Combinatorial, 1)
	whole, err := allocation.Optimize(ctx, m, d, labels, allocation.Options{Objective: allocation.Separation})
	if err != nil {
		t.Fatal(err)
	}
	part, err := allocation.Optimize(ctx, m, d, labels, allocation.Options{Objective: allocation.Separation, Memory: 800 * 8 * 160})
	if err != nil {
		t.Fatal(err)
	}
	if part.Value < .85*whole.Value || part.Value > whole.Limit {
		t.Errorf("160 of 800 candidates reach %v, all sensors %v of at most %v", part.Value, whole.Value, whole.Limit)
	}
	given, err := allocation.Optimize(ctx, m, d, labels, allocation.Options{Objective: allocation.Separation, Candidates: []int{3, 99, 250, 700}})
	if err != nil {
		t.Fatal(err)
	}
	for s, v := range given.Weights {
		if v > 0 && !slices.Contains([]int{3, 99, 250, 700}, s) {
			t.Errorf("sensor %d reports and is no candidate", s)
		}
	}
}

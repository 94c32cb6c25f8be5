// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testgraph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

// noise is σ/Δ₂ of the analytic calibration at ε = 4, δ = 0.1.
const noise = 0.48554

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

// byRows are the objectives that read rows of M.
var byRows = []Objective{Location, Information}

// Every plan is re-checked on all edges with a matrix exponential of its own, and
// certified.
func TestFeasibleOnEveryEdge(t *testing.T) {
	for k, f := range fixtures(t) {
		tau := []float64{.5, 2}[k%2]
		m, d := model(t, f.g, laplacian.Combinatorial, tau)
		m.Alpha = 1.5
		a := constraints(f.g, testgraph.Heat(f.g, tau), everyone(f.g.Order()), m.Alpha)
		for _, o := range byRows {
			r, err := optimizeAs(t, m, d, f.labels, o, Options{Noise: noise})
			if f.complete() && o == Location && errors.Is(err, ErrNothing) {
				continue // no two nodes are two hops apart
			}
			if err != nil {
				t.Errorf("%s τ=%v %s: %v", f.name, tau, o, err)
				continue
			}
			if v := worst(a, r.Weights); !(v <= 1+1e-7) || !(v >= 1-1e-7) {
				t.Errorf("%s τ=%v %s: worst edge %v, want 1", f.name, tau, o, v)
			}
			if b, err := sensitivity.Bound(t.Context(), m, r.Weights, sensitivity.Options{}); err != nil || b.Lower > 1+1e-6 ||
				b.Upper < 1-1e-6 {
				t.Errorf("%s τ=%v %s: certificate [%v, %v] %v, want 1 inside", f.name, tau, o, b.Lower, b.Upper, err)
			}
			for _, v := range r.Weights {
				if v < 0 || math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("%s τ=%v %s: weight %v", f.name, tau, o, v)
				}
			}
			if r.Objective != o {
				t.Errorf("%s τ=%v: objective %s, want %s", f.name, tau, r.Objective, o)
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
		r := must.Get(Optimize(ctx, m, d, f.labels, Options{}))(t)
		b, err := sensitivity.Bound(ctx, m, r.Weights, sensitivity.Options{})
		if err != nil || b.Lower > 1+1e-6 || b.Upper < 1-1e-6 {
			t.Errorf("%s: certificate [%v, %v] %v, want 1 inside", kind, b.Lower, b.Upper, err)
		}
	}
}

func TestLimitsOnSensors(t *testing.T) {
	g, labels, err := graph.SBM(120, 4, .2, .01, 3)
	must.Do(t, err)
	m, d := model(t, g, laplacian.Combinatorial, 2)
	for _, k := range []int{1, 5, 120, 1000} {
		for _, o := range byRows {
			if r, err := optimizeAs(t, m, d, labels, o, Options{MaxSensors: k}); err != nil || reporting(r.Weights) > k {
				t.Errorf("%v, at most %d: %d report, %v", o, k, reporting(r.Weights), err)
			}
		}
	}
}

func TestIsolatedNodesAndLoneCommunities(t *testing.T) {
	ctx := context.Background()
	var b graph.Builder
	for i := range 9 {
		must.Get(b.AddNode(graph.ID(fmt.Sprint(i))))(t)
	}
	// Two paths without an edge between them, and the isolated nodes 7 and 8.
	for _, e := range [][2]int{{0, 1}, {1, 2}, {2, 3}, {4, 5}, {5, 6}} {
		must.Do(t, b.Connect(e[0], e[1], 1, 1))
	}
	g := must.Get(b.Graph())(t)
	m, d := model(t, g, laplacian.Combinatorial, 1)
	uniform := must.Get(sensitivity.Bound(ctx, m, nil, sensitivity.Options{}))(t)
	for _, labels := range [][]int{
		{0, 0, 0, 0, 1, 1, 1, 2, 3}, // components
		{0, 1, 2, 3, 4, 5, 6, 7, 8}, // communities of one node
		{5, 5, 5, 9, 9, 9, 9, 9, 9},
	} {
		for _, o := range byRows {
			r, err := optimizeAs(t, m, d, labels, o, Options{Noise: noise})
			if err != nil {
				t.Errorf("%v %s: %v", labels, o, err)
				continue
			}
			if v := worst(constraints(g, testgraph.Heat(g, 1), everyone(9), 1), r.Weights); math.Abs(v-1) > 1e-7 {
				t.Errorf("%v %s: worst edge %v, want 1", labels, o, v)
			}
			// No less noise than with equal allocation, beside the common scale.
			for _, s := range []int{7, 8} {
				if most := 1 / (uniform.Lower * uniform.Lower); r.Weights[s] > most*1.01 {
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
	for _, c := range []struct {
		name    string
		labels  []int
		opts    Options
		nothing bool
	}{
		{"too few labels", two[:3], Options{}, false},
		{"negative label", []int{0, 0, 0, -1, 1, 1}, Options{}, false},
		{"k below 0", two, Options{MaxSensors: -1}, false},
		{"prior with NaN", two, Options{Prior: []float64{1, 1, 1, 1, 1, math.NaN()}}, false},
		{"prior of 0", two, Options{Prior: make([]float64, 6)}, false},
		{"prior in one community", two, Options{Prior: []float64{1, 1, 1, 0, 0, 0}}, true},
		{"noise", two, Options{Noise: math.Inf(1)}, false},
		{"time", two, Options{Time: -1}, false},
	} {
		if _, err := Optimize(t.Context(), m, d, c.labels, c.opts); err == nil || errors.Is(err, ErrNothing) != c.nothing {
			t.Errorf("%s: error %v, ErrNothing %v wanted", c.name, err, c.nothing)
		}
	}
	var b graph.Builder
	b.AddNode("a")
	b.AddNode("b")
	lonely, _ := b.Graph()
	m, d = model(t, lonely, laplacian.Combinatorial, 1)
	if _, err := Optimize(context.Background(), m, d, []int{0, 1}, Options{}); !errors.Is(err,
		ErrNothing) {
		t.Errorf("no relationships: %v", err)
	}
}

func TestSameBits(t *testing.T) {
	g, labels, err := graph.SBM(300, 4, .1, .01, 9)
	must.Do(t, err)
	m, d := model(t, g, laplacian.Combinatorial, 1)
	var first *Result
	for _, workers := range []int{1, 7} {
		old := runtime.GOMAXPROCS(workers)
		p, sensors := unread(t, m, d, labels, Information, Options{Noise: noise})
		p.memory = 300 * 8 * 200
		r, err := p.optimize(d, sensors)
		runtime.GOMAXPROCS(old)
		must.Do(t, err)
		if first == nil {
			first = r
		}
		if !slices.Equal(r.Weights, first.Weights) || reporting(r.Weights) > 200 {
			t.Errorf("%d workers: other bits, or more than the 200 sensors whose rows memory holds", workers)
		}
	}
}

// Of a given operator with more readings than memory holds, candidates are chosen by the communities of their nodes: two readings of
// each node, of which memory holds a tenth.
func TestCandidatesOfReadings(t *testing.T) {
	g, labels, err := graph.SBM(300, 4, .1, .01, 9)
	must.Do(t, err)
	_, d := model(t, g, laplacian.Combinatorial, 1)
	heat := must.Get(d.Rows(t.Context(), everyNode(300)))(t)
	start, row, value, nodes := []int64{0}, []int32(nil), []float64(nil), []int(nil)
	for j := range 300 {
		for i := range 300 {
			row, value = append(row, int32(2*i), int32(2*i+1)), append(value, heat.At(i, j), heat.At(i, j)/2)
		}
		start, nodes = append(start, int64(len(row))), append(nodes, j, j)
	}
	given := linop.NewSparse(600, start, row, value)
	m := sensitivity.Model{Graph: g, Given: []*linop.Sparse{given}, Nodes: nodes}
	p, sensors := unread(t, m, given, labels, Information, Options{Noise: noise})
	p.memory = 300 * 8 * 60
	of := map[int]int{}
	for _, k := range p.chooseCandidates(given, sensors) {
		of[labels[nodes[k]]]++
	}
	for c := range 4 {
		if of[c] != 15 {
			t.Errorf("community %d has %d of 60 candidates, want 15", c, of[c])
		}
	}
	if r := must.Get(p.optimize(given, sensors))(t); len(r.Weights) != 600 || reporting(r.Weights) > 60 || reporting(r.Weights) == 0 {
		t.Errorf("%d of %d readings report", reporting(r.Weights), len(r.Weights))
	}
}

func everyNode(n int) []int {
	nodes := make([]int, n)
	for i := range nodes {
		nodes[i] = i
	}
	return nodes
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

func TestCancelled(t *testing.T) {
	g, labels, err := graph.SBM(300, 4, .1, .01, 9)
	must.Do(t, err)
	m, d := model(t, g, laplacian.Combinatorial, 1)
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := Optimize(ctx, m, slow{d, cancel}, labels, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// The candidates of a fifth of the memory have most of what all sensors have.
func TestCandidates(t *testing.T) {
	g, labels, err := graph.SBM(800, 8, .08, .004, 2)
	must.Do(t, err)
	m, d := model(t, g, laplacian.Combinatorial, 1)
	var value [2]float64
	for k, memory := range []int64{DefaultMemory, 800 * 8 * 160} {
		p, sensors := unread(t, m, d, labels, Information, Options{})
		p.memory = memory
		must.Do(t, p.read(d, sensors))
		w := p.separation()
		u := must.Get(p.newProgramme(p.cap).maximise(w))(t)
		value[k] = floats.Dot(w, u)
	}
	if value[1] < .85*value[0] || value[1] > value[0]*1.002 {
		t.Errorf("160 of 800 candidates reach %v, all sensors %v", value[1], value[0])
	}
}

// TestLimitIsHonoured: wherever the work ends, each objective returns private weights, the same at any number of
// workers; and a limit that does not bind changes no bit.
func TestLimitIsHonoured(t *testing.T) {
	g, labels, err := graph.SBM(60, 3, .3, .03, 5)
	must.Do(t, err)
	m, d := model(t, g, laplacian.Combinatorial, 1)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, o := range byRows {
		free := must.Get(optimizeAs(t, m, d, labels, o, Options{}))(t)
		cut := 0
		for opts := (Options{Time: 1}); ; opts.Time *= 2 {
			var r [2]*Result
			for k, workers := range []int{1, 3} {
				runtime.GOMAXPROCS(workers)
				r[k] = must.Get(optimizeAs(t, m, d, labels, o, opts))(t)
			}
			if !slices.Equal(r[0].Weights, r[1].Weights) || r[0].CutShort != r[1].CutShort {
				t.Errorf("%v, %v: one worker and three differ", o, opts.Time)
			}
			if !r[0].CutShort {
				if !slices.Equal(r[0].Weights, free.Weights) {
					t.Errorf("%v: a limit that does not bind changes the result", o)
				}
				break
			}
			cut++
			if b, err := sensitivity.Bound(t.Context(), m, r[0].Weights, sensitivity.Options{}); err != nil || b.Upper > 1+1e-6 ||
				b.Lower < 1-1e-6 {
				t.Errorf("%v, %v: certificate [%v, %v] %v, want 1 inside", o, opts.Time, b.Lower, b.Upper, err)
			}
		}
		if cut < 5 {
			t.Errorf("%v: %d limits cut the search, so that little was tested", o, cut)
		}
	}
}

// A programme that has lost one of its tight edges gives weights that are not
// private; the certificate over every edge says so.
func TestLostEdgeIsCaught(t *testing.T) {
	g, labels, err := graph.SBM(200, 4, .1, .005, 8)
	must.Do(t, err)
	l := laplacian.New(g, laplacian.Combinatorial)
	d := must.Get(expm.New(t.Context(), l, 2, expm.Options{}))(t)
	m := sensitivity.Model{Graph: g, Laplacian: l, Tau: 2, Diffusion: d}
	allocate := func(lost []edge) (*problem, []float64) {
		p, sensors := unread(t, m, d, labels, Information, Options{})
		p.gap = 1e-8
		must.Do(t, p.read(d, sensors))
		p.rows.edges = slices.DeleteFunc(p.rows.edges, func(e edge) bool { return slices.Contains(lost, e) })
		p.value = p.value[:len(p.rows.edges)]
		u := must.Get(p.newProgramme(p.cap).maximise(p.separation()))(t)
		p.normalise(u)
		return p, u
	}
	whole, u := allocate(nil)
	whole.rows.constraints(whole.value, u)
	caught := 0
	for k, v := range whole.value {
		if v < 1-1e-6 {
			continue
		}
		lost := whole.rows.edges[k]
		_, u := allocate([]edge{lost})
		b := must.Get(sensitivity.Bound(t.Context(), m, u, sensitivity.Options{}))(t)
		if at := [2]int{int(lost.u), int(lost.v)}; b.Lower > 1+1e-4 && b.Edge == at {
			caught++
		} else {
			t.Errorf("without edge %v the certificate is [%v, %v] at %v", at, b.Lower, b.Upper, b.Edge)
		}
	}
	if caught == 0 {
		t.Error("no tight edges")
	}
}

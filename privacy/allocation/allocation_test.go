// SPDX-License-Identifier: Apache-2.0

package allocation_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy/allocation"
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

var all = []allocation.Objective{allocation.Separation, allocation.Location, allocation.Information, allocation.Auto}

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
				if b, err := sensitivity.Bound(ctx, m, r.Weights, sensitivity.Options{}); err != nil || b.Lower > 1+1e-6 ||
					b.Upper < 1-1e-6 {
					t.Errorf("%s τ=%v %s: certificate [%v, %v] %v, want 1 inside", f.name, tau, o, b.Lower, b.Upper, err)
				}
				if r.Limit > r.Value*1.001 {
					t.Errorf("%s τ=%v %s: value %v, limit %v, want them within .001", f.name, tau, o, r.Value, r.Limit)
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
				if on != r.Reporting || on == 0 || len(r.ActiveEdges) == 0 || r.Objective == allocation.Auto {
					t.Errorf("%s τ=%v %s: %d report, result says %d with %d tight edges, objective %s", f.name, tau, o, on, r.Reporting,
						len(r.ActiveEdges), r.Objective)
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
		{"one community, information", one, allocation.Options{Objective: allocation.Information}, true},
		{"too few labels", two[:3], allocation.Options{}, false},
		{"negative label", []int{0, 0, 0, -1, 1, 1}, allocation.Options{}, false},
		{"k below 0", two, allocation.Options{MaxSensors: -1}, false},
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
		if _, err := allocation.Optimize(context.Background(), m, d, c.labels, c.opts); err == nil ||
			errors.Is(err, allocation.ErrNothing) != c.nothing {
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
	if _, err := allocation.Optimize(context.Background(), m, d, []int{0, 1}, allocation.Options{}); !errors.Is(err,
		allocation.ErrNothing) {
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
		if !slices.Equal(r.Weights, first.Weights) {
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
	given, err := allocation.Optimize(ctx, m, d, labels,
		allocation.Options{Objective: allocation.Separation, Candidates: []int{3, 99, 250, 700}})
	if err != nil {
		t.Fatal(err)
	}
	for s, v := range given.Weights {
		if v > 0 && !slices.Contains([]int{3, 99, 250, 700}, s) {
			t.Errorf("sensor %d reports and is no candidate", s)
		}
	}
}

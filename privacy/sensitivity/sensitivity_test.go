// SPDX-License-Identifier: Apache-2.0

package sensitivity_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

var background = context.Background()

func model(g *graph.Graph, tau float64) sensitivity.Model {
	return sensitivity.Model{Graph: g, Laplacian: laplacian.New(g, laplacian.Combinatorial), Tau: tau}
}

// TestClosedForms: Δ₂ of complete graphs, stars and hypercubes, by both ways.
func TestClosedForms(t *testing.T) {
	ok := must[*graph.Graph](t)
	for _, tau := range []float64{0.05, 0.5, 1} {
		for _, c := range []struct {
			name   string
			g      *graph.Graph
			square float64
		}{
			{"complete", ok(graph.Complete(12)), 2 * math.Exp(-2*tau*12)},
			{"star", ok(graph.Star(20)), 20.0/19*math.Exp(-2*tau*20) + 18.0/19*math.Exp(-2*tau)},
			{"hypercube", ok(graph.Hypercube(5)), 2 * math.Exp(-4*tau) * math.Pow((1+math.Exp(-4*tau))/2, 4)},
		} {
			want := math.Sqrt(c.square)
			b := must[sensitivity.Bracket](t)(sensitivity.Bound(background, model(c.g, tau), nil, sensitivity.Options{}))
			if !near(b, want, 1e-11) {
				t.Errorf("%s τ=%v: [%v, %v], want %v", c.name, tau, b.Lower, b.Upper, want)
			}
			b = must[sensitivity.Bracket](t)(sensitivity.Search(background, model(c.g, tau), nil, sensitivity.Options{Seed: [32]byte{1}}))
			if b.Lower > want || !(b.Upper >= want) || b.Upper > 1.021*want && b.Upper > 1e-8 {
				t.Errorf("%s τ=%v by search: [%v, %v], want %v", c.name, tau, b.Lower, b.Upper, want)
			}
		}
	}
}

func TestDegenerate(t *testing.T) {
	for _, n := range []int{1, 5} {
		g := build(t, n, nil, hops)
		b := must[sensitivity.Bracket](t)(sensitivity.Bound(background, model(g, 1), nil, sensitivity.Options{}))
		if b.Lower != 0 || b.Upper != 0 || b.Edge != [2]int{-1, -1} {
			t.Errorf("%d nodes without edges: %+v, want Δ₂ = 0", n, b)
		}
		if per := must[[]sensitivity.Bracket](t)(sensitivity.PerSensor(background, model(g, 1), sensitivity.Options{})); len(per) != n ||
			per[0].Upper != 0 {
			t.Errorf("%d nodes without edges: per sensor %+v", n, per)
		}
	}
	// An isolated sensor sees nothing; a far component has Δ₂ of its own.
	g := build(t, 5, [][3]float64{{0, 1, 1}, {2, 3, 1}}, hops)
	m := model(g, 1)
	m.Sensors = []int{4}
	if b := must[sensitivity.Bracket](t)(sensitivity.Bound(background, m, nil, sensitivity.Options{})); b.Upper > 1e-13 {
		t.Errorf("isolated sensor: %+v, want about 0", b)
	}
	m.Sensors = nil
	if b := must[sensitivity.Bracket](t)(sensitivity.Bound(background, m, nil, sensitivity.Options{})); !near(b,
		math.Sqrt2*math.Exp(-2), 1e-12) {
		t.Errorf("two pairs: %+v, want √2·e⁻²", b)
	}
}

func TestRefusals(t *testing.T) {
	g := build(t, 3, [][3]float64{{0, 1, 1}, {1, 2, 1}}, hops)
	good := model(g, 1)
	for name, change := range map[string]func(m *sensitivity.Model, u *[]float64, o *sensitivity.Options){
		"no graph":      func(m *sensitivity.Model, _ *[]float64, _ *sensitivity.Options) { m.Graph = nil },
		"tau 0":         func(m *sensitivity.Model, _ *[]float64, _ *sensitivity.Options) { m.Tau = 0 },
		"tau NaN":       func(m *sensitivity.Model, _ *[]float64, _ *sensitivity.Options) { m.Tau = math.NaN() },
		"alpha < 0":     func(m *sensitivity.Model, _ *[]float64, _ *sensitivity.Options) { m.Alpha = -1 },
		"alpha Inf":     func(m *sensitivity.Model, _ *[]float64, _ *sensitivity.Options) { m.Alpha = math.Inf(1) },
		"no sensors":    func(m *sensitivity.Model, _ *[]float64, _ *sensitivity.Options) { m.Sensors = []int{} },
		"sensor twice":  func(m *sensitivity.Model, _ *[]float64, _ *sensitivity.Options) { m.Sensors = []int{1, 1} },
		"sensor -1":     func(m *sensitivity.Model, _ *[]float64, _ *sensitivity.Options) { m.Sensors = []int{-1} },
		"weights short": func(_ *sensitivity.Model, u *[]float64, _ *sensitivity.Options) { *u = []float64{1} },
		"weight NaN":    func(_ *sensitivity.Model, u *[]float64, _ *sensitivity.Options) { *u = []float64{1, math.NaN(), 1} },
		"weight < 0":    func(_ *sensitivity.Model, u *[]float64, _ *sensitivity.Options) { *u = []float64{1, -1, 1} },
		"failure 1":     func(_ *sensitivity.Model, _ *[]float64, o *sensitivity.Options) { o.Failure = 1 },
		"tolerance NaN": func(_ *sensitivity.Model, _ *[]float64, o *sensitivity.Options) { o.Tolerance = math.NaN() },
		"another graph": func(m *sensitivity.Model, _ *[]float64, _ *sensitivity.Options) { m.Graph = build(t, 2, nil, hops) },
		"weights overflow": func(m *sensitivity.Model, _ *[]float64, _ *sensitivity.Options) {
			*m = model(build(t, 3, [][3]float64{{0, 1, 1.5e308}, {1, 2, 1.5e308}}, hops), 1)
		},
	} {
		m, u, o := good, []float64(nil), sensitivity.Options{}
		change(&m, &u, &o)
		if b, err := sensitivity.Bound(background, m, u, o); err == nil {
			t.Errorf("%s: no error but %+v", name, b)
		}
	}
}

// TestExtremes: whatever the weights and τ, the upper end is at least the value of
// a pair {0, 1} that hangs apart: √2·e^{-2τw}, by both ways.
func TestExtremes(t *testing.T) {
	for _, w := range []float64{1e-300, 1e-12, 1, 1e12, 1e300} {
		for _, other := range []float64{1e-300, 1, 1e300} {
			g := build(t, 5, [][3]float64{{0, 1, w}, {2, 3, other}, {3, 4, 1}}, hops)
			for _, tau := range []float64{1e-9, 1, 1e6} {
				want := math.Sqrt2 * math.Exp(-2*tau*w)
				per := must[[]sensitivity.Bracket](t)(sensitivity.PerSensor(background, model(g, tau), sensitivity.Options{}))
				if v := per[0].Upper; !(v >= want/math.Sqrt2) || !(v <= 1.5) {
					t.Errorf("sensor w=%g, %g τ=%g: Upper = %v, want ≥ %v", w, other, tau, v, want/math.Sqrt2)
				}
				for name, bound := range map[string]func(context.Context, sensitivity.Model, []float64,
					sensitivity.Options) (sensitivity.Bracket, error){
					"exact": sensitivity.Bound, "search": sensitivity.Search,
				} {
					b, err := bound(background, model(g, tau), nil, sensitivity.Options{Seed: [32]byte{1}})
					if err != nil {
						t.Errorf("%s w=%g, %g τ=%g: %v", name, w, other, tau, err)
					} else if !(b.Upper >= want) || !(b.Upper <= 1.5) || !(b.Lower <= b.Upper) {
						t.Errorf("%s w=%g, %g τ=%g: [%v, %v], want Upper ≥ %v", name, w, other, tau, b.Lower, b.Upper, want)
					}
				}
			}
		}
	}
}

// TestSameBits: the search gives the same bracket with 1, 2 and 5 processors, and
// another with another seed only through the screen.
func TestSameBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for name, g := range map[string]*graph.Graph{
		"ba":   must[*graph.Graph](t)(graph.BarabasiAlbert(2000, 5, 1)),
		"grid": must[*graph.Graph](t)(graph.Grid(40, 50)),
	} {
		var first sensitivity.Bracket
		for _, procs := range []int{1, 2, 5} {
			runtime.GOMAXPROCS(procs)
			b := must[sensitivity.Bracket](t)(sensitivity.Bound(background, model(g, 0.5), nil, sensitivity.Options{Seed: [32]byte{7}}))
			if first == (sensitivity.Bracket{}) {
				first = b
			}
			if b != first {
				t.Errorf("%s: %+v with %d processors, %+v with 1", name, b, procs, first)
			}
		}
	}
}

// TestReport: each bracket on the way holds the true one, and narrows.
func TestReport(t *testing.T) {
	g := must[*graph.Graph](t)(graph.BarabasiAlbert(3000, 5, 1))
	want := must[sensitivity.Bracket](t)(sensitivity.Bound(background, model(g, 1), nil, sensitivity.Options{Seed: [32]byte{7}}))
	last := math.Inf(1)
	opts := sensitivity.Options{Seed: [32]byte{7}, Report: func(b sensitivity.Bracket) {
		if !(b.Upper >= want.Lower) || b.Lower > want.Upper || b.Upper > last {
			t.Errorf("on the way: [%v, %v], in the end [%v, %v]", b.Lower, b.Upper, want.Lower, want.Upper)
		}
		last = b.Upper
	}}
	for _, opts.Tolerance = range []float64{1, .1, .001} {
		last = math.Inf(1)
		b := must[sensitivity.Bracket](t)(sensitivity.Bound(background, model(g, 1), nil, opts))
		if !(b.Upper >= want.Lower) || b.Lower > want.Upper {
			t.Errorf("at tolerance %v: [%v, %v], in the end [%v, %v]", opts.Tolerance, b.Lower, b.Upper, want.Lower, want.Upper)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(background)
	cancel()
	g := must[*graph.Graph](t)(graph.BarabasiAlbert(3000, 5, 1))
	if _, err := sensitivity.Bound(ctx, model(g, 1), nil, sensitivity.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Bound: %v, want context.Canceled", err)
	}
	if _, err := sensitivity.PerSensor(ctx, model(g, 1), sensitivity.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("PerSensor: %v, want context.Canceled", err)
	}
}

// TestNoSeed: without a seed nothing is left to chance.
func TestNoSeed(t *testing.T) {
	g := must[*graph.Graph](t)(graph.BarabasiAlbert(900, 2, 1))
	b := must[sensitivity.Bracket](t)(sensitivity.Bound(background, model(g, 1), nil, sensitivity.Options{}))
	if b.Failure != 0 || b.Upper > 1.021*b.Lower {
		t.Errorf("without a seed: %+v, want Failure 0 and a closed bracket", b)
	}
	s := must[sensitivity.Bracket](t)(sensitivity.Bound(background, model(g, 1), nil,
		sensitivity.Options{Seed: [32]byte{1}, Failure: 1e-15}))
	if s.Failure > 1e-15 || s.Upper < b.Lower {
		t.Errorf("with a seed: %+v, want Failure ≤ 1e-15 and Upper ≥ %v", s, b.Lower)
	}
}

// TestPerSensorByRows: a Chebyshev row at a time agrees with the eigenpairs.
func TestPerSensorByRows(t *testing.T) {
	g := must[*graph.Graph](t)(graph.BarabasiAlbert(720, 3, 1))
	for _, kind := range []laplacian.Kind{laplacian.RandomWalk} {
		m := sensitivity.Model{Graph: g, Laplacian: laplacian.New(g, kind), Tau: 0.5, Sensors: []int{3, 700, 41}}
		rows := must[[]sensitivity.Bracket](t)(sensitivity.PerSensor(background, m, sensitivity.Options{}))
		// A row may be off by Err·‖b‖₂ either way, so no bracket is narrower than twice that.
		least := 2 * math.Sqrt2 * must[*expm.Diffusion](t)(expm.New(background, m.Laplacian, 0.5,
			expm.Options{Method: expm.Chebyshev})).Err()
		m.Diffusion = must[*expm.Diffusion](t)(expm.New(background, m.Laplacian, 0.5, expm.Options{Method: expm.Eigen}))
		for k, want := range must[[]sensitivity.Bracket](t)(sensitivity.PerSensor(background, m, sensitivity.Options{})) {
			got := rows[k]
			if got.Upper < want.Lower || got.Lower > want.Upper || got.Upper-got.Lower > 1e-9 || got.Upper-got.Lower < least*(1-1e-6) {
				t.Errorf("%v sensor %d: [%v, %v] by rows, [%v, %v] by eigenpairs", kind, m.Sensors[k], got.Lower, got.Upper,
					want.Lower, want.Upper)
			}
		}
	}
}

// TestPerSensorUnread: the bounds without rows hold for every sensor, are never above
// the joint one, and are below half of it for many sensors of a block model.
func TestPerSensorUnread(t *testing.T) {
	for name, g := range families(t, 100) {
		for kind := laplacian.Combinatorial; kind <= laplacian.RandomWalk; kind++ {
			m := sensitivity.Model{Graph: g, Laplacian: laplacian.New(g, kind), Tau: 0.4, Alpha: 2}
			opts := sensitivity.Options{Seed: [32]byte{3}, Failure: 1e-9}
			want := must[[]sensitivity.Bracket](t)(sensitivity.PerSensor(background, m, opts))
			joint := must[sensitivity.Bracket](t)(sensitivity.Bound(background, m, nil, opts))
			half := 0
			for s, b := range must[[]sensitivity.Bracket](t)(sensitivity.BoundWithoutRows(background, m, opts)) {
				if !(b.Upper >= want[s].Lower) || b.Upper > joint.Upper || b.Failure > opts.Failure {
					t.Errorf("%s %v sensor %d: %+v, exact %v, joint %v", name, kind, s, b, want[s].Lower, joint.Upper)
				}
				if b.Upper < joint.Upper/2 {
					half++
				}
			}
			if name == "sbm" && kind == laplacian.Combinatorial && half < g.Order()/10 {
				t.Errorf("%d of %d sensors below half of the joint bound", half, g.Order())
			}
		}
	}
}

// TestSpreadsHaveColumnsOfTheirOwn: the polynomial whose nodes are projected was chosen
// by the screen, so that its columns must be independent of the screen's: 16·300
// products of independent normals have a mean within six standard errors of 0.
func TestSpreadsHaveColumnsOfTheirOwn(t *testing.T) {
	g := must[*graph.Graph](t)(graph.BarabasiAlbert(300, 3, 1))
	m := sensitivity.Model{Graph: g, Laplacian: laplacian.New(g, laplacian.Combinatorial), Tau: 0.2}
	spreads, screen, err := sensitivity.NodeScreenColumns(m, sensitivity.Bracket{Upper: 0.5}, sensitivity.Options{Seed: [32]byte{7}})
	if err != nil {
		t.Fatal(err)
	}
	var sum float64
	for i, v := range spreads {
		sum += v * screen[i]
	}
	if r := sum / math.Sqrt(float64(len(spreads))); math.Abs(r) > 6 {
		t.Errorf("the columns of %d entries have a product of %v standard errors, want independent ones", len(spreads), r)
	}
}

func ExampleBound() {
	g, _ := graph.Star(6)
	b, err := sensitivity.Bound(context.Background(), sensitivity.Model{
		Graph: g, Laplacian: laplacian.New(g, laplacian.Combinatorial), Tau: 1,
	}, nil, sensitivity.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("Δ₂ ≤ %.6f, by the edge %v\n", b.Upper, b.Edge)
	// Output: Δ₂ ≤ 0.329053, by the edge [0 1]
}

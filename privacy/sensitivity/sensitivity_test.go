// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
)

var background = context.Background()

func model(g *graph.Graph, tau float64) Model {
	return Model{Graph: g, Laplacian: laplacian.New(g, laplacian.Combinatorial), Tau: tau}
}

// TestClosedForms: Δ₂ of complete graphs, stars and hypercubes, by both ways.
func TestClosedForms(t *testing.T) {
	for _, tau := range []float64{0.05, 0.5, 1} {
		for _, c := range []struct {
			name   string
			g      *graph.Graph
			square float64
		}{
			{"complete", must.Get(graph.Complete(12))(t), 2 * math.Exp(-2*tau*12)},
			{"star", must.Get(graph.Star(20))(t), 20.0/19*math.Exp(-2*tau*20) + 18.0/19*math.Exp(-2*tau)},
			{"hypercube", must.Get(graph.Hypercube(5))(t), 2 * math.Exp(-4*tau) * math.Pow((1+math.Exp(-4*tau))/2, 4)},
		} {
			want := math.Sqrt(c.square)
			b := must.Get(Bound(background, model(c.g, tau), nil, Options{}))(t)
			if !near(b, want, 1e-11) {
				t.Errorf("%s τ=%v: [%v, %v], want %v", c.name, tau, b.Lower, b.Upper, want)
			}
			b = must.Get(searchBound(background, model(c.g, tau), nil, Options{Seed: [32]byte{1}}))(t)
			if b.Lower > want || !(b.Upper >= want) || b.Upper > 1.021*want && b.Upper > 1e-8 {
				t.Errorf("%s τ=%v by search: [%v, %v], want %v", c.name, tau, b.Lower, b.Upper, want)
			}
		}
	}
}

func TestDegenerate(t *testing.T) {
	for _, n := range []int{1, 5} {
		g := build(t, n, nil, hops)
		b := must.Get(Bound(background, model(g, 1), nil, Options{}))(t)
		if b.Lower != 0 || b.Upper != 0 || b.Edge != [2]int{-1, -1} {
			t.Errorf("%d nodes without edges: %+v, want Δ₂ = 0", n, b)
		}
		if per := must.Get(PerSensor(background, model(g, 1), Options{}))(t); len(per) != n ||
			per[0].Upper != 0 {
			t.Errorf("%d nodes without edges: per sensor %+v", n, per)
		}
	}
	// An isolated sensor sees nothing; a far component has Δ₂ of its own.
	g := build(t, 5, [][3]float64{{0, 1, 1}, {2, 3, 1}}, hops)
	m := model(g, 1)
	m.Sensors = []int{4}
	if b := must.Get(Bound(background, m, nil, Options{}))(t); b.Upper > 1e-13 {
		t.Errorf("isolated sensor: %+v, want about 0", b)
	}
	m.Sensors = nil
	if b := must.Get(Bound(background, m, nil, Options{}))(t); !near(b,
		math.Sqrt2*math.Exp(-2), 1e-12) {
		t.Errorf("two pairs: %+v, want √2·e⁻²", b)
	}
}

func TestRefusals(t *testing.T) {
	g := build(t, 3, [][3]float64{{0, 1, 1}, {1, 2, 1}}, hops)
	good := model(g, 1)
	for name, change := range map[string]func(m *Model, u *[]float64, o *Options){
		"no graph":      func(m *Model, _ *[]float64, _ *Options) { m.Graph = nil },
		"tau 0":         func(m *Model, _ *[]float64, _ *Options) { m.Tau = 0 },
		"tau NaN":       func(m *Model, _ *[]float64, _ *Options) { m.Tau = math.NaN() },
		"alpha < 0":     func(m *Model, _ *[]float64, _ *Options) { m.Alpha = -1 },
		"alpha Inf":     func(m *Model, _ *[]float64, _ *Options) { m.Alpha = math.Inf(1) },
		"no sensors":    func(m *Model, _ *[]float64, _ *Options) { m.Sensors = []int{} },
		"sensor twice":  func(m *Model, _ *[]float64, _ *Options) { m.Sensors = []int{1, 1} },
		"sensor -1":     func(m *Model, _ *[]float64, _ *Options) { m.Sensors = []int{-1} },
		"weights short": func(_ *Model, u *[]float64, _ *Options) { *u = []float64{1} },
		"weight NaN":    func(_ *Model, u *[]float64, _ *Options) { *u = []float64{1, math.NaN(), 1} },
		"weight < 0":    func(_ *Model, u *[]float64, _ *Options) { *u = []float64{1, -1, 1} },
		"failure 1":     func(_ *Model, _ *[]float64, o *Options) { o.Failure = 1 },
		"tolerance NaN": func(_ *Model, _ *[]float64, o *Options) { o.Tolerance = math.NaN() },
		"another graph": func(m *Model, _ *[]float64, _ *Options) { m.Graph = build(t, 2, nil, hops) },
		"weights overflow": func(m *Model, _ *[]float64, _ *Options) {
			*m = model(build(t, 3, [][3]float64{{0, 1, 1.5e308}, {1, 2, 1.5e308}}, hops), 1)
		},
	} {
		m, u, o := good, []float64(nil), Options{}
		change(&m, &u, &o)
		if b, err := Bound(background, m, u, o); err == nil {
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
				per := must.Get(PerSensor(background, model(g, tau), Options{}))(t)
				if v := per[0].Upper; !(v >= want/math.Sqrt2) || !(v <= 1.5) {
					t.Errorf("sensor w=%g, %g τ=%g: Upper = %v, want ≥ %v", w, other, tau, v, want/math.Sqrt2)
				}
				for name, bound := range ways {
					b, err := bound(background, model(g, tau), nil, Options{Seed: [32]byte{1}})
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

// TestSameBits: the search gives the same bracket at any number of workers.
func TestSameBits(t *testing.T) {
	for name, g := range map[string]*graph.Graph{
		"ba":   must.Get(graph.BarabasiAlbert(2000, 5, 1))(t),
		"grid": must.Get(graph.Grid(40, 50))(t),
	} {
		var first Bracket
		withWorkers(t, func(workers int) {
			b := must.Get(Bound(background, model(g, 0.5), nil, Options{Seed: [32]byte{7}}))(t)
			if first == (Bracket{}) {
				first = b
			}
			if b != first {
				t.Errorf("%s: %+v with %d workers, %+v with 1", name, b, workers, first)
			}
		})
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(background)
	cancel()
	g := must.Get(graph.BarabasiAlbert(3000, 5, 1))(t)
	if _, err := Bound(ctx, model(g, 1), nil, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Bound: %v, want context.Canceled", err)
	}
	if _, err := PerSensor(ctx, model(g, 1), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("PerSensor: %v, want context.Canceled", err)
	}
}

// TestNoSeed: without a seed nothing is left to chance.
func TestNoSeed(t *testing.T) {
	g := must.Get(graph.BarabasiAlbert(900, 2, 1))(t)
	b := must.Get(Bound(background, model(g, 1), nil, Options{}))(t)
	if b.Failure != 0 || b.Upper > 1.021*b.Lower {
		t.Errorf("without a seed: %+v, want Failure 0 and a closed bracket", b)
	}
	s := must.Get(Bound(background, model(g, 1), nil,
		Options{Seed: [32]byte{1}, Failure: 1e-15}))(t)
	if s.Failure > 1e-15 || s.Upper < b.Lower {
		t.Errorf("with a seed: %+v, want Failure ≤ 1e-15 and Upper ≥ %v", s, b.Lower)
	}
}

// TestPerSensorByRows: a Chebyshev row at a time agrees with the eigenpairs.
func TestPerSensorByRows(t *testing.T) {
	g := must.Get(graph.BarabasiAlbert(720, 3, 1))(t)
	m := Model{Graph: g, Laplacian: laplacian.New(g, laplacian.RandomWalk), Tau: 0.5, Sensors: []int{3, 700, 41}}
	rows := must.Get(PerSensor(background, m, Options{}))(t)
	// A row may be off by Err·‖b‖₂ either way, so no bracket is narrower than twice that.
	least := 2 * math.Sqrt2 * must.Get(expm.New(background, m.Laplacian, 0.5, expm.Options{Method: expm.Chebyshev}))(t).Err()
	m.Diffusion = must.Get(expm.New(background, m.Laplacian, 0.5, expm.Options{Method: expm.Eigen}))(t)
	for k, want := range must.Get(PerSensor(background, m, Options{}))(t) {
		got := rows[k]
		if got.Upper < want.Lower || got.Lower > want.Upper || got.Upper-got.Lower > 1e-9 || got.Upper-got.Lower < least*(1-1e-6) {
			t.Errorf("sensor %d: [%v, %v] by rows, [%v, %v] by eigenpairs", m.Sensors[k], got.Lower, got.Upper, want.Lower, want.Upper)
		}
	}
}

func ExampleBound() {
	g, _ := graph.Star(6)
	b, err := Bound(context.Background(), Model{
		Graph: g, Laplacian: laplacian.New(g, laplacian.Combinatorial), Tau: 1,
	}, nil, Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("Δ₂ ≤ %.6f, by the edge %v\n", b.Upper, b.Edge)
	// Output: Δ₂ ≤ 0.329053, by the edge [0 1]
}

// Confirm takes what Bound gives, on graphs small and large, with a screen and without, weighted
// and not, and refuses the same bracket scaled down.
func TestConfirm(t *testing.T) {
	graphs := families(t, 100)
	for name, g := range families(t, 720) {
		if name != "complete" {
			graphs["large "+name] = g
		}
	}
	for name, g := range graphs {
		m := Model{Graph: g, Laplacian: laplacian.New(g, laplacian.Combinatorial), Tau: 2, Alpha: 1}
		ramp := make([]float64, g.Order())
		for i := range ramp {
			ramp[i] = 1 + float64(i%9)
		}
		for seed, u := range map[[32]byte][]float64{{}: nil, {1}: ramp} {
			b := must.Get(Bound(background, m, u, Options{Seed: seed, Tolerance: 0.05}))(t)
			b.Upper *= 1 + 0x1p-30
			got := must.Get(Confirm(background, m, u, b, Options{Seed: [32]byte{9}}))(t)
			if got.Upper > b.Upper || got.Failure > b.Failure {
				t.Errorf("%s: %+v does not confirm %+v", name, got, b)
			}
			for _, factor := range []float64{1 - 1e-6, .9, 1. / 16} {
				small := Bracket{Lower: b.Lower / 32, Upper: b.Lower * factor, Failure: b.Failure}
				if got := must.Get(Confirm(background, m, u, small, Options{Seed: [32]byte{9}}))(t); got.Upper <= small.Upper {
					t.Errorf("%s: %+v confirms %+v", name, got, small)
				}
			}
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"errors"
	"math"
	"testing"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

// Weights for several operators are private under each, and tell nodes apart
// better than those for one, made private by more noise everywhere.
func TestWorlds(t *testing.T) {
	better := 0
	for _, f := range fixtures(t) {
		l := laplacian.New(f.g, laplacian.Combinatorial)
		m := sensitivity.Model{Graph: f.g, Laplacian: l, Tau: 2}
		var made []*expm.Diffusion
		for _, tau := range []float64{2, 1.2, .7} {
			d := must.Get(expm.New(t.Context(), l, tau, expm.Options{Method: expm.Eigen}))(t)
			made = append(made, d)
		}
		opts := Options{}
		value := func(p *problem, r *Result) (sum float64) { // location is linear in u
			for k, w := range p.location() {
				sum += w * r.Weights[p.index[k]]
			}
			return sum
		}
		allocate := func() (*Result, float64) {
			p, sensors := unread(t, m, made[0], f.labels, Location, opts)
			r, err := p.optimize(made[0], sensors)
			if err != nil {
				t.Fatal(f.name, err)
			}
			return r, value(p, r)
		}
		if f.complete() {
			continue // no two nodes are two hops apart
		}
		one, before := allocate()
		opts.Worlds = []Diffusion{made[1], made[2]}
		all, after := allocate()
		most := func(u []float64) float64 {
			w := 0.0
			for _, tau := range []float64{2, 1.2, .7} {
				at := m
				at.Tau = tau
				b := must.Get(sensitivity.Bound(t.Context(), at, u, sensitivity.Options{}))(t)
				w = max(w, b.Upper)
			}
			return w
		}
		if w := most(all.Weights); math.Abs(w-1) > 1e-6 {
			t.Errorf("%s: the worst of three operators has %v, want 1", f.name, w)
		}
		w := most(one.Weights)
		scaled := before / (w * w)
		if after < scaled*(1-.002) {
			t.Errorf("%s: location %v, less than %v of the scaled weights for one operator", f.name, after, scaled)
		}
		if after > 1.05*scaled {
			better++
		}
	}
	if better == 0 {
		t.Error("the further operators never changed the allocation for the better")
	}
}

func TestWorldsRefused(t *testing.T) {
	f := fixtures(t)[0]
	other := must.Get(graph.Cycle(5))(t)
	diffusion := func(g *graph.Graph) *expm.Diffusion {
		return must.Get(expm.New(t.Context(), laplacian.New(g, laplacian.Combinatorial), 1, expm.Options{}))(t)
	}
	m := sensitivity.Model{Graph: f.g, Laplacian: laplacian.New(f.g, laplacian.Combinatorial), Tau: 1}
	_, err := Optimize(t.Context(), m, diffusion(f.g), f.labels,
		Options{Worlds: []Diffusion{diffusion(other)}})
	if !errors.Is(err, ErrInvalid) {
		t.Errorf("an operator of another graph: %v, want ErrInvalid", err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
)

// ways are the eigenpairs and the search.
var ways = map[string]func(context.Context, Model, []float64, Options) (Bracket, error){
	"exact": Bound, "search": searchBound,
}

// TestGap: with all eigenpairs the upper end is never looser than √2·α·e^{-τλ₂}.
func TestGap(t *testing.T) {
	for name, g := range families(t, 80) {
		if name == "weighted" { // λ₂ is not known to nine digits
			continue
		}
		scale := 3.0
		if !g.UnitLengths() {
			scale = 3 / slices.Min(g.Lengths())
		}
		l := laplacian.New(g, laplacian.Combinatorial)
		spec := must.Get(expm.Decompose(background, l, nil))(t)
		for _, tau := range []float64{1e-3, 1, 30, 1e3} {
			b := must.Get(Bound(background, Model{Graph: g, Laplacian: l, Tau: tau, Alpha: 3},
				nil, Options{}))(t)
			limit := scale * math.Sqrt2 * math.Exp(-tau*spec.Lambda()[spec.Nullity()])
			if b.Upper > limit*(1+1e-9)+1e-289 {
				t.Errorf("%s τ=%v: Upper = %v, √2αe^{-τλ₂} = %v", name, tau, b.Upper, limit)
			}
		}
	}
}

// TestWildWeights: weights from 10⁻³⁰⁰ to 10³⁰⁰ in one graph leave both ends finite and
// in agreement with the eigenpairs, or are refused: the random walk divides by the
// roots of degrees, whose squares may overflow.
func TestWildWeights(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, decades := range []float64{5, 20, 150, 300} {
		var edges [][3]float64
		for i := 1; i < 60; i++ {
			for range 2 {
				edges = append(edges, [3]float64{float64(r.IntN(i)), float64(i), math.Pow(10, decades*(2*r.Float64()-1))})
			}
		}
		g := build(t, 60, edges, hops)
		for kind := laplacian.Combinatorial; kind <= laplacian.RandomWalk; kind++ {
			for _, tau := range []float64{1e-9, 1e-3, 1, 1e6} {
				m := Model{Graph: g, Laplacian: laplacian.New(g, kind), Tau: tau}
				opts := Options{Seed: [32]byte{2}}
				want, err := Bound(background, m, nil, opts)
				if err != nil && kind == laplacian.RandomWalk && decades > 200 {
					continue
				}
				want = must.Get(want, err)(t)
				got := must.Get(searchBound(background, m, nil, opts))(t)
				if !(got.Upper >= want.Lower) || !(got.Lower <= want.Upper) || math.IsInf(got.Upper, 0) || math.IsInf(want.Upper, 0) {
					t.Errorf("10^±%v %v τ=%v: search [%v, %v], eigenpairs [%v, %v]", decades, kind, tau, got.Lower, got.Upper,
						want.Lower, want.Upper)
				}
			}
		}
	}
}

// TestWeakBridge: two complete graphs of ten nodes joined by an edge of 10⁻¹². Once
// each is mixed and the bridge has carried nothing, its value is √(2/10)·e^{-0.2τw}.
func TestWeakBridge(t *testing.T) {
	const m, w = 10, 1e-12
	var edges [][3]float64
	for i := range m {
		for j := range i {
			edges = append(edges, [3]float64{float64(j), float64(i), 1}, [3]float64{float64(m + j), float64(m + i), 1})
		}
	}
	g := build(t, 2*m, append(edges, [3]float64{m - 1, m, w}), hops)
	for _, tau := range []float64{1e-9, 10, 1e3, 1e6} {
		want := math.Sqrt(2.0 / m * math.Exp(-4*tau*w/m))
		if tau < 1 {
			want = math.Sqrt2 * math.Exp(-2*tau*w) * math.Exp(-tau*m) // each end leaves at rate m − 1, below m
		}
		for name, way := range ways {
			b := must.Get(way(background, model(g, tau), nil, Options{Seed: [32]byte{1}}))(t)
			if !(b.Upper >= want*(1-1e-12)) || b.Lower > want*(1+1e-6) || b.Upper > 1.03*want {
				t.Errorf("%s τ=%g: [%v, %v], want about %v", name, tau, b.Lower, b.Upper, want)
			}
		}
	}
}

// TestLargeHub: a star of 10⁵ leaves, by its closed form.
func TestLargeHub(t *testing.T) {
	const n = 100_001
	g := must.Get(graph.Star(n))(t)
	for _, tau := range []float64{1e-8, 1e-5, 1} {
		want := math.Sqrt(float64(n)/(n-1)*math.Exp(-2*tau*n) + float64(n-2)/(n-1)*math.Exp(-2*tau))
		b := must.Get(Bound(background, model(g, tau), nil, Options{}))(t)
		if !(b.Upper >= want) || !(b.Lower <= want) || b.Upper > math.Sqrt2 {
			t.Errorf("τ=%g: [%v, %v], want %v inside", tau, b.Lower, b.Upper, want)
		}
	}
}

// TestTolerances: at each tolerance and seed, every bracket that the search reports or
// returns overlaps the exact one.
func TestTolerances(t *testing.T) {
	for name, g := range families(t, 300) {
		if name == "complete" {
			continue // its value is below rounding
		}
		want := must.Get(Bound(background, model(g, 0.7), nil, Options{}))(t)
		holds := func(b Bracket) {
			if !(b.Upper >= want.Lower) || b.Lower > want.Upper {
				t.Errorf("%s: [%v, %v], exact [%v, %v]", name, b.Lower, b.Upper, want.Lower, want.Upper)
			}
		}
		for _, seed := range [][32]byte{{}, {9}} {
			reports := 0
			opts := Options{Seed: seed, Report: func(b Bracket) { holds(b); reports++ }}
			for _, opts.Tolerance = range []float64{10, 1, .1, .001} {
				holds(must.Get(searchBound(background, model(g, 0.7), nil, opts))(t))
			}
			if reports == 0 {
				t.Errorf("%s: no report", name)
			}
		}
	}
}

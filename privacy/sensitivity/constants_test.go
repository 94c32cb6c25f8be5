// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testgraph"
	"github.com/graphcloak/graphcloak/laplacian"
)

// closeAbove reports whether a bound holds, and is at most a share slack too large.
func closeAbove(t *testing.T, what string, bound, truth, slack float64) {
	t.Helper()
	if !(bound >= truth) || bound > truth*(1+slack) {
		t.Errorf("%s: %v bounds %v", what, bound, truth)
	}
}

// spectrumOf returns the eigenvalues of L and its eigenvectors as columns, by gonum.
func spectrumOf(t *testing.T, l *laplacian.Laplacian) ([]float64, *mat.Dense) {
	t.Helper()
	var e mat.EigenSym
	if !e.Factorize(testgraph.Symmetric(l.CSR()), true) {
		t.Fatal("no eigenpairs")
	}
	v := new(mat.Dense)
	e.VectorsTo(v)
	return e.Values(nil), v
}

// TestConstants holds every step of docs/proofs/uncertainty.md against a computation of its own: none
// is too small, and none much too large.
func TestConstants(t *testing.T) {
	const at0 = 1.5
	g := build(t, 6, [][3]float64{{0, 1, 1}, {1, 2, .5}, {2, 3, 2}, {3, 4, 1}, {4, 5, .7}, {0, 3, .4}}, hops)
	l := laplacian.New(g, laplacian.Combinatorial)
	m := Model{Graph: g, Laplacian: l, Sensors: []int{0, 4}}
	u := []float64{4, 1}
	lambda, v := spectrumOf(t, l)
	edges := slices.Collect(g.Edges())

	// Second and fourth derivatives.
	f := must.Get(newFamily(background, m, u, Uncertainty{Tau: tau.Range{From: at0, To: 2}}))(t)
	high := f.top
	closeAbove(t, "eigenvalues", high, lambda[5], .1)
	at := f.evaluateAt(at0)
	for k, got := range map[float64]float64{2: at.two, 4: at.four} {
		most := 0.0
		for j := range 100001 {
			s := high * float64(j) / 100000
			most = max(most, math.Pow(s, k)*math.Exp(-at0*s))
		}
		closeAbove(t, "a derivative anywhere", got, 2*math.Sqrt2*most, 1e-6)
	}
	for i, e := range edges {
		sum := 0.0
		for k, s := range m.Sensors {
			d := 0.0
			for j, a := range lambda {
				d += a * a * math.Exp(-at0*a) * v.At(s, j) * (v.At(e.U, j) - v.At(e.V, j))
			}
			sum += u[k] * d * d
		}
		closeAbove(t, "a derivative at the sensors", at.curvature[i], math.Sqrt(sum)*(1-1e-12), 1e-9)
	}

	// Between values of τ: h²/8 = .02 for h = .4.
	for _, c := range []struct {
		upper, curvature [2]float64
		two, four, want  float64
	}{
		{[2]float64{1, 2}, [2]float64{3, 5}, 100, 50, 2 + .02*(5+.02*50)},
		{[2]float64{3, 2}, [2]float64{5, 3}, 100, 50, 3 + .02*(5+.02*50)},
		{[2]float64{1, 2}, [2]float64{3, 5}, 4, 50, 2 + .02*4},
	} {
		closeAbove(t, "between", boundWithin(1, 1.4, c.upper, c.curvature, c.two, c.four), c.want*(1-1e-15), 1e-12)
	}
	closeAbove(t, "a cell of ratio 1.1", newTauGrid(1, 1.1).bend(1e6), .1*.1/8*4*math.Exp(-2), 1e-9)
	closeAbove(t, "two cells", newTauGrid(1, 1.21).bend(1e6), .11*.11/8*4*math.Exp(-2)/1.21, 1e-9)
	closeAbove(t, "a cell below every eigenvalue", newTauGrid(1, 1.1).bend(.5), .1*.1/8*.25*math.Exp(-.5), 1e-9)
}

// TestEveryListedGraphCounts: the upper end is the largest of all listed graphs, also where another attains the lower one,
// over a range of τ too.
func TestEveryListedGraphCounts(t *testing.T) {
	edges := [][3]float64{{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 4, 1}, {4, 0, 1}, {4, 5, 1}}
	g := build(t, 6, edges, hops)
	m := model(g, 1)
	var list []*graph.Graph
	for k := range edges {
		list = append(list, build(t, 6, slices.Concat(edges[:k], edges[k+1:]), hops))
	}
	of := func(g *graph.Graph) *laplacian.Laplacian { return laplacian.New(g, laplacian.Combinatorial) }
	everywhere, ones := []int{0, 1, 2, 3, 4, 5}, []float64{1, 1, 1, 1, 1, 1}
	for name, set := range map[string]Uncertainty{
		"alone": {}, "τ": {Tau: tau.Range{From: 1, To: 1.3}},
	} {
		for first := range list {
			order := slices.Concat(list[first:], list[:first])
			set.Alternatives = nil
			for _, other := range order {
				set.Alternatives = append(set.Alternatives, of(other))
			}
			all := must.Get(WorstCase(background, m, nil, set, Options{}))(t)
			for k, other := range order {
				one := set
				one.Alternatives = set.Alternatives[k : k+1]
				alone := must.Get(WorstCase(background, m, nil, one, Options{}))(t)
				truth := worst(g, of(other), 1, everywhere, ones) * (1 - 1e-12)
				if all.Upper < alone.Upper || all.Upper < truth || all.Lower < alone.Lower*(1-1e-8) {
					t.Errorf("%s, graph %d of the list from %d: [%v, %v] of all, [%v, %v] of it alone, and %v is attained",
						name, k, first, all.Lower, all.Upper, alone.Lower, alone.Upper, truth)
				}
			}
		}
	}
}

// TestPeakOnListedGraph: on a listed graph, too, the largest Δ₂ may lie inside of the interval of τ.
func TestPeakOnListedGraph(t *testing.T) {
	g, far := bottleneck(t), []int{0, 7}
	slow := laplacian.New(reweighed(t, g, func(w float64) float64 { return w / 2 }), laplacian.Combinatorial)
	m := Model{Graph: g, Laplacian: laplacian.New(g, laplacian.Combinatorial), Tau: 4, Sensors: far}
	set := Uncertainty{Tau: tau.Range{From: 4, To: 16}, Alternatives: []*laplacian.Laplacian{slow}}
	peak := worst(g, slow, 5.44, far, []float64{1, 1})
	e := must.Get(WorstCase(background, m, nil, set, Options{}))(t)
	if e.Alternative != 0 || !(e.Upper >= peak) || e.Lower < .99*peak || math.Abs(e.Tau-5.44) > .5 {
		t.Errorf("%+v, want %v at τ = 5.44 of the listed graph", e, peak)
	}
}

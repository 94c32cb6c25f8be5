// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/graph"
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
	if !e.Factorize(l.Dense(), true) {
		t.Fatal("no eigenpairs")
	}
	v := new(mat.Dense)
	e.VectorsTo(v)
	return e.Values(nil), v
}

// TestConstants holds every step of docs/proofs/uncertainty.md against a computation of its own: none
// is too small, and none much too large.
func TestConstants(t *testing.T) {
	const x, tau = 0.3, 1.5
	g := build(t, 6, [][3]float64{{0, 1, 1}, {1, 2, .5}, {2, 3, 2}, {3, 4, 1}, {4, 5, .7}, {0, 3, .4}}, hops)
	l := laplacian.New(g, laplacian.Combinatorial)
	m := Model{Graph: g, Laplacian: l, Sensors: []int{0, 4}}
	u := []float64{4, 1}
	lambda, v := spectrumOf(t, l)
	f := must[*operatorFamily](t)(newFamily(background, m, u,
		Uncertainty{TauFrom: tau, TauTo: 2, WeightError: x}))
	low, high := f.gap(), f.top
	if !(low <= (1-x)*lambda[1]) || low < (1-x)*lambda[1]*(1-1e-9) {
		t.Errorf("eigenvalues from %v, want %v", low, (1-x)*lambda[1])
	}
	closeAbove(t, "eigenvalues", high, (1+x)*lambda[5], .1)

	// φ and its integral.
	phi := func(r float64) (most float64) {
		for k := range 1001 {
			s := low * math.Pow(high/low, float64(k)/1000)
			most = max(most, math.Sqrt(s)*math.Exp(-r*s))
		}
		return most
	}
	integral := func(a, b float64) (sum float64) {
		const steps = 100
		for k := range steps {
			sum += phi(a+(b-a)*(float64(k)+.5)/steps) * (b - a) / steps
		}
		return sum
	}
	for _, c := range [][2]float64{{.3, .31}, {.3, .9}, {3, 3.05}, {0, .001}} {
		closeAbove(t, "φ", f.smoothing(c[0], c[1]), integral(c[0], c[1])*(1-1e-5), .02)
	}

	// Weights.
	drift := f.perturbation(tau)
	edges := slices.Collect(g.Edges())
	rest, mass := make([]float64, 1000), make([]float64, 1000) // values of τ − s, closer together where φ is steep, and ∫φ at each
	for k := range rest {
		share := (float64(k) + .5) / 1000
		rest[k] = tau * share * share
		mass[k] = phi(rest[k]) * 2 * tau * share / 1000
	}
	for i, e := range edges {
		sum := 0.0
		for k, r := range rest {
			square := 0.0
			for j, s := range lambda {
				d := v.At(e.U, j) - v.At(e.V, j)
				square += s * math.Exp(-2*(tau-r)*s) * d * d
			}
			sum += mass[k] * math.Sqrt(square)
		}
		closeAbove(t, "weights", drift[i], 2*x/math.Sqrt(1-x)*sum*(1-1e-4), .02)
	}

	// Second and fourth derivatives.
	f = must[*operatorFamily](t)(newFamily(background, m, u, Uncertainty{TauFrom: tau, TauTo: 2}))
	high = f.top
	at := f.evaluateAt(tau)
	for k, got := range map[float64]float64{2: at.two, 4: at.four} {
		most := 0.0
		for j := range 100001 {
			s := high * float64(j) / 100000
			most = max(most, math.Pow(s, k)*math.Exp(-tau*s))
		}
		closeAbove(t, "a derivative anywhere", got, 2*math.Sqrt2*most, 1e-6)
	}
	for i, e := range edges {
		sum := 0.0
		for k, s := range m.Sensors {
			d := 0.0
			for j, a := range lambda {
				d += a * a * math.Exp(-tau*a) * v.At(s, j) * (v.At(e.U, j) - v.At(e.V, j))
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
	closeAbove(t, "a cell of ratio 1.1", newTauGrid(1, 1.1, sparseRatio).bend(1e6), .1*.1/8*4*math.Exp(-2), 1e-9)
	closeAbove(t, "two cells", newTauGrid(1, 1.21, sparseRatio).bend(1e6), .11*.11/8*4*math.Exp(-2)/1.21, 1e-9)
	closeAbove(t, "a cell below every eigenvalue", newTauGrid(1, 1.1, sparseRatio).bend(.5), .1*.1/8*.25*math.Exp(-.5), 1e-9)
}

// TestEveryListedGraphCounts: the upper end is the largest of all listed graphs, also where another attains the lower one,
// with whatever other error they come.
func TestEveryListedGraphCounts(t *testing.T) {
	edges := [][3]float64{{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 4, 1}, {4, 0, 1}, {4, 5, 1}}
	g := build(t, 6, edges, hops)
	m := model(g, 1)
	without := func(k int, factor float64) *graph.Graph {
		rest := slices.Concat(edges[:k], edges[k+1:])
		for i := range rest {
			rest[i][2] *= factor
		}
		return build(t, 6, rest, hops)
	}
	list := []*graph.Graph{without(1, .34)} // with weight errors its upper end is above that of the last, its lower one below
	for k := range edges {
		list = append(list, without(k, 1))
	}
	of := func(g *graph.Graph) *laplacian.Laplacian { return laplacian.New(g, laplacian.Combinatorial) }
	everywhere, ones := []int{0, 1, 2, 3, 4, 5}, []float64{1, 1, 1, 1, 1, 1}
	for name, set := range map[string]Uncertainty{
		"alone": {}, "τ": {TauFrom: 1, TauTo: 1.3}, "weights": {WeightError: .1},
		"τ and weights": {TauFrom: 1, TauTo: 1.3, WeightError: .1},
	} {
		for first := range list {
			order := slices.Concat(list[first:], list[:first])
			set.Alternatives = nil
			for _, other := range order {
				set.Alternatives = append(set.Alternatives, of(other))
			}
			all := must[Envelope](t)(WorstCase(background, m, nil, set, Options{}))
			for k, other := range order {
				one := set
				one.Alternatives = set.Alternatives[k : k+1]
				alone := must[Envelope](t)(WorstCase(background, m, nil, one, Options{}))
				weak := of(reweighed(t, other, func(w float64) float64 { return w * (1 - set.WeightError) }))
				truth := worst(g, weak, 1, everywhere, ones) * (1 - 1e-12)
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
	set := Uncertainty{TauFrom: 4, TauTo: 16, Alternatives: []*laplacian.Laplacian{slow}}
	peak := worst(g, slow, 5.44, far, []float64{1, 1})
	e := must[Envelope](t)(WorstCase(background, m, nil, set, Options{}))
	if e.Alternative != 0 || !(e.Upper >= peak) || e.Lower < .99*peak || math.Abs(e.Tau-5.44) > .5 {
		t.Errorf("%+v, want %v at τ = 5.44 of the listed graph", e, peak)
	}
}

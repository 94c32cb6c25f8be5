// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
)

// families returns one graph of each kind with about n nodes.
func families(t testing.TB, n int) map[string]*graph.Graph {
	sbm, _, err := graph.SBM(n, 4, 40/float64(n), 4/float64(n), 1)
	must.Do(t, err)
	road, _, err := graph.RoadLike(n, 1)
	must.Do(t, err)
	knn, _, err := graph.KNN(n, 6, 1)
	must.Do(t, err)
	return map[string]*graph.Graph{
		"sbm": sbm, "road": road, "knn": knn,
		"ba":       must.Get(graph.BarabasiAlbert(n, 5, 1))(t),
		"rmat":     must.Get(graph.RMAT(n, 5*n, graph.Quadrants{}, 1))(t),
		"star":     must.Get(graph.Star(n))(t),
		"path":     must.Get(graph.Path(n))(t),
		"cycle":    must.Get(graph.Cycle(n))(t),
		"complete": must.Get(graph.Complete(n / 4))(t),
		"weighted": weighted(t, n),
	}
}

// weighted is a random graph with weights over six magnitudes, random lengths, an
// isolated node and two components.
func weighted(t testing.TB, n int) *graph.Graph {
	r := rand.New(rand.NewPCG(7, 1))
	var b graph.Builder
	for i := range n {
		must.Get(b.AddNode(graph.ID(fmt.Sprintf("%06d", i))))(t)
	}
	for range 4 * n {
		u, v := r.IntN(n-1), r.IntN(n-1)
		if (u < n/3) != (v < n/3) {
			continue
		}
		must.Do(t, b.Connect(u, v, math.Exp(4*r.NormFloat64()), math.Exp(r.NormFloat64())))
	}
	return must.Get(b.Graph())(t)
}

// TestSearch holds the bracket of the tiers against the exact value: it must
// contain it, and be as narrow as asked where rounding allows.
func TestSearch(t *testing.T) {
	n := 120
	for name, g := range families(t, n) {
		r := rand.New(rand.NewPCG(3, 3))
		n := g.Order()
		sensors := r.Perm(n)[:n/3]
		u := make([]float64, n)
		for i := range u {
			u[i] = math.Exp(r.NormFloat64())
		}
		for kind := laplacian.Combinatorial; kind <= laplacian.RandomWalk; kind++ {
			l := laplacian.New(g, kind)
			for _, tau := range []float64{1e-9, 0.3, 10} {
				for variant := range 3 {
					if variant > 0 && tau != 0.3 {
						continue
					}
					m := Model{Graph: g, Laplacian: l, Tau: tau, Alpha: 1.5}
					var weights []float64
					switch variant {
					case 1:
						m.Sensors = sensors
					case 2:
						weights = u
					}
					opts := Options{Seed: [32]byte{1}, Tolerance: 0.01}
					want := must.Get(Bound(context.Background(), m, weights, opts))(t)
					got := must.Get(searchBound(context.Background(), m, weights, opts))(t)
					what := fmt.Sprintf("%s %v τ=%v variant %d: search [%v, %v], exact [%v, %v]", name, kind, tau, variant, got.Lower,
						got.Upper, want.Lower, want.Upper)
					if got.Upper < want.Lower || got.Lower > want.Upper {
						t.Error("wrong:", what)
					}
					if got.Upper > want.Upper*1.0101 && got.Upper > 1e-6 {
						t.Error("wide:", what)
					}
				}
			}
		}
	}
}

// TestChiSquareQuantile integrates the density: P(χ²_r ≤ x) must stay below q, and
// x must not be wasteful.
func TestChiSquareQuantile(t *testing.T) {
	for _, r := range []int{16, 64, 512} {
		for _, q := range []float64{1e-3, 1e-12, 1e-20} {
			x := chiSquareQuantile(r, q)
			if p := chiSquare(r, x); p > q || p < q/3 {
				t.Errorf("r=%d: P(χ² ≤ %v) = %g, want in [q/3, q], q = %g", r, x, p, q)
			}
		}
	}
}

// chiSquare integrates the density of χ²_r from 0 to x by Simpson's rule.
func chiSquare(r int, x float64) float64 {
	lg, _ := math.Lgamma(float64(r) / 2)
	density := func(t float64) float64 {
		if t == 0 {
			return 0
		}
		return math.Exp((float64(r)/2-1)*math.Log(t) - t/2 - float64(r)/2*math.Ln2 - lg)
	}
	const steps = 20000
	h := x / steps
	sum := density(0) + density(x)
	for i := 1; i < steps; i++ {
		sum += float64(2+2*(i%2)) * density(float64(i)*h)
	}
	return sum * h / 3
}

// TestKrylov: Lanczos steps bracket the exact value of every edge, within the tolerance where all steps that it takes are done.
func TestKrylov(t *testing.T) {
	const least = 1e-3
	narrow, all := 0, 0
	for name, g := range families(t, 80) {
		u := make([]float64, g.Order())
		for i := range u {
			u[i] = 1 / float64(i+1)
		}
		for kind := laplacian.Combinatorial; kind <= laplacian.RandomWalk; kind++ {
			for _, weights := range [][]float64{nil, u} {
				for _, tau := range []float64{1e-6, .3, 3} {
					m := Model{Graph: g, Laplacian: laplacian.New(g, kind), Tau: tau}
					must.Do(t, krylovAll(background, m, weights, least, 1e-4, func(low, up, exactLow, exactUp float64) {
						if low > exactUp || up < exactLow {
							t.Errorf("%s %v τ=%v, weights %v: [%v, %v], exact [%v, %v]", name, kind, tau, weights != nil, low, up,
								exactLow, exactUp)
						}
						if all++; up <= max(least, exactUp*(1+1e-4)) {
							narrow++
						}
					}))
				}
			}
		}
	}
	if narrow < all*9/10 {
		t.Errorf("%d of %d brackets are narrow", narrow, all)
	}
}

// TestAlikeEdges: a random screen tells the relationships of a road network without weights hardly apart, and would leave
// them all to products. Lanczos steps bracket them.
func TestAlikeEdges(t *testing.T) {
	roads, _, err := graph.RoadLike(50_000, 1)
	must.Do(t, err)
	var b graph.Builder
	for e := range roads.Edges() {
		must.Do(t, b.AddEdge(roads.ID(e.U), roads.ID(e.V), 1))
	}
	g := must.Get(b.Graph())(t)
	m := Model{Graph: g, Laplacian: laplacian.New(g, laplacian.Combinatorial), Tau: 1}
	const tol = .05
	calls := map[string]int{}
	bracket := must.Get(Bound(background, m, nil, Options{
		Tolerance: tol, Seed: [32]byte{1}, Progress: func(stage string, _, _ int64) { calls[stage]++ },
	}))(t)
	if bracket.Upper > bracket.Lower*(1+tol)*(1+1e-9) || calls["screen"] > 12 {
		t.Errorf("[%v, %v] after %v", bracket.Lower, bracket.Upper, calls)
	}
}

// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"math"
	"math/big"
	"testing"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
)

// TestScreenFailsAsRarelyAsItSays: with q = 0.1 a bound, the mean share of bounds
// that fail is at most 0.1, without and with vectors near the edges. A share of mean 0.1 has
// variance at most 0.09, so over 500 independent seeds the average exceeds 0.1 + 0.082 with probability at most
// exp(−500·0.082²/2(0.09 + 0.082/3)) < 1e-6 (Bernstein), and one far below 0.1 would
// show that the bound is wasteful.
func TestScreenFailsAsRarelyAsItSays(t *testing.T) {
	g, _, err := graph.SBM(60, 3, 0.3, 0.03, 1)
	g = must.Get(g, err)(t)
	l := laplacian.New(g, laplacian.Combinatorial)
	m := Model{Graph: g, Laplacian: l, Tau: 0.2}
	m.Diffusion = must.Get(expm.New(background, l, 0.2, expm.Options{Method: expm.Eigen}))(t)
	u := make([]float64, 60)
	for i := range u {
		u[i] = 1 / float64(i+1)
	}
	for _, c := range []struct {
		mode    string
		weights []float64
		least   float64
	}{
		{"edges", nil, 0.01},
		{"edges", u, 0.01},
		{"near", nil, 0.01},
		{"near", u, 0.01},
	} {
		var mean float64
		const seeds = 500
		for k := range seeds {
			mean += must.Get(violations(background, m, c.weights, [32]byte{1, byte(k), byte(k >> 8)},
				c.mode, 0.1))(t) / seeds
		}
		if mean > 0.182 || mean < c.least {
			t.Errorf("%s, weights %v: a bound fails in %v, want ≤ 0.1 and not far below", c.mode, c.weights != nil, mean)
		}
	}
}

// TestNearSums: what is projected of Wb − a is summed over all random columns, whatever was computed between, or not used.
func TestNearSums(t *testing.T) {
	g := must.Get(graph.BarabasiAlbert(600, 4, 1))(t)
	m := model(g, .3)
	made, err := nearSums(background, m, nil, false, func(sum, again float64) {
		if math.Abs(sum-again) > 1e-9*again || again < 1e-6 {
			t.Errorf("sum %v, from all columns again %v", sum, again)
		}
	})
	must.Do(t, err)
	forgotten, err := nearSums(background, m, nil, true, func(float64, float64) {})
	must.Do(t, err)
	if !made || forgotten {
		t.Errorf("made: %v, where a block is missing %v", made, forgotten)
	}
}

// TestMoments: the O(1) bounds of every edge contain its exact value.
func TestMoments(t *testing.T) {
	for name, g := range families(t, 80) {
		for kind := laplacian.Combinatorial; kind <= laplacian.RandomWalk; kind++ {
			for _, tau := range []float64{1e-9, 0.01, 0.3, 0.5, 0.7, 1, 1.5, 10} {
				m := Model{Graph: g, Laplacian: laplacian.New(g, kind), Tau: tau}
				err := eachMoment(background, m, func(low, up, exactLow, exactUp float64) {
					if low > exactUp || up < exactLow {
						t.Errorf("%s %v τ=%v: [%v, %v], exact [%v, %v]", name, kind, tau, low, up, exactLow, exactUp)
					}
				})
				must.Do(t, err)
			}
		}
	}
}

// TestLeaf: at τ = 1/w the bound of a leaf is the limit e^{-2} of a large hub; a star
// of n leaves reaches n/(n+1)… of it, see TestClosedForms.
func TestLeaf(t *testing.T) {
	const n = 1000
	g := must.Get(graph.Star(n))(t)
	for _, tau := range []float64{0.5, 0.75, 1} {
		exact := float64(n)/(n-1)*math.Exp(-2*tau*n) + float64(n-2)/(n-1)*math.Exp(-2*tau)
		up := must.Get(momentsOf(model(g, tau), 0, 1, 1))(t)
		if up < exact || up > 1.003*exact {
			t.Errorf("τ=%v: leaf of a star of %d: %v, exact %v", tau, n, up, exact)
		}
	}
}

// TestConductance holds the detours against the effective resistance bᵀL⁺b from all
// eigenpairs. Complete graphs and cycles meet it.
func TestConductance(t *testing.T) {
	for name, g := range families(t, 80) {
		m := model(g, 1)
		spec := must.Get(expm.Decompose(background, m.Laplacian, nil))(t)
		resistance := func(u, v int) (r float64) {
			for k, lambda := range spec.Lambda() {
				if k >= spec.Nullity() {
					d := spec.Vector(k)[u] - spec.Vector(k)[v]
					r += d * d / lambda
				}
			}
			return r
		}
		err := eachConductance(m, func(u, v int, common, detour float64) {
			if r := resistance(u, v); common*r > 1+1e-9 || detour*r > 1+1e-9 {
				t.Errorf("%s edge (%d, %d): conductance ≥ %v, %v claimed, exact %v", name, u, v, common, detour, 1/r)
			} else if name == "complete" && common*r < 1-1e-9 {
				t.Errorf("complete graph: conductance ≥ %v, exact %v", common, 1/r)
			}
		})
		must.Do(t, err)
	}
	ring := must.Get(graph.Cycle(6))(t)
	err := eachConductance(model(ring, 1), func(u, v int, common, detour float64) {
		if common != 1 || math.Abs(detour-1.2) > 1e-12 {
			t.Errorf("cycle of 6: conductance ≥ %v, %v, want 1 and 1 + 1/5", common, detour)
		}
	})
	must.Do(t, err)
}

// TestDetours: on a wheel whose spokes end at every other node of the rim each edge has a detour of three
// edges, at a hub of few neighbours and at one whose neighbours are looked up.
func TestDetours(t *testing.T) {
	for _, spokes := range []int{10, 300} {
		var edges [][3]float64
		for k := range spokes {
			end, middle, next := float64(1+2*k), float64(2+2*k), float64(1+2*((k+1)%spokes))
			edges = append(edges, [3]float64{0, end, 1}, [3]float64{end, middle, 1}, [3]float64{min(middle, next), max(middle, next), 1})
		}
		g := build(t, 1+2*spokes, edges, hops)
		err := eachConductance(model(g, 1), func(u, v int, common, detour float64) {
			if common != 1 || math.Abs(detour-4./3) > 1e-12 {
				t.Errorf("%d spokes, edge (%d, %d): conductance ≥ %v, %v, want 1 and 1 + 1/3", spokes, u, v, common, detour)
			}
		})
		must.Do(t, err)
	}
}

// TestHub: the O(1) bound of an edge at a hub of degree 10⁵ is at least its formula
// in exact arithmetic. The weights are such that a plain sum of their squares loses
// all but the first: it is 5·10⁻¹² too small.
func TestHub(t *testing.T) {
	const leaves, tau = 100_000, 1e-1
	small := math.Ldexp(0.98, -27) // its square is below half a unit of 1
	edges := make([][3]float64, leaves)
	for k := range edges {
		edges[k] = [3]float64{0, float64(k + 1), small}
	}
	edges[0][2] = 1
	m := model(build(t, leaves+1, edges, hops), tau)
	up := must.Get(momentsOf(m, 0, 1, 1))(t)
	exact := func(x float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(x) }
	op := func(f func(z, x, y *big.Float) *big.Float, x, y *big.Float) *big.Float { return f(exact(0), x, y) }
	add, mul, quo := (*big.Float).Add, (*big.Float).Mul, (*big.Float).Quo
	rest := op(mul, exact(leaves-1), exact(small)) // the hub's other weights
	squares := op(mul, rest, exact(small))
	// μ₁ = a_u + a_v + 2w, μ₂ = (a_u + w)² + (a_v + w)² + Σ other w².
	hub := op(add, exact(2), rest)
	mu1 := op(add, exact(4), rest)
	mu2 := op(add, op(add, op(mul, hub, hub), exact(4)), squares)
	ratio, _ := op(quo, mu2, mu1).Float64()
	front, _ := op(quo, op(mul, mu1, mu1), mu2).Float64()
	want := 2 + front*math.Expm1(-2*tau*ratio)
	if up < want || up > want+1e-9 {
		t.Errorf("bound %.17g, formula %.17g", up, want)
	}
}

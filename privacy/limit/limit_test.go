// SPDX-License-Identifier: Apache-2.0

package limit_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/graph/emd"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy/limit"
)

func flat(n int) []float64 {
	p := make([]float64, n)
	for i := range p {
		p[i] = 1 / float64(n)
	}
	return p
}

func normalCDF(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// bound is the limit for a guarantee, made by one of the two constructors.
func bound(t *testing.T, g *graph.Graph, labels []int, prior []float64, alpha float64, h limit.Guarantee, err error) float64 {
	t.Helper()
	must.Do(t, err)
	q := must.Get(limit.New(t.Context(), g, labels, prior, alpha))(t)
	a := must.Get(q.Accuracy(t.Context(), h))(t)
	shares := make([]float64, slices.Max(labels)+1)
	for i, l := range labels {
		shares[l] += prior[i]
	}
	if chance := slices.Max(shares); !(a >= chance && a <= 1) {
		t.Errorf("limit %v, chance is %v", a, chance)
	}
	return a
}

// near checks that a limit is not below what is attained, and close to it.
func near(t *testing.T, what string, got, attained, slack float64) {
	t.Helper()
	if got < attained || got > attained+slack {
		t.Errorf("%s: limit %v, %v is attained", what, got, attained)
	}
}

// Between m nodes that are all neighbours randomised response is the best answer there is.
func TestRandomisedResponse(t *testing.T) {
	for _, m := range []int{2, 3, 10} {
		g := must.Get(graph.Complete(m))(t)
		labels := make([]int, m)
		for i := range labels {
			labels[i] = i
		}
		for _, eps := range []float64{.1, 1, 4} {
			h, err := limit.Approximate(eps, 0)
			near(t, "randomised response", bound(t, g, labels, flat(m), 1, h, err), math.Exp(eps)/(math.Exp(eps)+float64(m-1)), 1e-3)
		}
		if m == 2 {
			h, err := limit.Gaussian(1)
			near(t, "two Gaussians", bound(t, g, labels, flat(m), 1, h, err), normalCDF(.5), 1e-3)
			h, err = limit.Approximate(1, .1) // with probability δ all is told
			near(t, "(1, .1)", bound(t, g, labels, flat(m), 1, h, err), .1+.9/(1+math.Exp(-1)), 1e-3)
			h, err = limit.Gaussian(1) // two steps apart
			near(t, "α = 1/2", bound(t, g, labels, flat(m), .5, h, err), normalCDF(1), 1e-3)
		}
	}
}

// For two communities the best μ-GDP answers are those whose quantiles are μ-Lipschitz.
// They are searched for from below, and the limit is just above.
func TestTwoCommunities(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 9))
	for range 6 {
		const n = 9
		var b graph.Builder
		for i := range n {
			must.Get(b.AddNode(graph.ID(rune('a' + i))))(t)
		}
		for i := 1; i < n; i++ {
			for _, j := range []int{random.IntN(i), random.IntN(i)} {
				must.Do(t, b.Connect(i, j, 1, 1))
			}
		}
		g := must.Get(b.Graph())(t)
		labels, prior, total := make([]int, n), make([]float64, n), 0.0
		for i := range labels {
			labels[i], prior[i] = i%2*random.IntN(2), .1+random.Float64()
			total += prior[i]
		}
		labels[1] = 1
		for i := range prior {
			prior[i] /= total
		}
		for _, mu := range []float64{.1, .5, 1.5} {
			h, err := limit.Gaussian(mu)
			near(t, "two communities", bound(t, g, labels, prior, 1, h, err), bestTwo(g, labels, prior, mu), .006)
		}
	}
}

// bestTwo is the accuracy of the best μ-GDP answer of two values, found by moving the
// quantiles of ever smaller sets of nodes as far as their neighbours let them.
func bestTwo(g *graph.Graph, labels []int, prior []float64, mu float64) float64 {
	n := g.Order()
	d := make([][]float64, n)
	for i := range d {
		d[i] = emd.Lengths(g, i)
	}
	best := 0.0
	random := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		a := make([]float64, n)
		value := func() float64 {
			sum := 0.0
			for i, p := range prior {
				sum += p * normalCDF(float64(1-2*labels[i])*a[i])
			}
			return sum
		}
		shift := (random.Float64() - .5) * 4
		for i := range a {
			a[i] = shift
		}
		now := value()
		for step := mu; step > 1e-3; step *= .8 {
			for range 60 {
				// A Lipschitz bump around a node, one way or the other.
				centre, width, sign := random.IntN(n), float64(random.IntN(4)), float64(1-2*random.IntN(2))
				before := append([]float64(nil), a...)
				for i := range a {
					if d[centre][i] <= width {
						a[i] += sign * step
					}
				}
				for i := range a { // the largest Lipschitz function below
					for j := range a {
						a[i] = min(a[i], a[j]+mu*d[i][j])
					}
				}
				if v := value(); v > now {
					now = v
				} else {
					copy(a, before)
				}
			}
		}
		best = max(best, now)
	}
	return best
}

// The exponential mechanism that scores communities by their distance is (ε, 0)-private,
// so it never exceeds the limit: whatever the graph, the lengths, α and the size.
func TestExponentialMechanism(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for _, n := range []int{12, 40, 120} {
		g := must.Get(graph.Grid(4, n/4))(t)
		lengths := make([][]float64, n)
		for i := range lengths {
			lengths[i] = emd.Lengths(g, i)
		}
		for _, m := range []int{2, 3, 7} {
			labels := make([]int, n)
			for i := range labels {
				labels[i] = i * m / n
				if random.IntN(10) == 0 {
					labels[i] = random.IntN(m)
				}
			}
			for _, alpha := range []float64{.7, 1, 3} {
				for _, eps := range []float64{.05, .3, 1, 3} {
					h, err := limit.Approximate(eps, 0)
					got := bound(t, g, labels, flat(n), alpha, h, err)
					if a := exponential(lengths, labels, m, alpha, eps); got < a {
						t.Errorf("n = %d, m = %d, α = %v, ε = %v: limit %v, a mechanism reaches %v", n, m, alpha, eps, got, a)
					}
				}
			}
		}
	}
}

func exponential(lengths [][]float64, labels []int, m int, alpha, eps float64) float64 {
	right := 0.0
	for i := range lengths {
		score, total := make([]float64, m), 0.0
		for c := range score {
			score[c] = math.Inf(1)
		}
		for j, d := range lengths[i] {
			score[labels[j]] = min(score[labels[j]], d)
		}
		for c := range score {
			score[c] = math.Exp(-eps / 2 * score[c] / alpha)
			total += score[c]
		}
		right += score[labels[i]] / total / float64(len(labels))
	}
	return right
}

// Components are told apart, and a single community is always right.
func TestNoLimit(t *testing.T) {
	var b graph.Builder
	for _, id := range []graph.ID{"a", "b", "c"} {
		must.Get(b.AddNode(id))(t)
	}
	must.Do(t, b.Connect(0, 1, 1, 1))
	g := must.Get(b.Graph())(t)
	h, err := limit.Gaussian(0)
	near(t, "components", bound(t, g, []int{0, 0, 1}, flat(3), 1, h, err), 1, 0)
	near(t, "one community", bound(t, g, []int{0, 0, 0}, flat(3), 1, h, err), 1, 0)
	near(t, "nothing told", bound(t, g, []int{0, 1, 0}, flat(3), 1, h, err), 2./3, 1e-3)
}

// The same bits at any number of workers, and a graph of 10⁴ nodes in little time.
func TestDeterministic(t *testing.T) {
	g := must.Get(graph.Grid(100, 100))(t)
	labels := make([]int, g.Order())
	for i := range labels {
		labels[i] = i/2500*2 + i%100/50
	}
	h, err := limit.Gaussian(.5)
	one := bound(t, g, labels, flat(len(labels)), 1, h, err)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if again := bound(t, g, labels, flat(len(labels)), 1, h, err); again != one {
		t.Errorf("%v, then %v", one, again)
	}
	if one > .999 {
		t.Errorf("limit %v says nothing", one)
	}
}

// Priors from flat to one node that has nearly all, where the weights of a node shrink
// together until they are 0, and a guarantee that guarantees nothing.
func TestExtremes(t *testing.T) {
	for _, n := range []int{12, 40} {
		g := must.Get(graph.Path(n))(t)
		for _, spread := range []float64{0, 1, 3, 10, 100} {
			random := rand.New(rand.NewPCG(9, uint64(spread)))
			labels, prior, total := make([]int, n), make([]float64, n), 0.0
			for i := range labels {
				labels[i], prior[i] = i*2/n, math.Exp(spread*random.NormFloat64())
				total += prior[i]
			}
			for i := range prior {
				prior[i] /= total
			}
			for _, alpha := range []float64{.5, 1, 1.5, 2.3} {
				h, err := limit.Approximate(3, 1e-6)
				bound(t, g, labels, prior, alpha, h, err)
				h, err = limit.Gaussian(3)
				bound(t, g, labels, prior, alpha, h, err)
				h, err = limit.Gaussian(math.MaxFloat64)
				near(t, "no guarantee", bound(t, g, labels, prior, alpha, h, err), 1, 0)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	g := must.Get(graph.Path(3))(t)
	labels := []int{0, 1, 1}
	for name, err := range map[string]error{
		"labels":    second(limit.New(t.Context(), g, labels[:2], flat(3), 1)),
		"negative":  second(limit.New(t.Context(), g, []int{0, -1, 0}, flat(3), 1)),
		"prior":     second(limit.New(t.Context(), g, labels, []float64{1, 1, 1}, 1)),
		"NaN":       second(limit.New(t.Context(), g, labels, []float64{1, 0, math.NaN()}, 1)),
		"α":         second(limit.New(t.Context(), g, labels, flat(3), 0)),
		"μ":         second(limit.Gaussian(math.NaN())),
		"∞":         second(limit.Gaussian(math.Inf(1))),
		"ε":         second(limit.Approximate(-1, 0)),
		"δ":         second(limit.Approximate(1, 1)),
		"empty":     second(limit.New(t.Context(), new(graph.Graph), nil, nil, 1)),
		"α is huge": second(limit.New(t.Context(), g, labels, flat(3), math.Inf(1))),
	} {
		if !errors.Is(err, limit.ErrInvalid) {
			t.Errorf("%s: %v, want a refusal", name, err)
		}
	}
	q := must.Get(limit.New(t.Context(), g, labels, flat(3), 1))(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h := must.Get(limit.Gaussian(1))(t)
	if _, err := q.Accuracy(ctx, h); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

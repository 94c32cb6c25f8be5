// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"context"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// game is the choice of weights: of the probability p_i of node i the share w_iz is bound by
// comparing with star z. The players' payoff is
//
//	Σ_z Σ_i w_iz·h_{k(i,z)}(r_z(c_i)),   w ≥ 0, Σ_z w_iz = p_i, r_z a distribution,
//
// and for every w its maximum over the r_z bounds the accuracy.
type game struct {
	q             *Question
	r             []float64   // the grid
	steps         []int       // numbers of steps that are distinguished; others are rounded up to one
	value, slope  [][]float64 // of h_k, by index of steps and point of the grid
	stars         []contest
	total         []float64 // of a node's weights
	shares        []float64 // of the communities in the prior
	unconstrained float64   // probability of nodes that no star reaches
}

// contest is one star of the game.
type contest struct {
	pairs      []pair
	groups     []group // of pairs, by community
	loss, kept []float64
	bound      float64
}

// pair is a node whose accuracy a star bounds.
type pair struct {
	node    int32
	cell    int32 // of its community and number of steps in contest.loss
	w, kept float64
	steps   int32 // index
}

// group is the pairs of a star in one community.
type group struct {
	community int
	weight    []float64 // by index of steps
	slope     []float64 // of Σ weight·h at each point of the grid
}

const (
	maxKinds      = 48    // numbers of steps that are distinguished
	mostCertain   = 0.999 // pairs that two hypotheses tell apart this well bound nothing
	rateStart     = 6.0   // of the exponentiated gradient
	maxRounds     = 80
	idleRounds    = 8 // rounds without leastGain
	balanceRounds = 30
	leastGain     = 3e-4   // relative decrease of the bound in a round
	leastWeight   = 1e-300 // a weight that changes no other, and whose reciprocal is finite
)

func newGame(q *Question, h Guarantee) *game {
	a := &game{q: q, r: h.grid(), total: make([]float64, len(q.labels))}
	a.shares = q.shares()
	farthest := 0
	for _, s := range q.stars {
		farthest = max(farthest, int(slices.Max(s.steps)))
	}
	a.steps = kinds(h, a.r, farthest)
	for _, k := range a.steps {
		value, slope := make([]float64, len(a.r)), make([]float64, len(a.r))
		for b := range a.r {
			value[b], slope[b] = h.tangent(b, k)
		}
		a.value, a.slope = append(a.value, value), append(a.slope, slope)
	}
	for _, s := range q.stars {
		a.stars = append(a.stars, a.newContest(s))
	}
	a.spread(0)
	for i, t := range a.total {
		if t == 0 {
			a.unconstrained += q.prior[i]
		}
	}
	return a
}

// kinds lists numbers of steps from 0, ever further apart, up to the farthest or the
// one from which on everything is distinguished.
func kinds(h Guarantee, r []float64, farthest int) []int {
	list := []int{0}
	for k := 0; k < farthest && len(list) < maxKinds; {
		k = min(farthest, max(k+1, k+k/8))
		list = append(list, k)
		low := slices.IndexFunc(r, func(x float64) bool { return x >= 1-mostCertain })
		if value, _ := h.tangent(low, k); value >= mostCertain {
			break
		}
	}
	return list
}

// newContest collects what a star may bound.
func (a *game) newContest(s star) contest {
	var c contest
	at := make(map[int]int)
	for i, k := range s.steps {
		kind, _ := slices.BinarySearch(a.steps, int(k))
		if k < 0 || kind == len(a.steps) || a.q.prior[i] == 0 {
			continue
		}
		l := a.q.labels[i]
		j, known := at[l]
		if !known {
			j = len(c.groups)
			at[l] = j
			c.groups = append(c.groups, group{community: l, weight: make([]float64, len(a.steps)), slope: make([]float64, len(a.r))})
		}
		c.pairs = append(c.pairs, pair{node: int32(i), cell: int32(j*len(a.steps) + kind), steps: int32(kind)})
	}
	c.loss, c.kept = make([]float64, len(c.groups)*len(a.steps)), make([]float64, len(c.groups)*len(a.steps))
	return c
}

// spread gives nodes more weight at stars near by, the more so the larger the power.
func (a *game) spread(power float64) {
	for _, c := range a.stars {
		for j := range c.pairs {
			p := &c.pairs[j]
			p.w = math.Pow(2*(1-a.value[p.steps][len(a.r)/2]), power) + 1e-6
		}
	}
	a.normalise()
}

// balance spreads weights that fall with the steps, and scales them until every star
// has the communities in the proportions that the prior gives them (Sinkhorn): with little
// difference between neighbours, a star with another mixture is all in favour of one.
func (a *game) balance(decay float64) {
	for _, c := range a.stars {
		for j := range c.pairs {
			p := &c.pairs[j]
			p.w = math.Exp(-decay*float64(a.steps[p.steps])) + 1e-9
		}
	}
	kinds := len(a.steps)
	for range balanceRounds {
		a.normalise()
		for _, c := range a.stars {
			sums, total, reached := make([]float64, len(c.groups)), 0.0, 0.0
			for _, p := range c.pairs {
				sums[int(p.cell)/kinds] += p.w
				total += p.w
			}
			for _, g := range c.groups {
				reached += a.shares[g.community]
			}
			for j := range c.pairs {
				p := &c.pairs[j]
				k := int(p.cell) / kinds
				if sums[k] > 0 {
					p.w *= total * a.shares[c.groups[k].community] / reached / sums[k]
				}
			}
		}
	}
	a.normalise()
}

// start chooses between ways to spread the weights.
func (a *game) start() float64 {
	ways := []func(){}
	for _, power := range []float64{0, 1, 4, 12} {
		ways = append(ways, func() { a.spread(power) })
	}
	for _, decay := range []float64{.1, .4, 1.5, 5} {
		ways = append(ways, func() { a.balance(decay) })
	}
	best, chosen := math.Inf(1), ways[0]
	for _, way := range ways {
		way()
		a.respond()
		if bound := a.bound(); bound < best {
			best, chosen = bound, way
		}
	}
	chosen()
	a.respond()
	a.keep()
	return best
}

// normalise makes the weights of every node add up to its probability.
func (a *game) normalise() {
	clear(a.total)
	for _, c := range a.stars {
		for _, p := range c.pairs {
			a.total[p.node] += p.w
		}
	}
	for _, c := range a.stars {
		for j := range c.pairs {
			p := &c.pairs[j]
			p.w *= a.q.prior[p.node] / a.total[p.node]
		}
	}
}

// play returns the least bound of all rounds. The exponentiated gradient follows the
// slope of the maximum, which is what each pair loses at the best r; a step that leads
// up is taken back, and a shorter one is tried.
func (a *game) play(ctx context.Context) (float64, error) {
	best, rate, since := a.start(), rateStart, 0
	for round := 0; round < maxRounds && since < idleRounds; round++ {
		if err := ctx.Err(); err != nil {
			return 1, err
		}
		a.step(rate)
		a.respond()
		bound := a.bound()
		if since++; bound < best*(1-leastGain) {
			since = 0
		}
		if !(bound < best) {
			rate /= 4
			continue
		}
		a.keep()
		best, rate = bound, rate*1.5
	}
	return best, nil
}

// bound adds up what the stars bound.
func (a *game) bound() float64 {
	sum := a.unconstrained
	for _, c := range a.stars {
		sum += c.bound
	}
	return sum
}

// respond lets the other player maximise at every star.
func (a *game) respond() {
	parallel.Each(len(a.stars), func(z int) { a.maximise(&a.stars[z]) })
}

// maximise bounds the largest Σ_c g_c(r_c) over distributions r, where g_c is the
// weighted sum of the h_k of a community: at most λ + Σ_c max (g_c(r) − λr) for every λ.
func (a *game) maximise(c *contest) {
	for j := range c.groups {
		clear(c.groups[j].weight)
		clear(c.groups[j].slope)
	}
	kinds := len(a.steps)
	for _, p := range c.pairs {
		c.groups[int(p.cell)/kinds].weight[p.steps] += p.w
	}
	top := 0.0
	for _, g := range c.groups {
		for k, w := range g.weight {
			if w == 0 {
				continue
			}
			for b, s := range a.slope[k] {
				g.slope[b] += w * s
			}
		}
		top = max(top, g.slope[0])
	}
	low, high := a.price(c, top)
	c.bound = high
	for _, g := range c.groups {
		c.bound += a.conjugate(g, high)
	}
	a.lose(c, low, high)
}

// price returns neighbouring λ, at which the maximising r add up to more and to at most 1.
func (a *game) price(c *contest, top float64) (low, high float64) {
	if top == 0 {
		return 0, 0
	}
	from, to := math.Log(top)-80, math.Log(top)+1e-12
	for range 48 {
		if middle := (from + to) / 2; a.sum(c, math.Exp(middle)) > 1 {
			from = middle
		} else {
			to = middle
		}
	}
	return math.Exp(from), math.Exp(to)
}

// sum adds up the maximising r at λ.
func (a *game) sum(c *contest, lambda float64) float64 {
	sum := 0.0
	for _, g := range c.groups {
		sum += a.place(g.first(lambda))
	}
	return sum
}

// place is a point of the grid; beyond the last it is 1.
func (a *game) place(b int) float64 {
	if b == len(a.r) {
		return 1
	}
	return a.r[b]
}

// lose sets the losses at the distribution between the maximising r of two λ.
func (a *game) lose(c *contest, low, high float64) {
	kinds, less, more := len(a.steps), a.sum(c, high), a.sum(c, low)
	share := 0.0
	if more > less {
		share = min(1, max(0, (1-less)/(more-less)))
	}
	for j, g := range c.groups {
		x := a.place(g.first(high))
		x += share * (a.place(g.first(low)) - x)
		b, _ := slices.BinarySearch(a.r, x)
		b = min(b, len(a.r)-1)
		for k := range kinds {
			c.loss[j*kinds+k] = min(1, a.value[k][b]+a.slope[k][b]*(x-a.r[b]))
		}
	}
}

// first returns the first point of the grid at which the slope is at most λ.
func (g *group) first(lambda float64) int {
	low, high := 0, len(g.slope)
	for low < high {
		if mid := (low + high) / 2; g.slope[mid] > lambda {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// conjugate bounds max (g(r) − λr) over r in [0, 1] by the tangents of the concave g at
// the points of the grid around the maximum.
func (a *game) conjugate(g group, lambda float64) float64 {
	b := g.first(lambda)
	if b == 0 { // g increases, so below the first point it is at most g there
		return a.at(g, 0)
	}
	if b == len(a.r) {
		return a.at(g, b-1) + g.slope[b-1]*(1-a.r[b-1]) - lambda
	}
	left, right, s1, s2 := a.at(g, b-1), a.at(g, b), g.slope[b-1], g.slope[b]
	from, to := a.r[b-1], a.r[b]
	r := from + (right-left+s2*(from-to))/(s1-s2)
	r = min(max(r, from), to)
	return left + s1*(r-from) - lambda*r
}

// at returns g at a point of the grid.
func (a *game) at(g group, b int) float64 {
	sum := 0.0
	for k, w := range g.weight {
		sum += w * a.value[k][b]
	}
	return sum
}

// step moves the weights against the losses.
//
// The factors of all weights of a node may be 0, so none of these becomes less than leastWeight.
func (a *game) step(rate float64) {
	for _, c := range a.stars {
		for j := range c.pairs {
			p := &c.pairs[j]
			p.w = p.kept*math.Exp(-rate*c.kept[p.cell]) + leastWeight
		}
	}
	a.normalise()
}

// keep makes the weights and losses of this round those that steps start from.
func (a *game) keep() {
	for _, c := range a.stars {
		copy(c.kept, c.loss)
		for j := range c.pairs {
			c.pairs[j].kept = c.pairs[j].w
		}
	}
}

// rounding is charged on a bound: sums of at most 2²⁰ numbers in [0, 1] that add up to
// at most 2, each with a relative error below 2⁻⁴⁰.
const rounding = 1e-9

// Accuracy returns an upper bound, in (0, 1], on the probability that an answer names
// the community of the source, where the answer comes from any mechanism with the
// guarantee, followed by anything. It is deterministic.
//
// Proof: docs/proofs/limit.md.
func (q *Question) Accuracy(ctx context.Context, h Guarantee) (float64, error) {
	if len(q.stars) == 0 {
		return 1, ctx.Err()
	}
	best, err := newGame(q, h).play(ctx)
	return min(1, best+rounding), err
}

// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/expm"
	loops "github.com/graphcloak/graphcloak/internal/parallel"
	"github.com/graphcloak/graphcloak/linop"
)

// ErrWork says that an allocation without rows of M would take minutes.
var ErrWork = errors.New("allocation: the search would take too long")

// Bounds of the search for [Energy]. Work is in seconds of one core, by [expm.Estimate], so
// that the result does not depend on the machine.
const (
	searchWork   = 60.0
	leastRounds  = 8
	mostRounds   = 30
	roundBlocks  = 3.25 // with M, of width columns, that a round takes
	otherBlocks  = 24   // for equal weights, the odds, the result and its gap
	chosenBy     = 4    // blocks for gradient and prices, by which the sensors of the bound are chosen
	estimatedBy  = 2    // blocks by which it is estimated
	freshness    = .5   // of an estimate that is blended into those of earlier rounds
	sharpness    = 6    // of the prices: edges count by the sixth power of their constraint
	stride       = .4   // of the first rounds: the exponent of an update
	settling     = 10   // rounds after which half of it is left
	largestStep  = 4    // the factor by which a weight changes in a round
	unheard      = 1e-3 // share of the mean below which a sensor is made silent
	boundSensors = 1e-3 // share of the sensors that the bound is estimated from
	pruned       = 2    // thirds of the rounds after which sensors are made silent for the last time
	settled      = 4    // blocks for the constraints of the result
	peakEdges    = 4    // whose constraints are computed exactly in a round
)

// each calls f(0) … f(n−1), each once, for work of so many values each.
func each(n, width int, f func(i int)) {
	loops.Rows(n, width, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f(i)
		}
	})
}

// search is a multiplicative search for the least F among the u that satisfy the
// constraints. Each round prices every sensor by the edges that are nearly violated, and
// raises those whose gradient is more than their price:
//
//	u_s ← u_s · (−∂F/∂u_s / Σ_e y_e D_es²)^η,   y_e ∝ (Σ_s D_es² u_s)⁶.
//
// At a fixed point the quotient is the same for all that report, and y is an optimal dual
// point but for its smoothing (compare Titterington 1976; Grigoriadis & Khachiyan 1994).
type search struct {
	*energy
	u           []float64
	constraints []float64 // estimates, at u
	energies    []float64
	most        []float64 // the largest weight of each sensor
	dual        []float64 // sum of the dual points of the later rounds
}

// optimizeEnergy is [Optimize] for [Energy].
func (p *problem) optimizeEnergy(m Diffusion, sensors []int) (*Result, error) {
	if len(p.opts.Worlds) > 0 {
		return nil, fmt.Errorf("%w: objective energy knows one operator; name another", ErrInvalid)
	}
	budget, err := p.affordable()
	if err != nil {
		return nil, err
	}
	peak := p.equalPeak(m, sensors)
	if peak == 0 {
		return nil, fmt.Errorf("%w: the sensors read the same from the two ends of every relationship", ErrNothing)
	}
	s := p.newSearch(m, sensors, 1/peak)
	rounds := s.run(budget.rounds)
	r := &Result{Objective: Energy, Rounds: rounds, CutShort: rounds < budget.rounds, Weights: s.u, Reporting: reporting(s.u)}
	r.Value, r.Limit = s.bound()
	if r.Value > 0 {
		r.Gap = (r.Value - r.Limit) / r.Value
	}
	if err := p.ctx.Err(); err != nil {
		return nil, err
	}
	if p.opts.MaxSensors == 0 && p.opts.Candidates == nil { // equal noise is of all sensors
		r.Simulated, err = p.compare(m, sensors, s.u, 1/peak, budget)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// budget says how long to search.
type budget struct {
	rounds, trials, probes int // the last two in blocks
}

// affordable returns how many rounds searchWork pays for.
func (p *problem) affordable() (budget, error) {
	b := budget{mostRounds, 4, 8}
	cost, err := expm.Estimate(p.model.Laplacian, p.model.Tau, expm.Options{Method: expm.Chebyshev})
	if err != nil {
		return b, nil // the operator that there is has eigenpairs, of a small graph
	}
	block := width * (cost.Column + 4e-9*float64(p.model.Graph.Order()+2*p.model.Graph.Size()))
	blocks := searchWork/block - otherBlocks
	if blocks < roundBlocks*mostRounds+b.blocks() {
		b.trials, b.probes = 2, 4
	}
	b.rounds = min(mostRounds, int((blocks-b.blocks())/roundBlocks))
	if b.rounds < leastRounds {
		return b, fmt.Errorf("%w: about %.0f seconds of one processor", ErrWork, block*(roundBlocks*leastRounds+otherBlocks+b.blocks()))
	}
	return b, nil
}

// blocks is what the simulation of two allocations takes.
func (b budget) blocks() float64 { return float64(3*b.trials + 2*b.probes) }

// newSearch starts from equal weights.
func (p *problem) newSearch(m Diffusion, sensors []int, equal float64) *search {
	s := &search{energy: p.newEnergy(m, sensors), u: make([]float64, len(sensors)), most: make([]float64, len(sensors))}
	s.constraints, s.dual, s.energies = make([]float64, len(s.edges)), make([]float64, len(s.edges)), make([]float64, p.model.Graph.Order())
	n := float64(p.model.Graph.Order())
	e := n*math.Sqrt(n)*0x1p-52 + 2*math.Sqrt(n)*m.Err()
	component, sizes := p.model.Graph.Components()
	for k, i := range sensors {
		s.u[k], s.most[k] = equal, max(equal, numericalError*numericalError/(e*e)) // as in setCap
		if sizes[component[i]] == 1 {
			s.most[k] = equal
		}
	}
	if p.opts.Candidates != nil {
		s.keep(p.opts.Candidates)
	}
	return s
}

// keep makes all sensors silent but some.
func (s *search) keep(some []int) {
	kept := make([]float64, len(s.u))
	for _, k := range some {
		kept[k] = s.u[k]
	}
	s.u = kept
}

// run searches for so many rounds, and returns how many it took. Its result is the best point
// of the last third, by its estimate: updates overshoot now and then.
func (s *search) run(rounds int) int {
	best, least := s.u, math.Inf(1)
	for t := range rounds {
		s.p.opts.Progress("allocate: rounds", int64(t), int64(rounds))
		if t > 0 && s.p.expired() {
			s.settle()
			return t
		}
		drawn, y := s.look(max(freshness, 1/float64(t+1)))
		if f := s.mean(s.energies); t > pruned*rounds/3 && f < least {
			best, least = slices.Clone(s.u), f
		}
		if t >= rounds/2 {
			floats.Add(s.dual, y)
		}
		w, price := s.gradient(s.energies, drawn), s.prices(y)
		s.update(w, price, stride/(1+float64(t)/settling))
		if t == rounds/2 || t == pruned*rounds/3 {
			s.prune(price)
		}
	}
	if s.look(freshness); s.mean(s.energies) > least {
		s.u = best
	}
	s.settle()
	return rounds
}

// settle estimates energies and constraints at the last u anew, and scales u by the edges that
// look worst.
func (s *search) settle() {
	for k := range settled {
		s.hear(s.u)
		s.addConstraints(s.constraints, 1/float64(k+1))
		s.addEnergies(s.energies, s.drawRivals(), 1/float64(k+1))
	}
	s.normalise(width)
}

// look estimates energies and constraints at u, scales u, and returns the rivals drawn and
// the dual point.
func (s *search) look(f float64) (drawn [][]int, y []float64) {
	drawn = s.drawRivals()
	s.hear(s.u)
	s.addConstraints(s.constraints, f)
	s.addEnergies(s.energies, drawn, f)
	s.normalise(peakEdges)
	return drawn, s.tight()
}

// tight returns a dual point that sums to 1: the sharper, the nearer to the largest constraints.
func (s *search) tight() []float64 {
	top, y := slices.Max(s.constraints), make([]float64, len(s.edges))
	each(len(y), 4, func(j int) { y[j] = math.Pow(s.constraints[j]/top, sharpness) })
	floats.Scale(1/floats.Sum(y), y)
	return y
}

// update raises and lowers the weights, by the ratio of gradient and price to their mean.
func (s *search) update(w, price []float64, exponent float64) {
	mean := floats.Dot(s.u, price) / floats.Dot(s.u, w)
	for k, v := range price {
		if v > 0 && s.u[k] > 0 {
			f := math.Pow(w[k]/v*mean, exponent)
			s.u[k] = min(s.most[k], s.u[k]*max(1./largestStep, min(largestStep, f)))
		}
	}
}

// prune makes sensors silent whose share of the constraints is small, and all but the
// MaxSensors largest.
func (s *search) prune(price []float64) {
	order := make([]int, len(s.u))
	share, total := make([]float64, len(s.u)), 0.0
	for k := range order {
		order[k], share[k] = k, s.u[k]*price[k]
		total += share[k]
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(share[b], share[a]) })
	keep := len(order)
	for keep > max(1, s.p.opts.MinSensors) && share[order[keep-1]] < unheard*total/float64(len(order)) {
		keep--
	}
	if k := s.p.opts.MaxSensors; k > 0 {
		keep = min(keep, k)
	}
	s.keep(order[:keep])
}

// normalise scales u so that the largest constraint is about 1: of the edges whose
// constraints look largest, it is computed exactly.
func (s *search) normalise(most int) {
	var order []int
	for range min(most, len(s.edges)) {
		next := -1
		for j, v := range s.constraints {
			if (next < 0 || v > s.constraints[next]) && !slices.Contains(order, j) {
				next = j
			}
		}
		order = append(order, next)
	}
	n, k := s.p.model.Graph.Order(), len(order)
	in, out := make([]float64, n*k), make([]float64, n*k)
	for c, j := range order {
		in[int(s.edges[j].u)*k+c], in[int(s.edges[j].v)*k+c] = 1, -1
	}
	linop.MulBlockTo(s.m, out, false, in, k)
	peak := 0.0
	for c, j := range order {
		sum := 0.0
		for t, i := range s.sensors {
			sum += s.u[t] * out[i*k+c] * out[i*k+c]
		}
		peak = max(peak, s.edges[j].scale*sum)
	}
	if peak > 0 {
		floats.Scale(1/peak, s.u)
		floats.Scale(1/peak, s.constraints)
		floats.Scale(1/peak, s.energies)
	}
}

// bound returns F(u) and an estimate of the least F. F is convex, so none is less than
// F(u) − max_v wᵀ(v − u), w = −∇F, over the v that satisfy the constraints; and
// wᵀv ≤ max_s w_s/price_s by duality. The sensors where that is largest are found by some
// random vectors, and the quotient there is estimated by others: the
// largest of many estimates would be far too large.
func (s *search) bound() (value, limit float64) {
	drawn, y := s.drawRivals(), s.dual
	floats.Add(y, s.tight()) // any dual point bounds, and the mean has less of the estimates' errors
	floats.Scale(1/floats.Sum(y), y)
	value = s.mean(s.energies)
	first, firstPrice := s.ratio(y, drawn, chosenBy)
	second, secondPrice := s.ratio(y, drawn, estimatedBy)
	var order []int
	for k := range s.u {
		if firstPrice[k] > 0 && s.most[k] > 0 {
			order = append(order, k)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(first[b]/firstPrice[b], first[a]/firstPrice[a]) })
	var w, price float64
	for _, k := range order[:min(len(order), 1+int(boundSensors*float64(len(order))))] {
		w, price = w+second[k], price+secondPrice[k]
	}
	promise := max(0, w/price-floats.Dot(second, s.u))
	return value, max(0, value-promise)
}

// ratio returns means of so many estimates of the gradient and of the prices.
func (s *search) ratio(y []float64, drawn [][]int, blocks int) (w, price []float64) {
	w, price = make([]float64, len(s.u)), make([]float64, len(s.u))
	for range blocks {
		floats.AddScaled(w, 1/float64(blocks), s.gradient(s.energies, drawn))
		floats.AddScaled(price, 1/float64(blocks), s.prices(y))
	}
	return w, price
}

// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/expm"
)

// Bounds of the search for [Energy]. Work is in seconds of one core, by [expm.Estimate], so
// that the result does not depend on the machine.
const (
	searchSeconds   = 60.0
	againSeconds    = 30.0 // of a second comparison with equal noise
	mostAgain       = 4    // times the releases of the first
	levelSeconds    = 1e-8 // of an amplitude at a node under which a release is judged
	leastRounds     = 8
	mostRounds      = 60
	roundBlocks     = 3.25   // with M, of width columns, that a round takes
	otherBlocks     = 24     // for equal weights, the odds and the result
	projections     = 2      // blocks of a round for the constraints, whose errors matter most
	newShare        = .35    // of an estimate that is blended into those of earlier rounds
	firstPower      = 6      // of the prices: at first edges count by the sixth power of their constraint
	lastPower       = 12     // at last by the twelfth
	firstExponent   = .4     // of the first rounds: the exponent of an update
	halvingRounds   = 10     // rounds after which half of it is left
	mostFactor      = 4      // the factor by which a weight changes in a round
	silentShare     = 1e-3   // share of the mean below which a sensor is made silent
	lastSilencing   = 2. / 3 // of the rounds after which sensors are made silent for the last time
	averagedFrom    = 5. / 6 // of the rounds after which weights are those of the result, in the mean
	settleBlocks    = 4      // blocks for the constraints of the result
	peakEdges       = 4      // whose constraints are computed exactly in a round
	coarseTolerance = 1e-4   // of the operator that is searched with, relative to the worst edge at equal weights
)

// search is a multiplicative search for the least F among the u that satisfy the
// constraints. Each round prices every sensor by the edges that are nearly violated, and
// raises those whose gradient is more than their price:
//
//	u_s ← u_s · (−∂F/∂u_s / Σ_e y_e D_es²)^η,   y_e ∝ (Σ_s D_es² u_s)^κ.
//
// At a fixed point the quotient is the same for all that report, and y is an optimal dual
// point but for its smoothing (compare Titterington 1976; Grigoriadis & Khachiyan 1994); κ
// grows with the rounds. Random errors of gradient and price average out over the rounds;
// those of the constraints are raised to the power κ, and get most of the random vectors.
type search struct {
	*energy
	u           []float64
	constraints []float64 // estimates, at u
	energies    []float64
	most        []float64 // the largest weight of each sensor
}

// optimizeEnergy is [Optimize] for [Energy].
func (p *problem) optimizeEnergy(m Diffusion, sensors []int) (*Result, error) {
	if len(p.opts.Worlds) > 0 {
		return nil, fmt.Errorf("%w: above %d nodes noise is allocated for one operator", ErrInvalid, RowsLimit)
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
	s.m = p.coarse(m, peak)
	rounds := s.run(budget.rounds)
	r := &Result{Objective: Energy, CutShort: rounds < budget.rounds, Weights: s.u}
	if err := p.ctx.Err(); err != nil {
		return nil, err
	}
	if p.opts.MaxSensors == 0 { // equal noise is of all sensors
		r.Simulated, err = p.compare(m, sensors, s.u, 1/peak, budget)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// coarse returns an operator that is accurate enough to search with; peak is the largest constraint of unit weights.
func (p *problem) coarse(m Diffusion, peak float64) Diffusion {
	d, err := expm.New(p.ctx, p.model.Laplacian, p.model.Tau,
		expm.Options{Method: expm.Chebyshev, Tolerance: coarseTolerance * min(1, math.Sqrt(peak))})
	if err != nil {
		return m
	}
	return d
}

// affordable returns how many rounds searchSeconds pays for.
func (p *problem) affordable() (budget, error) {
	b := budget{rounds: mostRounds, trials: 4, probes: 8, again: mostAgain}
	block := p.block()
	blocks := searchSeconds/block - otherBlocks
	if blocks < roundBlocks*mostRounds+b.blocks() {
		b.trials, b.probes = 2, 4
	}
	seconds := block*b.blocks() + levelSeconds*float64(2*b.trials*width*fullSize.levels)*float64(p.model.Graph.Order())
	b.again = min(mostAgain, int(againSeconds/seconds))
	b.rounds = min(mostRounds, int((blocks-b.blocks())/roundBlocks))
	if b.rounds < leastRounds {
		return b, fmt.Errorf("%w: about %.0f seconds of one processor", ErrWork, block*(roundBlocks*leastRounds+otherBlocks+b.blocks()))
	}
	return b, nil
}

// block estimates the seconds of a round for each block of its columns.
func (p *problem) block() float64 {
	return width * (p.column() + 4e-9*float64(p.model.Graph.Order()+2*p.model.Graph.Size()))
}

// newSearch starts from equal weights.
func (p *problem) newSearch(m Diffusion, sensors []int, equal float64) *search {
	s := &search{energy: p.newEnergy(m, sensors), u: make([]float64, len(sensors)), most: make([]float64, len(sensors))}
	s.constraints, s.energies = make([]float64, len(s.edges)), make([]float64, p.model.Graph.Order())
	n := float64(p.model.Graph.Order())
	e := n*math.Sqrt(n)*0x1p-52 + 2*math.Sqrt(n)*m.Err()
	component, sizes := p.model.Graph.Components()
	for k, i := range sensors {
		s.u[k], s.most[k] = equal, max(equal, numericalError*numericalError/(e*e)) // as in setCap
		if sizes[component[i]] == 1 {
			s.most[k] = equal
		}
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

// run searches for so many rounds, and returns how many it took. Its result is the mean of the
// last points, which satisfies the constraints if they do: updates overshoot now and then.
func (s *search) run(rounds int) int {
	mean, round := make([]float64, len(s.u)), roundBlocks*s.p.block()
	for t := range rounds {
		s.p.opts.Progress("allocate: rounds", int64(t), int64(rounds))
		if t > 0 && s.p.expired() {
			s.settle()
			return t
		}
		s.p.work += round
		done := float64(t) / float64(rounds)
		drawn, y := s.look(max(newShare, 1/float64(t+1)), firstPower*math.Pow(lastPower/firstPower, done))
		if done >= averagedFrom {
			floats.Add(mean, s.u)
		}
		w, price := s.slopes(s.energies, drawn, y)
		s.update(w, price, firstExponent/(1+float64(t)/halvingRounds))
		if t == rounds/2 || t == int(lastSilencing*float64(rounds)) {
			s.prune(price)
		}
	}
	s.u = mean
	s.settle()
	return rounds
}

// settle estimates energies and constraints at the last u again, and scales u by the edges that
// look worst.
func (s *search) settle() {
	for k := range settleBlocks {
		s.project(s.u)
		s.addConstraints(s.constraints, 1/float64(k+1))
		s.addEnergies(s.energies, s.drawRivals(), 1/float64(k+1))
	}
	s.normalise(width)
}

// look estimates energies and constraints at u, of which a share f is to be new, scales u, and
// returns the rivals drawn last and the dual point.
func (s *search) look(f, sharpness float64) (drawn [][]int, y []float64) {
	for k := range projections {
		drawn = s.drawRivals()
		part := f / (projections - float64(projections-1-k)*f) // so that all projections count alike
		s.project(s.u)
		s.addConstraints(s.constraints, part)
		s.addEnergies(s.energies, drawn, part)
	}
	s.normalise(peakEdges)
	return drawn, s.tight(sharpness)
}

// tight returns a dual point that sums to 1: the sharper, the nearer to the largest constraints.
func (s *search) tight(sharpness float64) []float64 {
	top, y := slices.Max(s.constraints), make([]float64, len(s.edges))
	each(len(y), 4, func(j int) { y[j] = math.Pow(s.constraints[j]/top, sharpness) })
	floats.Scale(1/floats.Sum(y), y)
	return y
}

// update raises and lowers the weights, by the ratio of gradient and price, and keeps their
// price in all: estimates of earlier rounds stay those of weights of the same scale.
func (s *search) update(w, price []float64, exponent float64) {
	spent := floats.Dot(s.u, price)
	mean := spent / floats.Dot(s.u, w)
	for k, v := range price {
		if v > 0 && s.u[k] > 0 {
			f := math.Pow(w[k]/v*mean, exponent)
			s.u[k] = min(s.most[k], s.u[k]*max(1./mostFactor, min(mostFactor, f)))
		}
	}
	if now := floats.Dot(s.u, price); now > 0 {
		floats.Scale(spent/now, s.u)
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
	for keep > 1 && share[order[keep-1]] < silentShare*total/float64(len(order)) {
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
	peak := slices.Max(s.p.edgeSquares(s.m, s.sensors, s.u, s.edges, largest(s.constraints, most)))
	if peak > 0 {
		floats.Scale(1/peak, s.u)
		floats.Scale(1/peak, s.constraints)
		floats.Scale(1/peak, s.energies)
	}
}

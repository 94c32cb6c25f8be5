// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// Numbers of draws of one source that another is added to: where all sensors are sound, and where they may be broken.
const (
	secondDraws = 64
	faultyDraws = 16
)

// Second estimates the log evidence of two sources against one: the mean, over independent draws
// from the posterior of one source, of the evidence of a further one beside it. It takes a
// product of AᵀA for each node that is drawn, where [NewPairs] weighs every pair; where
// sensors may be broken, the posterior of one source for each of fewer draws, from the entries of A. It is
// −Inf where the prior leaves no two nodes. The seed is fixed: the same data give the same bits.
func Second(ctx context.Context, d measurement.Data, opts Options) (float64, error) {
	s, err := newBeside(ctx, d, opts)
	if err != nil || math.IsInf(s.logTwo, -1) {
		return math.Inf(-1), err
	}
	_, logs, err := s.first(ctx)
	if err != nil {
		return 0, err
	}
	return logMean(logs) - s.logTwo, nil // Σ π = 1
}

// drawRounds is the number of times that each source of a pair that was drawn is drawn anew beside the other; even.
const drawRounds = 4

// Draws are the posterior of two sources at different nodes, by draws of one and the exact posterior of the other beside each.
type Draws struct {
	// Probability of each node to be one of the two. It sums to 2.
	Probability []float64
	// Faulty is the probability of each measurement to be that of a faulty sensor; nil where none may be.
	Faulty []float64

	sources []drawnSource
}

// drawnSource is a source with the posterior of one beside it.
type drawnSource struct {
	node      int
	amplitude float64
	other     []float64 // the log evidence and prior of each node, and at last its probability
}

// NewDraws estimates the posterior of two sources where [NewPairs] would take too long. Draws from the posterior of one source are
// chosen by the evidence of a further one beside each, which makes pairs of both; then one source of each pair after the other is
// drawn from its exact posterior beside the other. It returns [ErrInvalid] where the prior leaves no two nodes.
func NewDraws(ctx context.Context, d measurement.Data, opts Options) (*Draws, error) {
	s, err := newBeside(ctx, d, opts)
	if err == nil && math.IsInf(s.logTwo, -1) {
		err = fmt.Errorf("%w: the prior leaves no two nodes", ErrInvalid)
	}
	if err != nil {
		return nil, err
	}
	first, logs, err := s.first(ctx)
	if err != nil {
		return nil, err
	}
	pairs, chosen := make([]drawnSource, len(first)), cumulative(logs)
	for t := range pairs {
		pairs[t] = first[drawn(chosen, s.random)]
	}
	p := &Draws{Probability: make([]float64, len(s.logPrior))}
	for range drawRounds {
		for t := range pairs {
			held := &pairs[t]
			next := drawnSource{node: drawn(cumulative(held.other), s.random)}
			next.amplitude = s.amplitude(next.node, held)
			if next.other, err = s.further(ctx, &next, p); err != nil {
				return nil, err
			}
			pairs[t] = next
			p.sources = append(p.sources, next)
		}
	}
	for _, x := range p.sources {
		total := logSum(x.other)
		for i, v := range x.other {
			x.other[i] = math.Exp(v - total)
		}
		floats.AddScaled(p.Probability, 2/float64(len(p.sources)), x.other)
	}
	floats.Scale(1/float64(len(p.sources)), p.Faulty)
	return p, nil
}

// Groups returns, for each label, the probability that it holds at least one of the two sources.
func (p *Draws) Groups(labels []int) ([]float64, error) {
	count, err := groupCount(labels, len(p.Probability))
	if err != nil {
		return nil, err
	}
	out, share := make([]float64, count), 1/float64(len(p.sources))
	for _, x := range p.sources {
		out[labels[x.node]] += share
		for i, v := range x.other {
			if labels[i] != labels[x.node] {
				out[labels[i]] += share * v
			}
		}
	}
	return out, nil
}

// beside weighs a source beside another.
type beside struct {
	d        measurement.Data
	logPrior []float64
	logTwo   float64 // of the prior mass of two different nodes
	random   *rand.Rand
	faulty   *faulty // where sensors may be broken; else the rest
	e        evidence
	c, norms []float64
	columns  map[int][]float64 // of AᵀA, or of A where sensors may be broken
}

func newBeside(ctx context.Context, d measurement.Data, opts Options) (s *beside, err error) {
	s = &beside{d: d, e: newEvidence(opts.Amplitude), random: rand.New(rand.NewPCG(0, 0)), columns: map[int][]float64{}}
	if opts.Faults.Rate == 0 {
		var norms Norms
		s.c, norms, s.logPrior, err = sufficient(ctx, d, opts)
		s.norms = norms.N
	} else if !linop.HoldsEntries(d.A) {
		err = fmt.Errorf("%w: where sensors may be broken, a second source is weighed by the entries of the operator", ErrInvalid)
	} else if s.faulty, err = prepareFaulty(d, opts); err == nil {
		s.d, s.logPrior = s.faulty.d, s.faulty.logPrior
	}
	if err != nil {
		return nil, err
	}
	s.logTwo = logDistinct(s.logPrior, 2)
	return s, nil
}

// first draws from the posterior of one source, with the log weights of every node beside each draw, and their sums.
func (s *beside) first(ctx context.Context) (draws []drawnSource, logs []float64, err error) {
	one, err := s.weights(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	count, sums := secondDraws, cumulative(one)
	if s.faulty != nil {
		count = faultyDraws
	}
	for range count {
		x := drawnSource{node: drawn(sums, s.random)}
		x.amplitude = s.amplitude(x.node, nil)
		if x.other, err = s.weights(ctx, &x); err != nil {
			return nil, nil, err
		}
		draws, logs = append(draws, x), append(logs, logSum(x.other))
	}
	return draws, logs, nil
}

// column returns what a source at a node adds to c, or where sensors may be broken to their means.
func (s *beside) column(z int) []float64 {
	if s.columns[z] != nil {
		return s.columns[z]
	}
	m, n := s.d.A.Dims()
	x := make([]float64, m)
	linop.ColumnsTo(s.d.A, x, []int{z})
	if s.faulty == nil {
		product := make([]float64, n)
		s.d.A.MulVecTo(product, true, x)
		x = product
	}
	s.columns[z] = x
	return x
}

// rest is c beside a source; nil for none.
func (s *beside) rest(given *drawnSource) []float64 {
	if given == nil {
		return s.c
	}
	return floats.AddScaledTo(make([]float64, len(s.c)), s.c, -given.amplitude, s.column(given.node))
}

// faultyRest is the posterior of a source beside another; nil for none.
func (s *beside) faultyRest(given *drawnSource) *faulty {
	if given == nil {
		return s.faulty
	}
	x := s.column(given.node)
	e, _ := s.faulty.beyond(func(row int) float64 { return given.amplitude * x[row] })
	rest := &faulty{faultyEvidence: e, d: s.d, logPrior: slices.Clone(s.logPrior)}
	rest.logPrior[given.node] = math.Inf(-1)
	return rest
}

// weights returns the log evidence and prior of every node beside a source; nil for none.
func (s *beside) weights(ctx context.Context, given *drawnSource) ([]float64, error) {
	if s.faulty != nil {
		return s.faultyRest(given).weights(ctx)
	}
	w := s.e.weights(s.rest(given), s.norms, s.logPrior)
	if given != nil {
		w[given.node] = math.Inf(-1)
	}
	return w, ctx.Err()
}

// amplitude draws that of a source at a node beside another; nil for none.
func (s *beside) amplitude(z int, given *drawnSource) float64 {
	if s.faulty != nil {
		return s.faultyRest(given).draw(s.column(z), s.random)
	}
	return s.e.draw(s.rest(given)[z], s.norms[z], s.random)
}

// further is weights beside a source that was drawn; it adds to p the probability of each sensor to be faulty.
func (s *beside) further(ctx context.Context, given *drawnSource, p *Draws) ([]float64, error) {
	if s.faulty == nil {
		return s.weights(ctx, given)
	}
	rest := s.faultyRest(given)
	of, err := rest.exact(ctx)
	if err != nil {
		return nil, err
	}
	if p.Faulty == nil {
		p.Faulty = make([]float64, len(of.Faulty))
	}
	floats.Add(p.Faulty, of.Faulty)
	floats.Add(of.LogEvidence, rest.logPrior)
	return of.LogEvidence, nil
}

// draw draws an amplitude in proportion to e^{ac − a²N/2} and the prior: where it is
// not 1 itself, by bisection of the distribution function, since ∫₀ˣ is x·∫₀¹ with c and N
// scaled by x and x².
func (e evidence) draw(c, n float64, random *rand.Rand) float64 {
	if e.unit == 1 || e.unit > 0 && math.Log(random.Float64()) < math.Log(e.unit)+c-n/2-e.log(c, n) {
		return 1
	}
	target := e.uniform(c, n) + math.Log(1-random.Float64())
	lo, hi := 0.0, 1.0
	for range 50 {
		x := (lo + hi) / 2
		if math.Log(x)+e.uniform(x*c, x*x*n) < target {
			lo = x
		} else {
			hi = x
		}
	}
	return (lo + hi) / 2
}

// draw draws an amplitude of a source with the column x, among those of the rule that integrates over it.
func (e *faultyEvidence) draw(x []float64, random *rand.Rand) float64 {
	var c column
	var amplitudes, logs []float64
	e.column(x, &c)
	c.visit(c.raise(math.Inf(-1)), func(a, logWeight, value float64) {
		amplitudes, logs = append(amplitudes, a), append(logs, logWeight+value)
	})
	return amplitudes[drawn(cumulative(logs), random)]
}

// cumulative returns the partial sums of e^w, relative to all of them.
func cumulative(w []float64) []float64 {
	total, sums := logSum(w), make([]float64, len(w))
	for i, v := range w {
		sums[i] = math.Exp(v - total)
	}
	return floats.CumSum(sums, sums)
}

// drawn draws a place in proportion to what partial sums grow by there.
func drawn(sums []float64, random *rand.Rand) int {
	u := random.Float64() * sums[len(sums)-1]
	at, _ := slices.BinarySearchFunc(sums, u, func(x, u float64) int {
		if x > u {
			return 1
		}
		return -1
	})
	return min(at, len(sums)-1)
}

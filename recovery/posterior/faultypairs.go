// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/internal/parallel"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

const (
	// faultyPairWork bounds pairs times sensors for which every pair is bounded where sensors may be broken.
	faultyPairWork = 200_000_000
	// faultyPairLikelihoods bounds the likelihoods of sensors that the integrals over both amplitudes of the
	// pairs that matter take: some seconds.
	faultyPairLikelihoods = 50_000_000
)

// ErrWork is returned by [NewPairs] where weighing all pairs would take long.
var ErrWork = errors.New("posterior: too much work")

// newFaultyPairs is the posterior over all pairs where sensors may be broken: at each amplitude of
// the second source the evidence of the first is that of one source, given the second.
func newFaultyPairs(ctx context.Context, d measurement.Data, opts Options) (*Pairs, error) {
	m, n := d.A.Dims()
	if !linop.HoldsEntries(d.A) {
		return nil, fmt.Errorf("%w: where sensors may be broken, pairs are weighed by the entries of the operator", ErrInvalid)
	}
	if w := n * (n - 1) / 2 * m; w > faultyPairWork {
		return nil, fmt.Errorf("%w: %d pairs of nodes with %d sensors that may be broken", ErrWork, n*(n-1)/2, m)
	}
	f, err := prepareFaulty(ctx, d, opts)
	if err != nil {
		return nil, err
	}
	p, logMass, err := newPairs(f.logPrior)
	if err != nil {
		return nil, err
	}
	e := &faultyPairs{faulty: f, columns: make([]float64, n*m), weight: p.p}
	linop.ColumnsTo(f.d.A, e.columns, everyNode(n))
	if err := e.weigh(ctx); err != nil {
		return nil, err
	}
	p.normalize(logMass)
	p.Faulty, err = e.suspects(ctx, p)
	return p, err
}

// faultyPairs weighs pairs of nodes.
type faultyPairs struct {
	*faulty
	columns []float64 // Aᵀ, n × m
	weight  []float64 // log evidence and prior of the pair i < j at j(j−1)/2 + i
}

// pairOf returns the nodes i < j at a place.
func pairOf(place int) (i, j int) {
	j = int((1 + math.Sqrt(1+8*float64(place))) / 2)
	return place - j*(j-1)/2, j
}

// weigh sets the weights. Pairs that are more than [negligible] below the best have an upper
// bound; [ErrWork] where the others would take too long.
func (e *faultyPairs) weigh(ctx context.Context) error {
	order := everyNode(len(e.weight))
	if err := e.set(ctx, order, e.pairBound); err != nil {
		return err
	}
	first := descending(order, e.weight)[:min(firstNodes, len(order))]
	if err := e.affordable(first); err != nil {
		return err
	}
	if err := e.set(ctx, first, e.pair); err != nil {
		return err
	}
	floor := math.Inf(-1)
	for _, k := range first {
		floor = max(floor, e.weight[k])
	}
	rest := slices.DeleteFunc(order[len(first):], func(k int) bool { return !(e.weight[k] >= floor-negligible) })
	if err := e.affordable(rest); err != nil {
		return err
	}
	return e.set(ctx, rest, e.pair)
}

// affordable returns [ErrWork] where some pairs would take more than [faultyPairLikelihoods].
func (e *faultyPairs) affordable(list []int) error {
	if w := e.work(list); w > faultyPairLikelihoods {
		return fmt.Errorf("%w: %d pairs of nodes matter, and would take %.2g likelihoods of sensors, above %.2g", ErrWork, len(list), w,
			float64(faultyPairLikelihoods))
	}
	return nil
}

// work returns the number of likelihoods of a sensor that it takes to integrate over both amplitudes of
// some pairs, as their columns alone tell it.
func (e *faultyPairs) work(list []int) (sum float64) {
	m := len(e.y)
	inner, outer := make([]float64, len(e.logPrior)), make([]float64, len(e.logPrior))
	for i := range inner {
		column := e.columns[i*m : (i+1)*m]
		norm := floats.Norm(column, 2)
		inner[i] = 1 + panelNodes*min(math.Ceil(norm/panelWidth), 2*directPanels) // of more, most are negligible
		outer[i] = 1 + panelNodes*float64(len(e.pairCuts(column))-1)
	}
	for _, k := range list {
		i, j := pairOf(k)
		sum += inner[i] * outer[j] * float64(m)
	}
	return sum
}

// set sets the weights of pairs by the log evidence of their columns.
func (e *faultyPairs) set(ctx context.Context, list []int, log func(x, z []float64) float64) error {
	m := len(e.y)
	of := func(i int) []float64 { return e.columns[i*m : (i+1)*m] }
	return inBlocks(ctx, len(list), func(from, to int) {
		for _, k := range list[from:to] {
			i, j := pairOf(k)
			e.weight[k] = log(of(i), of(j)) + (e.logPrior[i] + e.logPrior[j])
		}
	})
}

// pairBound bounds the log likelihood of two sources: the mean of each sensor is between 0 and the
// sum of both entries.
func (e *faultyEvidence) pairBound(x, z []float64) float64 {
	return e.product(func(r int) float64 {
		low, high := min(0, x[r])+min(0, z[r]), max(0, x[r])+max(0, z[r])
		return min(max(e.y[r], low), high)
	})
}

// pair returns the log evidence of two sources with the columns x and z.
func (e *faultyEvidence) pair(x, z []float64) float64 {
	var terms []float64
	e.second(z, func(b, logWeight float64) { terms = append(terms, logWeight+e.given(x, z, b)) })
	return logSum(terms)
}

// second calls f for the amplitudes and the log weights of a rule that integrates over that of the second source.
func (e *faultyEvidence) second(z []float64, f func(b, logWeight float64)) {
	if e.unit > 0 {
		f(1, math.Log(e.unit))
	}
	if e.unit == 1 {
		return
	}
	cuts := e.pairCuts(z)
	for k := 1; k < len(cuts); k++ {
		from, width := cuts[k-1], cuts[k]-cuts[k-1]
		for q, t := range e.at {
			f(from+t*width, math.Log((1-e.unit)*width*e.w[q]))
		}
	}
}

// suspectedPairs is the number of pairs, the likeliest, that the suspects are those of.
const suspectedPairs = 64

// suspects returns the probability of each sensor to be faulty where the sources are one of the likeliest pairs.
func (e *faultyPairs) suspects(ctx context.Context, p *Pairs) ([]float64, error) {
	m, best := len(e.y), likeliest(p.p, 1)
	best = best[:min(suspectedPairs, len(best))]
	parts, masses := make([][]float64, len(best)), make([]float64, len(best))
	parallel.Each(len(best), func(k int) {
		parts[k] = make([]float64, len(e.sensors))
		if ctx.Err() == nil && p.p[best[k]] > 0 {
			i, j := pairOf(best[k])
			masses[k] = e.suspectOf(e.columns[i*m:(i+1)*m], e.columns[j*m:(j+1)*m], parts[k], math.Log(p.p[best[k]]))
		}
	})
	out := make([]float64, len(e.sensors))
	for _, part := range parts {
		floats.Add(out, part)
	}
	for s, v := range out {
		out[s] = min(1, max(0, v/floats.Sum(masses)))
	}
	return e.measurements(out), ctx.Err()
}

// suspectOf adds to sum the probability of each sensor to be faulty beside two sources with the columns x and z, times that of these,
// and returns the latter as the rule has it.
func (e *faultyEvidence) suspectOf(x, z, sum []float64, logProbability float64) (total float64) {
	logPair := e.pair(x, z)
	e.second(z, func(b, logWeight float64) {
		rest, log := e.beyond(func(r int) float64 { return b * z[r] })
		var c column
		rest.column(nil, x, &c)
		mass := c.suspect(sum, logProbability-logPair+logWeight+log)
		for s := range rest.sensors {
			sum[s] += mass * (1 - rest.sensors[s].sound)
		}
		total += mass
	})
	return total
}

// pairCuts cuts [0, 1] into parts no wider than panelWidth/√N, and finer towards the ends, where
// the evidence may fall as steeply as all sensors together make it.
func (e *faultyEvidence) pairCuts(z []float64) []float64 {
	norm, slope := 0.0, 1.0
	for r, v := range z {
		norm += v * v
		slope += math.Abs(v) * (math.Abs(e.y[r]) + math.Abs(v))
	}
	cuts := []float64{0, 1}
	n := 1 + math.Ceil(math.Sqrt(norm)/panelWidth)
	for k := 1.0; k < n; k++ {
		cuts = append(cuts, k/n)
	}
	for x := 2 / slope; x < 1/n; x *= 4 {
		cuts = append(cuts, x, 1-x)
	}
	slices.Sort(cuts)
	return cuts
}

// given returns the log evidence of a source with the column x and one of amplitude b with z.
func (e *faultyEvidence) given(x, z []float64, b float64) float64 {
	rest, log := e.beyond(func(r int) float64 { return b * z[r] })
	var c column
	rest.column(nil, x, &c)
	return log + c.log(math.Inf(-1))
}

// beyond returns the evidence of a further source where the means are known already, and the log
// likelihood of these against no source.
func (e *faultyEvidence) beyond(mean func(row int) float64) (rest *faultyEvidence, log float64) {
	rest = &faultyEvidence{y: make([]float64, len(e.y)), of: e.of, sensors: make([]sensor, len(e.sensors)), unit: e.unit, at: e.at, w: e.w}
	for r, v := range e.y {
		rest.y[r] = v - mean(r)
	}
	e.exponents(mean, func(s int, t float64) { rest.sensors[s] = newSensor(e.sensors[s].log.moved(t)) })
	return rest, e.product(mean)
}

// product returns the log likelihood of some means against none.
func (e *faultyEvidence) product(mean func(row int) float64) float64 {
	p := ratios{factor: 1}
	e.exponents(mean, func(s int, t float64) { p.times(&e.sensors[s], t) })
	return p.value()
}

// exponents calls f for each sensor with its exponent of some means.
func (e *faultyEvidence) exponents(mean func(row int) float64, f func(s int, t float64)) {
	for r := 0; r < len(e.y); {
		s, t := e.of[r], 0.0
		for ; r < len(e.y) && e.of[r] == s; r++ {
			x := mean(r)
			t += x * (e.y[r] - x/2)
		}
		f(s, t)
	}
}

// NewPairs returns the posterior over all pairs of nodes: with the Gram matrix G = AᵀA, the log likelihood
// of amplitudes a at i and b at j is a·c_i + b·c_j − (a²G_ii + b²G_jj)/2 − ab·G_ij up
// to a constant. opts.Norms is ignored. It returns [ErrWork] where there are too many
// pairs, or, where sensors may be broken, too many that matter.
func NewPairs(ctx context.Context, d measurement.Data, opts Options) (*Pairs, error) {
	_, n := d.A.Dims()
	switch {
	case n < 2:
		return nil, fmt.Errorf("%w: pairs among %d node", ErrInvalid, n)
	case n > pairLimit:
		return nil, fmt.Errorf("%w: pairs among %d nodes", ErrWork, n)
	}
	if opts.Faults.Rate != 0 {
		return newFaultyPairs(ctx, d, opts)
	}
	opts.Norms = nil // exact ones
	c, norms, logPrior, err := sufficient(ctx, d, opts)
	if err != nil {
		return nil, err
	}
	p, logMass, err := newPairs(logPrior)
	if err != nil {
		return nil, err
	}
	if err := p.weigh(ctx, d, newEvidence(opts.Amplitude), c, norms.N, logPrior); err != nil {
		return nil, err
	}
	p.normalize(logMass)
	return p, nil
}

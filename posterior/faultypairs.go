// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/linop"
	"github.com/graphcloak/graphcloak/measurement"
)

// faultyPairWork bounds pairs times measurements for which every pair is evaluated where sensors may
// be broken: where a source explains the measurements few pairs matter, so that it is seconds.
const faultyPairWork = 2_500_000

// faultyPairLikelihoods bounds the likelihoods of sensors that the integrals over both amplitudes of the
// pairs that matter take: some ten seconds.
const faultyPairLikelihoods = 200_000_000

// ErrWork is returned by [NewPairs] where sensors may be broken and so many pairs matter, as where no
// source explains the measurements, that weighing them would take minutes: use [NewSample].
var ErrWork = errors.New("posterior: too much work")

// ExactPairs reports whether [NewPairs] takes measurements of this size; beyond it use
// [NewSample].
func ExactPairs(d measurement.Data, f Faults) bool {
	m, n := d.A.Dims()
	if n < 2 || n > PairLimit {
		return false
	}
	return f.Rate == 0 || n*(n-1)/2*m <= faultyPairWork && linop.HoldsEntries(d.A)
}

// newFaultyPairs is the posterior over all pairs where sensors may be broken: at each amplitude of
// the second source the evidence of the first is that of one source, given the second.
func newFaultyPairs(ctx context.Context, d measurement.Data, opts Options) (*Pairs, error) {
	m, n := d.A.Dims()
	if !ExactPairs(d, opts.Faults) {
		return nil, fmt.Errorf("%w: pairs among %d nodes with %d sensors that may be broken", ErrInvalid, n, m)
	}
	f, err := prepareFaulty(d, opts)
	if err != nil {
		return nil, err
	}
	logCount := logDistinct(f.logPrior, 2)
	if math.IsInf(logCount, -1) {
		return nil, fmt.Errorf("%w: the prior leaves no two nodes", ErrInvalid)
	}
	e := f.newPairs(n, m)
	if err := e.weigh(ctx); err != nil {
		return nil, err
	}
	p := &Pairs{n: n, p: e.weight, Probability: make([]float64, n)}
	p.normalize(logCount - math.Ln2)
	return p, nil
}

// faultyPairs weighs pairs of nodes.
type faultyPairs struct {
	*faulty
	columns []float64 // Aᵀ, n × m
	pairs   [][2]int
	weight  []float64 // log evidence and prior of each pair
}

func (f *faulty) newPairs(n, m int) *faultyPairs {
	e := &faultyPairs{faulty: f, columns: make([]float64, n*m), weight: make([]float64, n*(n-1)/2)}
	nodes := make([]int, n)
	for i := range nodes {
		nodes[i] = i
	}
	linop.ColumnsTo(f.d.A, e.columns, nodes)
	for j := range n {
		for i := range j {
			e.pairs = append(e.pairs, [2]int{i, j})
		}
	}
	return e
}

// weigh sets the weights. Pairs that are more than [negligible] below the best have an upper
// bound; [ErrWork] where the others would take too long.
func (e *faultyPairs) weigh(ctx context.Context) error {
	order := make([]int, len(e.pairs))
	for k := range order {
		order[k] = k
	}
	if err := e.set(ctx, order, e.pairBound); err != nil {
		return err
	}
	slices.SortStableFunc(order, func(a, b int) int { return compareDown(e.weight[a], e.weight[b]) })
	first := order[:min(firstNodes, len(order))]
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
		return fmt.Errorf("%w: %d pairs of nodes matter, and would take %.2g likelihoods of sensors, above %.2g", ErrWork, len(list), w, float64(faultyPairLikelihoods))
	}
	return nil
}

// work returns the number of likelihoods of a sensor that it takes to integrate over both amplitudes of
// some pairs, as their columns alone tell it.
func (e *faultyPairs) work(list []int) (sum float64) {
	m := len(e.sensors)
	inner, outer := make([]float64, len(e.logPrior)), make([]float64, len(e.logPrior))
	for i := range inner {
		column := e.columns[i*m : (i+1)*m]
		norm := floats.Norm(column, 2)
		inner[i] = 1 + panelNodes*min(math.Ceil(norm/panelWidth), 2*directPanels) // of more, most are negligible
		outer[i] = 1 + panelNodes*float64(len(e.pairCuts(column))-1)
	}
	for _, k := range list {
		i, j := e.pairs[k][0], e.pairs[k][1]
		sum += inner[i] * outer[j] * float64(m)
	}
	return sum
}

// set sets the weights of pairs by the log evidence of their columns.
func (e *faultyPairs) set(ctx context.Context, list []int, log func(x, z []float64) float64) error {
	m := len(e.sensors)
	of := func(i int) []float64 { return e.columns[i*m : (i+1)*m] }
	return inBlocks(ctx, len(list), func(from, to int) {
		for _, k := range list[from:to] {
			i, j := e.pairs[k][0], e.pairs[k][1]
			e.weight[k] = log(of(i), of(j)) + (e.logPrior[i] + e.logPrior[j])
		}
	})
}

// pairBound bounds the log likelihood of two sources: the mean of each sensor is between 0 and the
// sum of both entries.
func (e *faultyEvidence) pairBound(x, z []float64) float64 {
	p := newRatios()
	for s := range e.sensors {
		t := &e.sensors[s]
		low, high := min(0, x[s])+min(0, z[s]), max(0, x[s])+max(0, z[s])
		p.times(t, min(max(t.y, low), high))
	}
	return e.mixed(&p)
}

// pair returns the log evidence of two sources with the columns x and z.
func (e *faultyEvidence) pair(x, z []float64) float64 {
	var terms []float64
	if e.prior.one > 0 {
		terms = append(terms, math.Log(e.prior.one)+e.given(x, z, 1))
	}
	if e.prior.even > 0 {
		cuts := e.pairCuts(z)
		for k := 1; k < len(cuts); k++ {
			from, width := cuts[k-1], cuts[k]-cuts[k-1]
			for q, t := range e.at {
				terms = append(terms, math.Log(e.prior.even*width*e.w[q])+e.given(x, z, from+t*width))
			}
		}
	}
	return logSum(terms)
}

// pairCuts cuts [0, 1] into parts no wider than panelWidth/√N, and finer towards the ends, where
// the evidence may fall as steeply as all sensors together make it.
func (e *faultyEvidence) pairCuts(z []float64) []float64 {
	norm, slope := 0.0, 1.0
	for s, v := range z {
		norm += v * v
		slope += math.Abs(v) * (math.Abs(e.sensors[s].y) + math.Abs(v))
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
	rest, log := e.beyond(func(s int) float64 { return b * z[s] })
	var c column
	rest.column(x, &c)
	return log + c.log(math.Inf(-1))
}

// mixed returns the log likelihood of products.
func (e *faultyEvidence) mixed(p *ratios) float64 {
	var logs [maxStates]float64
	for k := range e.logStates {
		logs[k] = p.value(k)
	}
	return e.mix(&logs)
}

// beyond returns the evidence of a further source where the means are known already, and the log
// likelihood of these against no source.
func (e *faultyEvidence) beyond(mean func(row int) float64) (rest *faultyEvidence, log float64) {
	n := len(e.logStates)
	rest = &faultyEvidence{sensors: make([]sensor, len(e.sensors)), logStates: make([]float64, n), prior: e.prior, faint: e.faint, at: e.at, w: e.w}
	p := newRatios()
	for s := range e.sensors {
		x := mean(s)
		rest.sensors[s] = e.sensors[s].beyond(x, n)
		p.times(&e.sensors[s], x)
	}
	log = e.mixed(&p)
	for k, l := range e.logStates {
		rest.logStates[k] = l + p.value(k) - log
	}
	return rest, log
}

// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/linop"
	"github.com/graphcloak/graphcloak/measurement"
)

// faultyPairWork bounds pairs times measurements for which every pair is evaluated where sensors may
// be broken: each takes some hundred likelihoods, so that it is seconds.
const faultyPairWork = 2_500_000

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
	columns := make([]float64, n*m)
	nodes := make([]int, n)
	for i := range nodes {
		nodes[i] = i
	}
	linop.ColumnsTo(d.A, columns, nodes)
	p := &Pairs{n: n, p: make([]float64, n*(n-1)/2), Probability: make([]float64, n)}
	var pairs [][2]int
	for j := range n {
		for i := range j {
			pairs = append(pairs, [2]int{i, j})
		}
	}
	of := func(i int) []float64 { return columns[i*m : (i+1)*m] }
	prior := func(k int) float64 { return f.logPrior[pairs[k][0]] + f.logPrior[pairs[k][1]] }
	err = inBlocks(ctx, len(pairs), func(from, to int) {
		for k := from; k < to; k++ {
			p.p[k] = f.pairBound(of(pairs[k][0]), of(pairs[k][1])) + prior(k)
		}
	})
	if err != nil {
		return nil, err
	}
	order := make([]int, len(pairs))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return compareDown(p.p[a], p.p[b]) })
	settle := func(list []int) error {
		return inBlocks(ctx, len(list), func(from, to int) {
			for _, k := range list[from:to] {
				p.p[k] = f.pair(of(pairs[k][0]), of(pairs[k][1])) + prior(k)
			}
		})
	}
	first := order[:min(firstNodes, len(order))]
	if err := settle(first); err != nil {
		return nil, err
	}
	floor := math.Inf(-1)
	for _, k := range first {
		floor = max(floor, p.p[k])
	}
	rest := slices.DeleteFunc(slices.Clone(order[len(first):]), func(k int) bool { return !(p.p[k] >= floor-negligible) })
	if err := settle(rest); err != nil {
		return nil, err
	}
	p.normalize(logCount - math.Ln2)
	return p, nil
}

// pairBound bounds the log likelihood of two sources: the mean of each sensor is between 0 and the
// sum of both entries.
func (e *faultyEvidence) pairBound(x, z []float64) float64 {
	p := product{factor: 1}
	for s, t := range e.sensors {
		low, high := min(0, x[s])+min(0, z[s]), max(0, x[s])+max(0, z[s])
		p.likelihood(&t, min(max(t.y, low), high))
	}
	return p.value()
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
	rest := &faultyEvidence{sensors: make([]sensor, len(e.sensors)), prior: e.prior, at: e.at, w: e.w}
	p := product{factor: 1}
	for s, t := range e.sensors {
		mean := b * z[s]
		rest.sensors[s] = t.beyond(mean)
		p.likelihood(&t, mean)
	}
	var c column
	rest.column(x, &c)
	return p.value() + c.log(math.Inf(-1))
}

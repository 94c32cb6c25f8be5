// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// secondDraws is the number of draws of one source that another is added to.
const secondDraws = 64

// Second estimates the log evidence of two sources against one: the mean, over independent draws
// from the posterior of one source, of the evidence of a further one beside it. It takes a
// product of AᵀA for each node that is drawn, where [NewPairs] weighs every pair. It is
// −Inf where the prior leaves no two nodes, and [ErrInvalid] where sensors may be broken. The seed is fixed: the same data
// give the same bits.
func Second(ctx context.Context, d measurement.Data, opts Options) (float64, error) {
	if opts.Faults.Rate != 0 {
		return 0, errFaultyPairs
	}
	c, norms, logPrior, err := sufficient(ctx, d, opts)
	if err != nil {
		return 0, err
	}
	logTwo := logDistinct(logPrior) // of the prior mass of two different nodes
	if math.IsInf(logTwo, -1) {
		return logTwo, nil
	}
	e, columns, random := newEvidence(opts.Amplitude), map[int][]float64{}, rand.New(rand.NewPCG(0, 0)) // columns of AᵀA
	logs, sums, rest := make([]float64, secondDraws), cumulative(e.weights(c, norms.N, logPrior)), make([]float64, len(c))
	for k := range logs {
		z := drawn(sums, random)
		if columns[z] == nil {
			columns[z] = make([]float64, len(c))
			d.A.MulVecTo(columns[z], true, columnOf(d, z))
		}
		w := e.weights(floats.AddScaledTo(rest, c, -e.draw(c[z], norms.N[z], random), columns[z]), norms.N, logPrior)
		w[z] = math.Inf(-1)
		if logs[k] = logSum(w); ctx.Err() != nil {
			return 0, ctx.Err()
		}
	}
	return logMean(logs) - logTwo, nil // Σ π = 1
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

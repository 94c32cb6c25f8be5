// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/graphcloak/graphcloak/measurement"
)

// secondSweeps and secondBurn are the draws of one source that [Second] adds another to,
// and those before: without faults every draw is from the posterior itself.
const (
	secondSweeps = 64
	secondBurn   = 8
)

// Second estimates the log evidence of two sources against one: the mean, over sources
// drawn from the posterior of one, of the evidence of a further one beside it. It takes a
// product of AᵀA for each node that is drawn, where [NewPairs] weighs every pair; where
// sensors may be broken, the posterior of one source for each of fewer draws. It is
// −Inf where the prior leaves no two nodes, and [ErrInvalid] where [KnowsEvidence] is false. The seed is fixed: the same data give the same bits.
func Second(ctx context.Context, d measurement.Data, opts Options) (float64, error) {
	if _, n := d.A.Dims(); n < 2 {
		return 0, fmt.Errorf("%w: two sources on %d node", ErrInvalid, n)
	}
	c, norms, logPrior, err := sufficient(ctx, d, opts)
	if err != nil {
		return 0, err
	}
	two := logDistinct(logPrior, 2)
	if math.IsInf(two, -1) {
		return two, nil
	}
	g := gibbs{d: d, c: c, norms: norms.N, logPrior: logPrior, e: newEvidence(opts.Amplitude), cache: map[int][]float64{}, memory: cacheMemory}
	at, err := g.chain(ctx, SampleOptions{Options: opts, Sources: 1, Sweeps: secondSweeps, evidence: true})
	if err != nil {
		return 0, err
	}
	at.start(1, rand.New(rand.NewPCG(0, 0)))
	var logs []float64
	for t := range secondBurn + secondSweeps {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		at.sweep(ctx)
		if t >= secondBurn {
			logs = append(logs, at.added(ctx)...)
		}
	}
	return logMean(logs) - two, ctx.Err() // Σ π = 1
}

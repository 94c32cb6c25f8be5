// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/measurement"
)

// Count is the posterior of the number of sources.
type Count struct {
	LogEvidence []float64 // of k = 0, 1, … sources, against none
	Probability []float64 // under a flat prior on k
	RHat, ESS   float64   // the worst of the samplers that were needed; 1 and +Inf for none
}

// Best returns the most probable number.
func (c *Count) Best() int { return floats.MaxIdx(c.Probability) }

// NewCount returns the posterior of the number of sources, 0 to most: the evidence is exact
// for one, exact for two where [ExactPairs] says so and [NewPairs] does not end with [ErrWork], and by
// bridge sampling for each further number, up to the number of nodes with prior > 0.
// opts.Sources is not used. It returns [ErrInvalid] for more than one where [KnowsEvidence] is false.
func NewCount(ctx context.Context, d measurement.Data, most int, opts SampleOptions) (*Count, error) {
	_, n := d.A.Dims()
	if most < 1 || most >= n {
		return nil, fmt.Errorf("%w: up to %d sources among %d nodes, want 1 to %d", ErrInvalid, most, n, n-1)
	}
	logPrior, err := logWeights(opts.Prior, n)
	if err != nil {
		return nil, err
	}
	possible := 0 // nodes that the prior allows
	for _, v := range logPrior {
		if !math.IsInf(v, -1) {
			possible++
		}
	}
	most = min(most, possible)
	one, err := New(ctx, d, opts.Options)
	if err != nil {
		return nil, err
	}
	c := &Count{LogEvidence: []float64{0, one.LogPresence}, RHat: 1, ESS: math.Inf(1)}
	opts.evidence = true
	if most > 1 && ExactPairs(d, opts.Faults) {
		two, err := NewPairs(ctx, d, opts.Options)
		switch {
		case err == nil:
			c.LogEvidence = append(c.LogEvidence, two.LogPresence)
		case !errors.Is(err, ErrWork):
			return nil, err
		}
	}
	var before *Sample
	for k := len(c.LogEvidence) - 1; k <= most && len(c.LogEvidence) <= most; k++ {
		opts.Sources = k
		s, err := NewSample(ctx, d, opts)
		if err != nil {
			return nil, err
		}
		c.RHat, c.ESS = max(c.RHat, s.RHat), min(c.ESS, s.ESS)
		if before != nil {
			step := bridge(before.added, s.moved) + logDistinct(logPrior, k-1) - logDistinct(logPrior, k)
			c.LogEvidence = append(c.LogEvidence, c.LogEvidence[k-1]+step)
		}
		before = s
	}
	total := logSum(c.LogEvidence)
	c.Probability = make([]float64, len(c.LogEvidence))
	for k, l := range c.LogEvidence {
		c.Probability[k] = math.Exp(l - total)
	}
	return c, nil
}

// bridge returns the log of Z_{k+1}/Z_k by Bennett's acceptance ratio. Let R be the
// evidence ratio of adding a source to k given ones. The mean of R over the posterior of k
// sources is Z_{k+1}/Z_k; the mean of 1/R over the posterior of k + 1, with one source
// removed, is the inverse. Either mean alone has heavy tails. The result x solves
//
//	mean 1/(1 + e^{x−added}) = mean 1/(1 + e^{moved−x}),
//
// where added holds log R under k sources, and moved under k + 1 with each source removed
// in turn.
func bridge(added, moved []float64) float64 {
	lo := min(floats.Min(added), floats.Min(moved))
	hi := max(floats.Max(added), floats.Max(moved))
	for range 60 {
		x, up, down := (lo+hi)/2, 0.0, 0.0
		for _, v := range added {
			up += 1 / (1 + math.Exp(x-v))
		}
		for _, v := range moved {
			down += 1 / (1 + math.Exp(v-x))
		}
		if up/float64(len(added)) > down/float64(len(moved)) {
			lo = x
		} else {
			hi = x
		}
	}
	return (lo + hi) / 2
}

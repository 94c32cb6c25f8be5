// SPDX-License-Identifier: Apache-2.0

package study

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/linop"
	"github.com/graphcloak/graphcloak/posterior"
	"github.com/graphcloak/graphcloak/report"
)

// breakdownWork bounds trials times nodes times sensors, so that it takes seconds.
const breakdownWork = 2_500_000

// ErrNoBreakdown says that a breakdown point is not to be had: the graph is too large, or no simulated
// answer was right.
var ErrNoBreakdown = errors.New("study: no breakdown point")

// BreakdownOf simulates sources of amplitude 1 under a plan, at most trials of them, and brackets
// the breakdown point of each right answer. It returns [ErrNoBreakdown],
// [recovery.ErrInvalid], and the errors of [Evaluate].
func BreakdownOf(ctx context.Context, m *graphcloak.Model, p *graphcloak.Plan, opts analyst.Options, sample Sample) (*report.Breakdown, error) {
	n, sensors := m.Graph.Order(), len(p.Sensors)
	trials := min(sample.Trials, breakdownWork/max(1, n*sensors))
	if trials < 1 || n > analyst.DenseLimit {
		return nil, fmt.Errorf("%w: %d sensors on a graph of %d nodes take too long", ErrNoBreakdown, sensors, n)
	}
	if err := analyst.CheckFaultRate(opts.FaultRate); err != nil {
		return nil, err
	}
	rate := analyst.DefaultFaultRate // where none is supposed, one lie decides
	if opts.FaultRate != nil && *opts.FaultRate > 0 {
		rate = *opts.FaultRate
	}
	part, err := m.Partition(ctx)
	if err != nil {
		return nil, err
	}
	s, err := newEvaluator(ctx, m, Options{Trials: trials, Seed: sample.Seed, Amplitude: 1, Recover: opts})
	if err != nil {
		return nil, err
	}
	w, err := m.Operator().Whiten(ctx, measurements(p))
	if err != nil {
		return nil, err
	}
	o := posterior.Options{Amplitude: opts.Amplitude, Prior: s.prior, Faults: posterior.Faults{Rate: rate}}
	for _, x := range p.Sensors {
		o.Faults.Low, o.Faults.High = append(o.Faults.Low, p.Clip.Lo/x.Sigma()), append(o.Faults.High, p.Clip.Hi/x.Sigma())
	}
	sources, _ := s.draw()
	found := make([]*posterior.Breakdown, trials)
	err = parallel(ctx, trials, func(t int) error {
		d := w.Data
		d.Y = make([]float64, sensors)
		linop.ColumnsTo(d.A, d.Y, sources[t:t+1])
		random := rand.New(rand.NewPCG(^s.opts.Seed, uint64(t)))
		for k := range d.Y {
			d.Y[k] += random.NormFloat64()
		}
		post, err := posterior.New(ctx, d, o)
		if err != nil {
			return err
		}
		if floats.MaxIdx(part.Sums(post.Probability)) == part.Labels[sources[t]] {
			found[t], err = posterior.NewBreakdown(ctx, d, o, part.Labels)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return summarizeBreakdowns(found, rate)
}

// measurements are the sensors of a plan, whose values are all 0.
func measurements(p *graphcloak.Plan) (in analyst.Measurements) {
	for _, x := range p.Sensors {
		in.Nodes, in.Sigmas, in.Values = append(in.Nodes, x.Node), append(in.Sigmas, x.Sigma()), append(in.Values, 0)
	}
	return in
}

// summarizeBreakdowns leaves out nil, of wrong answers.
func summarizeBreakdowns(found []*posterior.Breakdown, rate float64) (*report.Breakdown, error) {
	var least, most []float64
	for _, b := range found {
		if b != nil {
			least, most = append(least, float64(b.AtLeast)), append(most, float64(b.AtMost))
		}
	}
	if len(least) == 0 {
		return nil, fmt.Errorf("%w: none of %d simulated answers was right", ErrNoBreakdown, len(found))
	}
	slices.Sort(least)
	slices.Sort(most)
	return &report.Breakdown{FaultRate: rate, Answers: len(least), AtLeast: liars(least), AtMost: liars(most)}, nil
}

// liars are the quantiles of ascending numbers.
func liars(x []float64) report.Liars {
	return report.Liars{Tenth: int(quantile(x, .1)), Median: int(quantile(x, .5))}
}

// SPDX-License-Identifier: Apache-2.0

package study

import (
	"context"
	"fmt"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/report"
)

// DefaultTrials is the number of simulated releases behind an expected accuracy, and ChanceTrials that where these do not tell it
// from chance.
const (
	DefaultTrials = 200
	ChanceTrials  = 1000
)

// Sample is what an expected accuracy is simulated from.
type Sample struct {
	Trials int    // simulated releases
	Most   int    // where so many do not tell the plan from chance: as many as this; 0: Trials
	Seed   uint64 // of sources and noise: the same seed, the same bits
}

// Expect simulates how often the right community would be named under the plan,
// and under uniform noise with the same guarantee, and what no mechanism with this
// guarantee exceeds, and says so in the plan. On graphs of
// more than 6,000 nodes it does nothing; [Evaluate] takes them.
// It returns [recovery.ErrInvalid] for fewer than one trial, [limit.ErrInvalid] for an α out
// of range, and the errors of [Evaluate].
func Expect(ctx context.Context, m *plan.Model, p *plan.Plan, opts analyst.Options, sample Sample) error {
	if m.Graph.Order() > analyst.DenseLimit {
		return nil
	}
	if err := m.Matches(p.Plan); err != nil {
		return err
	}
	s, err := newExpectation(ctx, m, opts, sample)
	if err != nil {
		return err
	}
	p.AddPublicProperties(m.PublicProperties()...)
	if p.Communities, err = m.PlannedCommunities(ctx); err != nil {
		return err
	}
	if p.Accuracy, err = s.accuracy(ctx, p.Plan); err != nil {
		return err
	}
	s.opts.Trials, s.most = p.Accuracy.Trials, 0 // the same for uniform noise
	if p.Accuracy.Limit, err = s.limit(ctx, p.Plan); err != nil {
		return err
	}
	uniform, err := m.UniformPlan(p)
	if uniform == nil || err != nil {
		return err
	}
	a, err := s.accuracy(ctx, uniform)
	if err != nil {
		return err
	}
	a.Communities = nil // of the plan alone
	p.Allocated.Uniform.Accuracy = a
	return nil
}

// LargeAccuracy simulates the plan as [Expect] does, on graphs of any size and without uniform noise beside it, and
// leaves it as it is. Beyond 6,000 nodes a trial takes two products and a posterior, and the
// column norms before them up to a thousand products. It returns [ErrLong] where these are estimated, from sizes alone, to take one
// processor of the 2020s longer than limit: the same is simulated, or is not, on every machine.
func LargeAccuracy(ctx context.Context, m *plan.Model, p *plan.Plan, opts analyst.Options, sample Sample,
	limit time.Duration,
) (*report.Accuracy, error) {
	if err := affordable(m, p, sample.Trials, false, limit); err != nil {
		return nil, err
	}
	return simulatedAccuracy(ctx, m, p, opts, sample)
}

func simulatedAccuracy(ctx context.Context, m *plan.Model, p *plan.Plan, opts analyst.Options,
	sample Sample,
) (*report.Accuracy, error) {
	s, err := newExpectation(ctx, m, opts, sample)
	if err != nil {
		return nil, err
	}
	return s.accuracy(ctx, p.Plan)
}

// newExpectation simulates sources of amplitude 1. Every plan sees the same sources and the
// same random numbers.
func newExpectation(ctx context.Context, m *plan.Model, opts analyst.Options, sample Sample) (*evaluator, error) {
	if sample.Trials < 1 {
		return nil, fmt.Errorf("%w: %d simulated releases, want at least 1", recovery.ErrInvalid, sample.Trials)
	}
	s, err := newEvaluator(ctx, m, Options{Trials: sample.Trials, Seed: sample.Seed, Amplitude: 1, Recover: opts})
	if err != nil {
		return nil, err
	}
	s.commonNoise, s.most = true, sample.Most
	return s, nil
}

// accuracy simulates one plan, and more of it where its trials do not tell it from chance.
func (s *evaluator) accuracy(ctx context.Context, p *privacy.Plan) (*report.Accuracy, error) {
	r, err := s.newSimulation(ctx, p)
	if err != nil {
		return nil, err
	}
	sources, amplitudes := s.draw(max(s.opts.Trials, s.most))
	trials := make([]Trial, len(sources))
	for from, n := 0, s.opts.Trials; ; from, n = n, len(trials) {
		if err := r.runFrom(ctx, "simulate", trials[:n], from, sources, amplitudes); err != nil {
			return nil, err
		}
		if a := s.accuracyOf(trials[:n]); n == len(trials) || !a.AtChance() {
			return a, nil
		}
	}
}

// accuracyOf sums up trials.
func (s *evaluator) accuracyOf(trials []Trial) *report.Accuracy {
	a := report.Accuracy{Trials: len(trials), Chance: floats.Max(s.part.Sums(s.prior))}
	right, n := 0, float64(len(trials))
	for _, t := range trials {
		right += indicator(t.Right)
		a.MeanEMD += t.Distance / n
		a.Elsewhere += t.Elsewhere / n
		a.CredibleSetSize += float64(t.CredibleSetSize) / n
		a.KnownMassSetSize += float64(t.KnownMassSetSize) / n
	}
	rate := proportion(right, len(trials))
	a.Probability, a.Lower, a.Upper = rate.Rate, rate.Lower, rate.Upper
	a.Communities = byCommunity(trials, s.part)
	return &a
}

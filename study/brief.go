// SPDX-License-Identifier: Apache-2.0

package study

import (
	"context"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/report"
)

// A brief simulation is looked at after firstLook trials and after every nextLook more. It ends at a look where so many right ones,
// or more, or so many, or fewer, have a probability of at most lookError if the plan is right with [report.Half]: with three looks
// before the last, it ends on the wrong side with a probability of at most 1.5 %.
const (
	firstLook = report.LeastTrials
	nextLook  = 10
	lookError = .005
)

// BriefTrials is the greatest number of trials of [BriefAccuracy].
const BriefTrials = 50

// BriefAccuracy simulates so many releases, 20 to [BriefTrials], as are needed to know on which side of [report.Half] a plan is.
// Of the accuracy it has Probability with its interval, Chance and Trials. It returns [ErrLong] where the work is foreseen to take
// longer than limit, as [LargeAccuracy] does, or beyond 10,000 nodes the column norms take more than [briefProducts] products.
func BriefAccuracy(ctx context.Context, m *graphcloak.Model, p *graphcloak.Plan, opts analyst.Options, seed uint64, limit time.Duration) (*report.Accuracy, error) {
	if err := affordable(m, p, BriefTrials, true, limit); err != nil {
		return nil, err
	}
	s, err := newExpectation(ctx, m, opts, Sample{Trials: BriefTrials, Seed: seed})
	if err != nil {
		return nil, err
	}
	s.brief, s.normsOf = true, briefNorms
	r, err := s.newSimulation(ctx, p.Plan)
	if err != nil {
		return nil, err
	}
	return r.untilDecided(ctx)
}

func (r *simulation) untilDecided(ctx context.Context) (*report.Accuracy, error) {
	a := &report.Accuracy{Chance: floats.Max(r.part.Sums(r.prior))}
	sources, amplitudes := r.draw()
	trials, right := make([]Trial, len(sources)), 0
	for n := min(firstLook, len(trials)); ; n = min(n+nextLook, len(trials)) {
		if err := r.runFrom(ctx, "simulate", trials[:n], a.Trials, sources, amplitudes); err != nil {
			return nil, err
		}
		for _, t := range trials[a.Trials:n] {
			right += indicator(t.Right)
		}
		a.Trials = n
		if n == len(trials) || decided(right, n, report.Half(a.Chance)) {
			rate := proportion(right, n)
			a.Probability, a.Lower, a.Upper = rate.Rate, rate.Lower, rate.Upper
			return a, nil
		}
	}
}

// decided reports whether k of n are too many or too few for a probability of p.
func decided(k, n int, p float64) bool {
	b := distuv.Binomial{N: float64(n), P: p}
	return b.CDF(float64(k)) <= lookError || 1-b.CDF(float64(k-1)) <= lookError
}

// SPDX-License-Identifier: Apache-2.0

package study

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/report"
)

// A brief simulation is looked at after firstLook trials and after every nextLook more. It ends at a look where so many right ones,
// or more, or so many, or fewer, have a probability of at most lookError if the plan is right with [report.Half]: with three looks
// before the last, it ends on the wrong side with a probability of at most 1.5 %. Where it is not told from chance by then it is
// looked at whenever its trials have doubled.
const (
	firstLook   = report.LeastTrials
	nextLook    = 10
	lookError   = .005
	briefTrials = 50
)

// outlookTime is what [RefuseAtChance] simulates for, of one processor, estimated from sizes.
const outlookTime = 10 * time.Second

// ErrAtChance says that simulation does not tell a plan from chance: see [report.Accuracy.AtChance].
var ErrAtChance = errors.New("study: the answer cannot be told from chance")

// RefuseAtChance returns [ErrAtChance] for a plan that [Outlook] does not tell from chance: as [run.Job].Planned it ends a run
// before anything is spent. Where the simulation would take more than about ten seconds of one processor it refuses nothing.
func RefuseAtChance(ctx context.Context, m *plan.Model, p *plan.Plan, opts analyst.Options) error {
	a, err := Outlook(ctx, m, p, opts, 0, outlookTime)
	if errors.Is(err, ErrLong) || errors.Is(err, plan.ErrMemory) {
		return nil
	}
	if err == nil && a.AtChance() {
		err = AtChance(a)
	}
	return err
}

// AtChance is [ErrAtChance] with the accuracy that says so.
func AtChance(a *report.Accuracy) error {
	return fmt.Errorf("%w: right %s of the time (95 %% interval %.0f to %.0f %%, from %d simulated runs), chance %s",
		ErrAtChance, report.Percent(a.Probability), 100*a.Lower, 100*a.Upper, a.Trials, report.Percent(a.Chance))
}

// Outlook simulates what a run would be worth before it spends. Up to 6,000 nodes it is the accuracy of [Expect] by [DefaultTrials],
// or by [ChanceTrials] where these do not tell it from chance, and by fewer where limit affords no more. Beyond, it has Probability
// with its interval, Chance and Trials only, of as many trials as are needed to know on which side of [report.Half] the plan is, and
// whether it is better than chance. It returns [ErrLong] where the work is estimated, from sizes alone, to take one processor of the
// 2020s longer than limit, or beyond 10,000 nodes the column norms take more than [briefProducts] products.
func Outlook(ctx context.Context, m *plan.Model, p *plan.Plan, opts analyst.Options, seed uint64,
	limit time.Duration,
) (*report.Accuracy, error) {
	small := m.Graph.Order() <= analyst.DenseLimit
	most, err := mostTrials(m, p, ChanceTrials, !small, limit)
	switch {
	case err != nil:
		return nil, err
	case small && most >= report.LeastTrials:
		return simulatedAccuracy(ctx, m, p, opts, Sample{Trials: min(DefaultTrials, most), Most: most, Seed: seed})
	case small || most < briefTrials:
		return nil, ErrLong
	}
	s, err := newExpectation(ctx, m, opts, Sample{Trials: most, Seed: seed})
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
	sources, amplitudes := r.draw(r.opts.Trials)
	trials := make([]Trial, len(sources))
	for from, n := 0, min(firstLook, len(trials)); ; from, n = n, nextTrials(n, len(trials)) {
		if err := r.runFrom(ctx, "simulate", trials[:n], from, sources, amplitudes); err != nil {
			return nil, err
		}
		a := r.accuracyOf(trials[:n])
		right := 0
		for _, t := range trials[:n] {
			right += indicator(t.Right)
		}
		if n == len(trials) || !a.AtChance() && (n >= briefTrials || decided(right, n, report.Half(a.Chance))) {
			return &report.Accuracy{Probability: a.Probability, Lower: a.Lower, Upper: a.Upper, Chance: a.Chance, Trials: n}, nil
		}
	}
}

// nextTrials is the number of trials at the look after that at n, of most.
func nextTrials(n, most int) int {
	if n < briefTrials {
		return min(n+nextLook, most)
	}
	return min(2*n, most)
}

// decided reports whether k of n are too many or too few for a probability of p.
func decided(k, n int, p float64) bool {
	b := distuv.Binomial{N: float64(n), P: p}
	return b.CDF(float64(k)) <= lookError || 1-b.CDF(float64(k-1)) <= lookError
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/study"
)

// largeTime is how long `plan` simulates for its reader, of one processor, on a graph that is too large for a simulation of its own.
const largeTime = 60 * time.Second

// largeAccuracy is the accuracy of a plan: its own, or where neither it nor a search has one, by simulation of few trials. Where that
// is estimated to take long, or more memory than there is, a note says how it is found out. Communities are waited for as long as they
// take: every answer needs them.
func (a *app) largeAccuracy(ctx context.Context, m *graphcloak.Model, p *graphcloak.Plan, opts analyst.Options,
	trials int,
) (*report.Accuracy, error) {
	if trials == 0 || simulated(p) || m.Graph.Order() <= analyst.DenseLimit {
		return p.Accuracy, nil
	}
	accuracy, err := study.Outlook(ctx, m.Model, p, opts, study.Sample{Trials: min(trials, study.LargeTrials)}, largeTime)
	return a.orNote(accuracy, err, largeTime, "`graphcloak evaluate --trials 20` with these flags takes the time")
}

// outlook is the accuracy that a run is judged by before it spends: that of the plan, or of its search, or simulated.
func (a *app) outlook(ctx context.Context, m *graphcloak.Model, p *graphcloak.Plan, opts analyst.Options) (*report.Accuracy, error) {
	part, err := m.Partition(ctx)
	if err != nil || part.Count == 1 { // which is said without it
		return nil, err
	}
	if x := p.Accuracy; x != nil && !x.Few() && (!x.AtChance() || x.Trials >= study.ChanceTrials) {
		return x, nil
	}
	found, hopeless := rough(m, p, part), p.TauChoice != nil && p.TauChoice.Hopeless
	if m.Graph.Order() > analyst.DenseLimit && simulated(p) && !hopeless && !found.AtChance() {
		return nil, nil
	}
	accuracy, err := study.Outlook(ctx, m.Model, p, opts, study.Sample{Trials: study.DefaultTrials, Most: study.ChanceTrials}, adviceTime)
	if found != nil && !found.Few() && (errors.Is(err, study.ErrLong) || errors.Is(err, plan.ErrMemory)) {
		return found, nil
	}
	return a.orNote(accuracy, err, adviceTime, "`graphcloak plan` takes the time")
}

// simulated reports whether a plan, or the search for it, says how accurate it is.
func simulated(p *graphcloak.Plan) bool {
	return p.Accuracy != nil || p.TauChoice != nil || p.Searched() != nil
}

// orNote is an accuracy, or a note on why there is none and what finds it out.
func (a *app) orNote(accuracy *report.Accuracy, err error, limit time.Duration, otherwise string) (*report.Accuracy, error) {
	if errors.Is(err, study.ErrLong) || errors.Is(err, plan.ErrMemory) {
		a.note("Note: how often the answer would be right was not simulated: on this graph it takes a processor more than about %s, or "+
			"more memory; %s", limit, otherwise)
		return nil, nil
	}
	return accuracy, err
}

// What is simulated before a run spends takes no more than adviceTime of one processor, and what is planned to that end no more than
// tryTime, both estimated from sizes: a busy machine does as much as an idle one.
const (
	adviceTime = 10 * time.Second
	tryTime    = 15 * time.Second
)

// rough is how often the right community was named by the simulation that compared an allocation with uniform noise, or where there
// was none by that which chose τ; nil where there was neither. The latter does not say of how many trials.
func rough(m *graphcloak.Model, p *graphcloak.Plan, part community.Partition) *report.Accuracy {
	if s := p.Searched(); s != nil {
		x := &report.Accuracy{Probability: s.Right, Trials: s.Trials, Chance: m.Chance(part)}
		if p.Allocated == nil {
			x.Probability = s.Equal
		}
		x.Lower, x.Upper = report.ScoreInterval(int(math.Round(x.Probability*float64(s.Trials))), s.Trials)
		return x
	}
	if p.TauChoice == nil {
		return nil
	}
	k := slices.IndexFunc(p.TauChoice.Points, func(x plan.TauPoint) bool { return x.Tau == p.Public.Tau })
	if k < 0 {
		return nil
	}
	return &report.Accuracy{Probability: p.TauChoice.Points[k].Accuracy, Chance: p.TauChoice.Chance}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"time"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/study"
)

// What `plan` simulates for its reader of a graph that is too large for a simulation of its own: largeTrials, and fewer the larger the
// graph is, for as long as largeTime of one processor, estimated from sizes.
const (
	largeTrials = 50
	largeNodes  = 200_000 // with so many trials
	largeTime   = 60 * time.Second
)

// trialsOf is how many of some trials are simulated on so many nodes.
func trialsOf(trials, nodes int) int {
	return min(trials, max(report.LeastTrials, largeTrials*largeNodes/max(largeNodes, nodes)))
}

// largeAccuracy is the accuracy of a plan: its own, or where neither it nor a search has one, by simulation of few trials. Where that
// is estimated to take long, or more memory than there is, a note says how it is found out. Communities are waited for as long as they
// take: every answer needs them.
func (a *app) largeAccuracy(ctx context.Context, m *graphcloak.Model, p *graphcloak.Plan, opts analyst.Options,
	trials int,
) (*report.Accuracy, error) {
	if trials == 0 || simulated(p) || m.Graph.Order() <= analyst.DenseLimit {
		return p.Accuracy, nil
	}
	accuracy, err := study.LargeAccuracy(ctx, m.Model, p, opts, a.sample(trialsOf(trials, m.Graph.Order())), largeTime)
	return a.orNote(accuracy, err, largeTime, "`graphcloak evaluate --trials 20` with these flags takes the time")
}

// outlook is the accuracy that a run is judged by before it spends: that of the plan, or of its search, or simulated.
func (a *app) outlook(ctx context.Context, m *graphcloak.Model, p *graphcloak.Plan, opts analyst.Options) (*report.Accuracy, error) {
	part, err := m.Partition(ctx)
	if err != nil || part.Count == 1 { // which is told without it
		return nil, err
	}
	if x := p.Accuracy; x != nil && !x.Few() && (!x.AtChance() || x.Trials >= study.ChanceTrials) {
		return x, nil
	}
	found, hopeless := rough(m, p, part), p.TauChoice != nil && p.TauChoice.Hopeless
	if m.Graph.Order() > analyst.DenseLimit && simulated(p) && !hopeless && !found.AtChance() {
		return nil, nil
	}
	accuracy, err := study.Outlook(ctx, m.Model, p, opts, a.sample(0).Seed, adviceTime)
	if found != nil && !found.Few() && (errors.Is(err, study.ErrLong) || errors.Is(err, plan.ErrMemory)) {
		return found, nil
	}
	return a.orNote(accuracy, err, adviceTime, "`graphcloak plan` takes the time")
}

// simulated reports whether a plan, or the search for it, tells of its accuracy.
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

// noteRange tells before a plan for a range of τ how long an allocation for all of it may take, where that is more than a minute.
func (a *app) noteRange(m *graphcloak.Model, job graphcloak.Job) {
	u := job.Plan.Uncertainty
	if u.TauFrom == u.TauTo || !job.Plan.Allocates(m.Graph.Order()) {
		return
	}
	if _, most, err := study.RunTime(m.Model, job); err == nil && most > time.Minute { // without it nothing is told
		a.note("Note: noise is searched for that keeps the guarantee at every τ from %v to %v, which may take up to %s; --allocation "+
			"uniform takes a small part of that", u.TauFrom, u.TauTo, most.Round(time.Minute))
	}
}

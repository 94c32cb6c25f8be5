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

// largeTime is how long `plan` simulates for its reader, of one processor, on a graph that is too large for a simulation of its own.
const largeTime = 60 * time.Second

// largeAccuracy is the accuracy of a plan: its own, or where neither it nor a search has one, by simulation of few trials. Where that
// is estimated to take long, or more memory than there is, a note says how it is found out. Communities are waited for as long as they
// take: every answer needs them.
func (a *app) largeAccuracy(ctx context.Context, m *graphcloak.Model, p *graphcloak.Plan, opts analyst.Options,
	trials int,
) (*report.Accuracy, error) {
	if trials == 0 || study.Simulated(p) || m.Graph.Order() <= analyst.DenseLimit {
		return p.Accuracy, nil
	}
	accuracy, err := study.Outlook(ctx, m.Model, p, opts, study.Sample{Trials: min(trials, study.LargeTrials)}, largeTime)
	return a.orNote(accuracy, err, largeTime, "`graphcloak evaluate --trials 20` with these flags takes the time")
}

// outlook is the accuracy that a run is judged by before it spends, or a note on why there is none.
func (a *app) outlook(ctx context.Context, m *graphcloak.Model, p *graphcloak.Plan, opts analyst.Options) (*report.Accuracy, error) {
	accuracy, err := study.Judge(ctx, m.Model, p, opts)
	return a.orNote(accuracy, err, study.JudgeTime, "`graphcloak plan` takes the time")
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

// tryTime bounds what is planned to learn how accurate a run would be, of one processor, estimated from sizes: a busy machine does as
// much as an idle one.
const tryTime = 15 * time.Second

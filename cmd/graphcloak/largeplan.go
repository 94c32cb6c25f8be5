// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/study"
)

// What a plan of a graph that is too large for its own simulation simulates for the reader: few trials, for a warning needs no
// more, and no longer than largeTime.
const (
	largeTrials = 50
	largeTime   = 30 * time.Second
)

// allowance is how much a simulation for the reader may take, and what to do where it takes more.
type allowance struct {
	trials    int
	limit     time.Duration
	otherwise string
}

// planAllowance is that of `plan`, of which some trials are asked for.
func planAllowance(trials int) allowance {
	return allowance{min(trials, largeTrials), largeTime, "`graphcloak evaluate --trials 20` with these flags takes the time"}
}

// runAllowance is that of `run`, which somebody waits for.
func runAllowance() allowance {
	return allowance{largeTrials, adviceTime, fmt.Sprintf("`graphcloak plan` takes up to %s", largeTime)}
}

// largeAccuracy is the accuracy of a plan: its own, or where neither it nor a search has one, by simulation. Where that is not
// had in time or memory, a note says how it is found out. Communities are waited for as long as they take: every answer needs
// them.
func (a *app) largeAccuracy(ctx context.Context, m *graphcloak.Model, p *graphcloak.Plan, opts analyst.Options, most allowance) (*report.Accuracy, error) {
	known := p.Accuracy != nil || p.TauChoice != nil || p.Searched() != nil
	if known || most.trials == 0 || m.Graph.Order() <= analyst.DenseLimit {
		return p.Accuracy, nil
	}
	if _, err := m.Partition(ctx); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, most.limit)
	defer cancel()
	accuracy, err := study.LargeAccuracy(limited, m, p, opts, a.sample(most.trials), most.limit)
	switch {
	case err == nil:
		return accuracy, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil, errors.Is(err, study.ErrLong), errors.Is(err, graphcloak.ErrMemory):
		a.note("Note: how often the answer would be right was not simulated: on this graph it takes longer than %s, or more memory; %s", most.limit, most.otherwise)
		return nil, nil
	}
	return nil, err
}

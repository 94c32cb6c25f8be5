// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
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

// largeAccuracy is the accuracy of a plan: its own, or where neither it nor a search has one, by at most largeTrials of the
// trials that are asked for. Where that is not had in time or memory, a note says how it is found out.
func (a *app) largeAccuracy(ctx context.Context, m *graphcloak.Model, p *graphcloak.Plan, opts analyst.Options, trials int) (*report.Accuracy, error) {
	known := p.Accuracy != nil || p.TauChoice != nil || p.Searched() != nil
	if known || trials == 0 || m.Graph.Order() <= analyst.DenseLimit {
		return p.Accuracy, nil
	}
	limited, cancel := context.WithTimeout(ctx, largeTime)
	defer cancel()
	accuracy, err := study.LargeAccuracy(limited, m, p, opts, a.sample(min(trials, largeTrials)), largeTime)
	switch {
	case err == nil:
		return accuracy, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil, errors.Is(err, study.ErrLong), errors.Is(err, graphcloak.ErrMemory):
		a.note("Note: how often the answer would be right was not simulated: on this graph it takes longer than %s, or more memory; `graphcloak evaluate --trials 20` with these flags takes the time", largeTime)
		return nil, nil
	}
	return nil, err
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/study"
)

// breakdownTrials is the number of simulated releases behind a breakdown point, at most.
const breakdownTrials = 20

// breakdown says, of a plan for sensors that measure or may be broken, how many liars its answers
// withstand, which becomes part of it; and nothing where it takes long.
func (a *app) breakdown(ctx context.Context, m *graphcloak.Model, p *graphcloak.Plan, job graphcloak.Job) ([]section, error) {
	rate := job.Recover.FaultRate
	if !p.Measured() && (rate == nil || *rate == 0) {
		return nil, nil
	}
	b, err := study.BreakdownOf(ctx, m, p, job.Recover, a.sample(breakdownTrials))
	if errors.Is(err, study.ErrNoBreakdown) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p.Breakdown = b
	return []section{{title: "How many lying sensors it takes", text: breakdownText(b, len(p.Sensors))}}, nil
}

// breakdownText is a breakdown point in words.
func breakdownText(b *report.Breakdown, sensors int) string {
	proven := "none is proven to withstand a single liar"
	if k := b.AtLeast.Median - 1; k > 0 {
		proven = fmt.Sprintf("half are proven to withstand any %s", report.Count(k, "liar"))
	}
	if k := b.AtLeast.Tenth - 1; k > 0 {
		proven += fmt.Sprintf(", nine in ten any %s", report.Count(k, "liar"))
	}
	broken := fmt.Sprintf("an attack turned half of them with %s", report.Count(b.AtMost.Median, "liar"))
	if b.AtMost.Median > sensors {
		broken = "an attack with all sensors did not turn half of them"
	}
	if b.AtMost.Tenth < b.AtMost.Median {
		broken += fmt.Sprintf(", one in ten with %s", report.Count(b.AtMost.Tenth, "liar"))
	}
	return fmt.Sprintf("Of %d simulated right answers %s; %s. A liar reads anything in the range that readings are clipped to; the posterior supposes a fault rate of %v.",
		b.Answers, proven, broken, b.FaultRate)
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/study"
)

// epsilonFlags hold the target that chooses ε.
type epsilonFlags struct {
	trials int
	target float64 // 0: none
}

func (c *epsilonFlags) flags(f *pflag.FlagSet) {
	f.IntVar(&c.trials, "trials", study.DefaultTrials,
		fmt.Sprintf("simulated releases behind the expected accuracy, a `NUMBER`; %d go on to %d where they do not tell it from "+
			"chance; 0: none", study.DefaultTrials, study.ChanceTrials))
	f.Float64Var(&c.target, "target-accuracy", 0, "the least ε that is right this often; how often the right community is "+
		"named, a `NUMBER` in (0, 1)")
}

// check finds what is wrong with the flags, before anything is computed.
func (c *epsilonFlags) check(a *app) error {
	switch {
	case !(c.target >= 0 && c.target < 1):
		return fail(exitUsage, "--target-accuracy is %v, want a number in (0, 1)", c.target)
	case c.trials < 0:
		return fail(exitUsage, "--trials is %d, want a number ≥ 0", c.trials)
	case c.aimed() && a.config.Origin("epsilon").Layer == config.LayerFlag:
		return fail(exitUsage, "--epsilon says which ε, and a target finds one").hint(
			"leave --epsilon out: the plan says which ε it takes; or leave --target-accuracy out")
	case c.trials == 0 && c.aimed():
		return fail(exitUsage, "the target is simulated, and --trials is 0").hint("leave --trials out, or give more")
	}
	return nil
}

// aimed reports whether ε is to be found.
func (c *epsilonFlags) aimed() bool { return c.target > 0 }

// plan makes the plan, with its expected accuracy.
func (c *epsilonFlags) plan(ctx context.Context, m *graphcloak.Model, job graphcloak.Job) (*graphcloak.Plan, error) {
	if c.trials == 0 {
		return m.Plan(ctx, job.Plan)
	}
	planned := m.Plan
	if c.aimed() {
		planned = func(ctx context.Context, opts graphcloak.PlanOptions) (*graphcloak.Plan, error) {
			return study.PlanFor(ctx, m.Model, opts, job.Recover, c.target, study.Sample{Trials: c.trials})
		}
	}
	p, err := planned(ctx, job.Plan)
	if err != nil {
		return nil, err
	}
	sample := study.Sample{Trials: c.trials}
	if c.trials == study.DefaultTrials {
		sample.Most = study.ChanceTrials
	}
	return p, study.Expect(ctx, m.Model, p, job.Recover, sample)
}

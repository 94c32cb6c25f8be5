// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

// check finds what would stop a release that ends in a table like outline, and returns
// the readings, nil where the sensors send theirs.
func (m *Model) check(ctx context.Context, p *plan.Plan, job Job, outline report.Table) (y []float64, err error) {
	if err := job.CheckSignal(); err != nil {
		return nil, err
	}
	if err := checkPublished(ctx, job.Ledger, job.Signal); err != nil {
		return nil, err
	}
	if err := m.VerifyPlan(ctx, p); err != nil {
		return nil, err
	}
	if _, err := checkCap(ctx, job.Ledger, Scope(job.Signal), job.RequireCap); err != nil {
		return nil, err
	}
	if !job.Signal.Cloaked {
		y, err = m.readings(ctx, p, job.Signal)
	}
	if err != nil || !job.Write.Enabled {
		return y, err
	}
	return y, job.Write.To.Check(ctx, m.Graph, outline, job.Write.Force)
}

// checkPublished refuses a signal that an earlier release of the ledger read as public: what was
// published is no secret any more.
func checkPublished(ctx context.Context, l privacy.Ledger, s plan.Signal) error {
	if s.Property() == "" {
		return nil
	}
	all, err := PaymentsOf(ctx, l, "")
	for _, e := range all {
		if e.Charge != nil && slices.Contains(e.Charge.PublicProperties, s.Property()) {
			return fmt.Errorf("%w: release %q read %q without noise, as a sensor, community, prior, key, weight or length property",
				plan.ErrSignalPublic, e.ReleaseID, s.Property())
		}
	}
	return err
}

// checkGrant asks the ledger whether it would pay for the release, and spends nothing.
func (m *Model) checkGrant(ctx context.Context, p *plan.Plan, job Job) error {
	token := cmp.Or(job.Attempt, privacy.NewAttempt())
	return grants(ctx, job.Ledger, &Attempt{ReleaseID: cmp.Or(job.RunID, token), Token: token, Signal: job.Signal, Plan: p})
}

// grants asks the ledger whether it would pay for an attempt.
func grants(ctx context.Context, l privacy.Ledger, a *Attempt) error {
	c, err := a.charge()
	if err != nil {
		return err
	}
	account, err := privacy.ReplayLedger(ctx, l, c.Scope)
	if err != nil {
		return err
	}
	return privacy.Grants(ctx, l, account, c)
}

// checkRecovery finds what would stop a recovery from a release of a plan.
func (m *Model) checkRecovery(ctx context.Context, p *plan.Plan, opts analyst.Options) error {
	var graphs []analyst.ListedGraph
	if !opts.StoredGraph {
		graphs = m.ListedGraphs()
	}
	if err := m.Operator.CheckProcesses(graphs, p.Uncertainty.Tau(), plan.SensorRows(p.Plan)); err != nil {
		return err
	}
	if _, err := m.Partition(ctx); err != nil {
		return err
	}
	if err := analyst.CheckFaultRate(opts.FaultRate); err != nil {
		return err
	}
	if err := analyst.CheckFalseAlarm(opts.FalseAlarm); err != nil {
		return err
	}
	return m.checkSources(opts.Sources)
}

// supposing are options with the rate of faults that is supposed unless they say one: where the tool diffused, no sensor can be broken.
func supposing(opts analyst.Options, measured bool) analyst.Options {
	if opts.FaultRate == nil && measured {
		rate := analyst.DefaultFaultRate
		opts.FaultRate = &rate
	}
	return opts
}

// checkSources refuses more sources than the graph and the prior have room for.
func (m *Model) checkSources(sources int) error {
	if err := analyst.CheckSources(sources, m.Graph.Order()); err != nil {
		return err
	}
	return analyst.CheckPrior(m.Prior, m.PriorProperty, sources)
}

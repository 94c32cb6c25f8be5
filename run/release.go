// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"

	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

// Release spends the plan's budget and releases: the source's signal, or what sensors sent that added their noise themselves.
// The signal is read and checked first, the spend is durable before noise is drawn, and nothing is refunded. [Model.Publish]
// writes it. It returns the errors of [Model.Check], such as [plan.ErrIsolated], [ErrKey] where the job's noise is not of the
// plan's randomness, those of [privacy.Spend] and [privacy.Plan.FromSensors], and an [UnfinishedError] where the run is
// reserved or its budget is or may be spent.
func (m *Model) Release(ctx context.Context, p *plan.Plan, job Job) (*Release, error) {
	job, err := job.begun(m.Source)
	if err != nil {
		return nil, err
	}
	outline := report.ReleaseOutline(job.RunID, job.Write.Prefix, m.SensorNodes(p.Plan))
	y, err := m.check(ctx, p, job, outline)
	if err != nil {
		return nil, err
	}
	var a *Attempt
	var draw func() (*Release, error)
	if job.Signal.Cloaked {
		a, draw, err = m.attemptFromSensors(p, job.Signal.Sent)
	} else {
		a, draw, err = m.attemptFromStore(p, job, y)
	}
	if err != nil {
		return nil, err
	}
	return pay(ctx, m, a, outline, job, draw, putRelease, true)
}

// Check finds what would stop a release: a wrong graph, bad readings, properties
// in the way, a ledger that refuses it. It writes and spends nothing. The errors are
// those of the plan, [plan.Model.Matches] and [plan.Model.Certify]; of the graph, [plan.ErrIsolated]; of the signal,
// [plan.ErrNoSignal], [plan.ErrSignalPublic], [ErrSignalKind], [ErrBadSignal] and [ErrMissingSignal]; of the budget,
// [ErrNoLedger], [ErrNoCap], [privacy.ReplayLedger] and [privacy.Grants]; and [ErrNoSink].
func (m *Model) Check(ctx context.Context, p *plan.Plan, job Job) error {
	job, err := job.resolved(m.Source)
	if err != nil {
		return err
	}
	if _, err := m.check(ctx, p, job, report.ReleaseOutline(job.RunID, job.Write.Prefix, m.SensorNodes(p.Plan))); err != nil {
		return err
	}
	return m.checkGrant(ctx, p, job)
}

// attemptFromSensors prepares the release of what sensors sent for payment.
func (m *Model) attemptFromSensors(p *plan.Plan, values []privacy.SensorValue) (*Attempt, func() (*Release, error), error) {
	r, err := p.FromSensors(values)
	if err != nil {
		return nil, nil, err
	}
	digest, err := r.Digest()
	if err != nil {
		return nil, nil, err
	}
	s := plan.Signal{Cloaked: true}
	a := &Attempt{
		ReleaseID: r.ID(), Token: digest.String(), Signal: s, Plan: p,
		Release: &Release{Release: r, Model: m.Settings, Signal: s, Allocated: p.Allocated, Communities: p.Communities},
	}
	return a, func() (*Release, error) { return a.Release, nil }, nil
}

// CertifyRelease checks a release that comes from outside as [plan.Model.Matches] and
// [plan.Model.Certify] check a plan, with what it says of the allocation of its noise.
// The errors are theirs.
func (m *Model) CertifyRelease(ctx context.Context, r *Release) error {
	if err := m.Matches(r.Plan()); err != nil {
		return err
	}
	return m.CertifyAll(ctx, r.Plan(), r.Allocated)
}

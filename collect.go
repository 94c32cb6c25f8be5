// SPDX-License-Identifier: Apache-2.0

package graphcloak

import (
	"context"
	"fmt"

	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

// attemptFromSensors prepares the release of what sensors sent for payment.
func (m *Model) attemptFromSensors(p *Plan, values []privacy.SensorValue) (*Attempt, func() (*Release, error), error) {
	r, err := p.FromSensors(values)
	if err != nil {
		return nil, nil, err
	}
	digest, err := r.Digest()
	if err != nil {
		return nil, nil, err
	}
	s := Signal{Cloaked: true}
	a := &Attempt{
		ReleaseID: r.ID(), Token: digest.String(), Signal: s, Plan: p,
		Release: &Release{Release: r, Model: m.Settings, Signal: s, Allocated: p.Allocated, Communities: p.Communities},
	}
	return a, func() (*Release, error) { return a.Release, nil }, nil
}

// Pay makes a release that [Model.Publish] publishes: from what sensors sent, where the
// job's signal is theirs, else from the source's signal. It checks what
// [Model.CheckRelease] checks. The errors are those of [Model.Release] ([ErrIsolated] among them), of
// [privacy.Plan.FromSensors], and an [UnfinishedError] where the run was reserved or paid for.
func (m *Model) Pay(ctx context.Context, p *Plan, values []privacy.SensorValue, job Job) (*Release, error) {
	job, err := job.resolved(m.source)
	if err != nil {
		return nil, err
	}
	outline := report.ReleaseOutline(job.RunID, job.Write.Prefix, sensorNodes(p))
	y, err := m.check(ctx, p, job, outline)
	if err != nil {
		return nil, err
	}
	a, draw, err := m.prepareAttempt(p, values, job, y)
	if err != nil {
		return nil, err
	}
	return m.pay(ctx, a, outline, job, draw)
}

func (m *Model) prepareAttempt(p *Plan, values []privacy.SensorValue, job Job, y []float64) (*Attempt, func() (*Release, error), error) {
	if job.Signal.Cloaked {
		return m.attemptFromSensors(p, values)
	}
	return m.attemptFromStore(p, job, y, privacy.NewAttempt())
}

// CheckRelease finds what would stop a release: a wrong graph, bad readings, properties
// in the way, a ledger that refuses it. It writes and spends nothing. The errors are
// those of the plan, [Model.Matches] and [Model.Certify]; of the graph, [ErrIsolated]; of the signal, [ErrNoSignal],
// [ErrSignalPublic], [ErrSignalKind], [ErrBadSignal] and [ErrMissingSignal]; of the budget,
// [ErrNoLedger], [ErrNoCap], [privacy.Paying] and [privacy.Grants]; and [ErrNoSink].
func (m *Model) CheckRelease(ctx context.Context, p *Plan, job Job) error {
	job, err := job.resolved(m.source)
	if err != nil {
		return err
	}
	if _, err := m.check(ctx, p, job, report.ReleaseOutline(job.RunID, job.Write.Prefix, sensorNodes(p))); err != nil {
		return err
	}
	return m.checkGrant(ctx, p, job)
}

// Publish writes the private values of a release that was paid for, where the job
// says so, and closes its entry in the ledger. Called again with the same release
// and job it completes an interrupted write. It returns the number of node
// properties written. An error is an [UnfinishedError]: of [Payment], of
// [privacy.MarkWritten], [ErrNoLedger], [ErrNoSink], or the sink's.
func (m *Model) Publish(ctx context.Context, r *Release, job Job) (int64, error) {
	job, err := job.resolved(m.source)
	if err != nil {
		return 0, err
	}
	written, err := m.publish(ctx, r, job)
	if err != nil {
		return 0, &UnfinishedError{job.RunID, IsSpent, err}
	}
	return written, nil
}

func (m *Model) publish(ctx context.Context, r *Release, job Job) (int64, error) {
	var written int64
	if job.Write.Enabled {
		paid, err := openPayment(ctx, job.Ledger, r)
		if err != nil {
			return 0, err
		}
		rep := m.newReport()
		rep.SetPayment(paid)
		m.describeRelease(rep, r)
		rep.RunID, rep.Version = job.RunID, job.Version
		rep.EpsilonSpent, rep.DeltaSpent = rep.Epsilon, rep.Delta
		table, err := report.NewReleaseTable(r.Release, rep, job.Write.Prefix)
		if err != nil {
			return 0, err
		}
		if err := job.Write.To.Write(ctx, m.Graph, table, job.Write.Force); err != nil {
			return 0, fmt.Errorf("write back: %w", err)
		}
		written = table.Size()
	}
	return written, markWritten(ctx, r, job)
}

// SPDX-License-Identifier: Apache-2.0

package graphcloak

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

// Run loads the graph, plans, releases, recovers and writes back. Input and
// conflicts are checked before anything is spent. A source that is a [Store] keeps the
// ledger and takes the results, where the job names no other: [ErrNoLedger], [ErrNoSink].
// Other errors are those of [Load], [Model.Plan] and [Model.Execute].
func Run(ctx context.Context, s Source, job Job, opts LoadOptions) (*report.Report, error) {
	if err := job.CheckSignal(); err != nil {
		return nil, err
	}
	m, err := Load(ctx, s, job.Settings, opts)
	if err != nil {
		return nil, err
	}
	if job, err = job.equipped(s); err != nil {
		return nil, err
	}
	start := time.Now()
	job.Plan.Allocation.Communities = job.Recover.Communities
	p, err := m.Plan(ctx, job.Plan)
	if err != nil {
		return nil, err
	}
	m.millis.PreProcessingMillis = since(start)
	return m.Execute(ctx, p, job)
}

// Execute releases under a plan that was made before, recovers and writes back. An
// [UnfinishedError] says that the run stopped once it was reserved or paid for. Other
// errors are those of [Model.Check], [Model.Release] and [Model.Complete].
func (m *Model) Execute(ctx context.Context, p *Plan, job Job) (*report.Report, error) {
	if job.RunID == "" {
		id, err := NewRunID()
		if err != nil {
			return nil, err
		}
		job.RunID = id
	}
	start := time.Now()
	job, err := job.equipped(m.source)
	if err != nil {
		return nil, err
	}
	y, err := m.checkRun(ctx, p, job)
	if err != nil {
		return nil, err
	}
	r, err := m.release(ctx, p, y, job)
	if err != nil {
		return nil, err
	}
	m.millis.PrivacyMillis = wholeSeconds(since(start))
	return m.Complete(ctx, r, job)
}

// Check finds what would stop the run, after its budget is spent or because the ledger
// refuses it. It writes and spends nothing. The errors are those of
// [Model.CheckRelease], of [Model.Communities] and [Model.Prior], and [ErrMemory].
func (m *Model) Check(ctx context.Context, p *Plan, job Job) error {
	job, err := job.equipped(m.source)
	if err != nil {
		return err
	}
	if _, err := m.checkRun(ctx, p, job); err != nil {
		return err
	}
	return m.granted(ctx, p, job)
}

// checkRun returns the readings, since they are checked too.
func (m *Model) checkRun(ctx context.Context, p *Plan, job Job) ([]float64, error) {
	nodes := sensorNodes(p)
	y, err := m.check(ctx, p, job, report.Outline(job.RunID, job.Write.Prefix, nodes))
	if err != nil {
		return nil, err
	}
	return y, m.checkRecovery(ctx, nodes, job.Recover)
}

func (m *Model) release(ctx context.Context, p *Plan, y []float64, job Job) (*Release, error) {
	a, draw, err := m.attempt(p, job, y, cmp.Or(job.Attempt, privacy.NewAttempt()))
	if err != nil {
		return nil, err
	}
	return m.pay(ctx, a, report.Outline(job.RunID, job.Write.Prefix, sensorNodes(p)), job, draw)
}

// Complete recovers from a release that was paid for and writes back: the second
// half of a run, the whole of a resumed one, or, under another run id than the
// release's, a new look at an old release. The same release and job give the same
// bits. The errors are those of [Model.Recover], [Payment] and [Model.Publish].
func (m *Model) Complete(ctx context.Context, r *Release, job Job) (*report.Report, error) {
	rep, err := m.complete(ctx, r, job)
	if err == nil || job.RunID != r.ID() || errors.Is(err, ErrUnpaid) {
		return rep, err
	}
	return nil, &UnfinishedError{job.RunID, IsSpent, err}
}

func (m *Model) complete(ctx context.Context, r *Release, job Job) (*report.Report, error) {
	var err error
	if job.Write.To, err = sinkOf(m.source, job.Write); err != nil {
		return nil, err
	}
	if job.RunID == r.ID() {
		if job.Ledger, err = ledgerOf(m.source, job.Ledger); err != nil {
			return nil, err
		}
	}
	rep, err := m.Recover(ctx, r, job.Recover)
	if err != nil {
		return nil, err
	}
	rep.RunID, rep.Version, rep.Configuration = job.RunID, job.Version, job.Configuration
	if job.RunID == r.ID() {
		rep.EpsilonSpent, rep.DeltaSpent = rep.Epsilon, rep.Delta
	}
	start := time.Now()
	if job.RunID == r.ID() {
		paid, err := Payment(ctx, job.Ledger, r, job.Scope)
		if err != nil {
			return nil, err
		}
		rep.SetPayment(paid[0])
	}
	if job.Write.Enabled {
		table, err := report.NewTable(r.Release, rep, job.Write.Prefix)
		if err != nil {
			return nil, err
		}
		if err := job.Write.To.Write(ctx, m.Graph, table, job.Write.Force); err != nil {
			return nil, fmt.Errorf("write back: %w", err)
		}
		rep.NodePropertiesWritten = table.Size()
	}
	if job.RunID == r.ID() {
		if err := markWritten(ctx, r, job); err != nil {
			return nil, err
		}
	}
	rep.WriteMillis = since(start)
	return rep, nil
}

// wholeSeconds rounds milliseconds up to whole seconds, at least one: of the time that
// was spent on private values a report tells no more.
func wholeSeconds(millis int64) int64 { return max(1, (millis+999)/1000) * 1000 }

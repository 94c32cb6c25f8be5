// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"time"

	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/report"
)

// Publish writes the private values of a release that was paid for, where the job
// says so, and closes its entry in the ledger. Called again with the same release
// and job it completes an interrupted write. It returns the number of node
// properties written. An error is an [UnfinishedError]: of [Payment], of
// [privacy.MarkWritten], [ErrNoLedger], [ErrNoSink], or the sink's.
func (m *Model) Publish(ctx context.Context, r *Release, job Job) (int64, error) {
	rep := m.newReport()
	m.describeRelease(rep, r)
	rep.EpsilonSpent, rep.DeltaSpent = rep.Epsilon, rep.Delta
	return m.publish(ctx, r, rep, job, func() (report.Table, error) {
		return report.NewReleaseTable(r.Release, m.SensorNodes(r.Plan()), rep, job.Write.Prefix)
	})
}

// publish is [Model.Publish] of a table, which takes what it says of the release from a report.
func (m *Model) publish(ctx context.Context, r Drawn, rep *report.Report, job Job, table func() (report.Table, error)) (int64, error) {
	job, err := job.resolved(m.Source)
	if err != nil {
		return 0, err
	}
	rep.RunID, rep.Version = job.RunID, job.Version
	if rep, err = m.writeBack(ctx, r, true, rep, job, table); err != nil {
		return 0, &UnfinishedError{job.RunID, IsSpent, err}
	}
	return rep.NodePropertiesWritten, nil
}

// writeBack writes a table where the job says so. Before, it finds the payment of a release that the job has paid for, and after it
// closes its entry in the ledger.
func (m *Model) writeBack(ctx context.Context, r Drawn, paid bool, rep *report.Report, job Job, table func() (report.Table, error)) (
	*report.Report, error,
) {
	start := time.Now()
	if paid {
		e, err := openPayment(ctx, job.Ledger, r)
		if err != nil {
			return nil, err
		}
		rep.SetPayment(e)
	}
	if job.Write.Enabled {
		t, err := table()
		if err != nil {
			return nil, err
		}
		if err := job.Write.To.Write(ctx, m.Graph, t, job.Write.Force); err != nil {
			return nil, fmt.Errorf("write back: %w", err)
		}
		rep.NodePropertiesWritten = t.Size()
	}
	if paid {
		if err := markWritten(ctx, r, job); err != nil {
			return nil, err
		}
	}
	rep.WriteMillis = plan.Since(start)
	return rep, nil
}

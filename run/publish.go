// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"

	"github.com/graphcloak/graphcloak/report"
)

// Publish writes the private values of a release that was paid for, where the job
// says so, and closes its entry in the ledger. Called again with the same release
// and job it completes an interrupted write. It returns the number of node
// properties written. An error is an [UnfinishedError]: of [Payment], of
// [privacy.MarkWritten], [ErrNoLedger], [ErrNoSink], or the sink's.
func (m *Model) Publish(ctx context.Context, r *Release, job Job) (int64, error) {
	job, err := job.resolved(m.Source)
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
		table, err := report.NewReleaseTable(r.Release, m.SensorNodes(r.Plan()), rep, job.Write.Prefix)
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

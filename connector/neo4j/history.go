// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/report"
)

// History returns where the history of runs is kept: in this database.
func (s *Store) History() jobs.History { return jobStore{s} }

// PutRun implements [jobs.History].
func (d jobStore) PutRun(ctx context.Context, r jobs.Run) error {
	if err := d.s.constrainOnce(ctx); err != nil {
		return err
	}
	entry, err := json.Marshal(r)
	if err != nil {
		return err
	}
	own, shared := runProperties(r)
	own[keyHistory] = string(entry)
	if r.Report != nil {
		own[keyReport] = string(r.Report)
	}
	return d.s.record(ctx, "history", func(tx *transaction) error {
		return tx.do("MERGE (r:"+connector.RunLabel+" {runId: $id}) WITH r, CASE WHEN r.status IS NULL THEN $shared ELSE {} END AS "+
			"shared SET r += $own SET r += shared",
			map[string]any{"id": r.RunID, "own": own, "shared": shared})
	})
}

// runProperties are the properties to query: own, of the history alone, and shared, which
// a record has too. Nil removes one.
func runProperties(r jobs.Run) (own, shared map[string]any) {
	own = map[string]any{
		"jobName": nilIfEmpty(r.JobName), "nominalTime": connector.Moment(r.NominalTime), "outcome": string(r.Status),
		"mode":    nilIfEmpty(r.Mode),
		"endedAt": connector.Moment(r.EndedAt), "durationMillis": r.DurationMillis, "spent": r.Spent, "exitCode": r.ExitCode,
		"message": nilIfEmpty(r.Message), keyReport: nil,
	}
	shared = map[string]any{
		"budgetScope": nilIfEmpty(r.BudgetScope), "releaseId": nilIfEmpty(r.ReleaseID), keyStart: connector.Moment(r.StartedAt),
		"epsilonSpent": r.EpsilonSpent, "deltaSpent": r.DeltaSpent, "community": nilIfEmpty(r.Answer),
		"communityProbability": r.Probability,
		"verdict":              nilIfEmpty(r.Verdict), report.FaultySensorsKey: nil, "bpdnStatus": nilIfEmpty(r.BPDNStatus),
	}
	if r.FaultySensors > 0 {
		shared[report.FaultySensorsKey] = r.FaultySensors
	}
	return own, shared
}

func nilIfEmpty(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// ListRuns implements [jobs.History].
func (d jobStore) ListRuns(ctx context.Context, q jobs.RunQuery) ([]jobs.Run, error) {
	all, err := d.s.runs(ctx, "")
	return connector.SelectRuns(all, q), err
}

// GetRun implements [jobs.History].
func (d jobStore) GetRun(ctx context.Context, runID string) (jobs.Run, error) {
	all, err := d.s.runs(ctx, runID)
	if err == nil && (runID == "" || len(all) == 0) {
		err = fmt.Errorf("%w: run %q", jobs.ErrNoJob, runID)
	}
	if err != nil {
		return jobs.Run{}, err
	}
	return all[0], nil
}

// PruneRuns implements [jobs.History].
func (d jobStore) PruneRuns(ctx context.Context, before time.Time) (int64, error) {
	all, err := d.s.runs(ctx, "")
	if err != nil {
		return 0, err
	}
	var ids []string
	for _, run := range connector.Prunable(all, before) {
		ids = append(ids, run.RunID)
		if w := run.Write; w != nil && w.RunIDColumn != "" && w.Status != jobs.Undone {
			if _, err := d.s.Undo(ctx, run.RunID); err != nil {
				return 0, err
			}
		}
	}
	removed := int64(0)
	for batch := range slices.Chunk(ids, d.s.options.BatchSize) {
		var n int64
		err := d.s.record(ctx, "history", func(tx *transaction) (err error) {
			n, err = tx.count("MATCH (r:"+connector.RunLabel+
				") WHERE r.runId IN $ids AND NOT coalesce(r.status, '') IN $open DELETE r RETURN count(r)",
				map[string]any{"ids": batch, "open": []string{string(jobs.Reserved), string(jobs.Running)}})
			return err
		})
		if err != nil {
			return removed, err
		}
		removed += n
	}
	return removed, d.pruneTicks(ctx, before)
}

// pruneTicks removes the records of ended ticks before a time.
func (d jobStore) pruneTicks(ctx context.Context, before time.Time) error {
	all, err := d.Ticks(ctx, jobs.TickQuery{})
	if err != nil {
		return err
	}
	for batch := range slices.Chunk(connector.PrunableTicks(all, before), d.s.options.BatchSize) {
		var names []string
		var times []time.Time
		for _, t := range batch {
			names, times = append(names, t.JobName), append(times, t.NominalTime)
		}
		err := d.s.record(ctx, "jobs", func(tx *transaction) error {
			return tx.do("UNWIND range(0, size($names) - 1) AS i MATCH (t:"+tickLabel+
				" {jobName: $names[i], nominalTime: $times[i]}) DELETE t",
				map[string]any{"names": names, "times": times})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/jobs"
)

// The history of a run stands on the node of its record, where it has one: what both
// tell has one name. How the run ended is its outcome, for status says how far its
// writing has come.
const (
	keyOutcome = "outcome"
	keyReport  = "report"
)

// PutRun is that of [jobs.History].
func (d desk) PutRun(ctx context.Context, r jobs.Run) error {
	if err := d.s.constrainOnce(ctx); err != nil {
		return err
	}
	return d.s.record(ctx, "history", func(tx *transaction) error {
		return tx.do("MERGE (r:"+connector.RunLabel+" {runId: $id}) SET r += $told", map[string]any{"id": r.RunID, "told": runProperties(r)})
	})
}

func runProperties(r jobs.Run) map[string]any {
	p := map[string]any{
		"jobName": nilIfEmpty(r.JobName), "nominalTime": connector.Moment(r.NominalTime), keyOutcome: string(r.Status), "mode": r.Mode,
		"budgetScope": nilIfEmpty(r.BudgetScope), "releaseId": nilIfEmpty(r.ReleaseID), keyStart: connector.Moment(r.StartedAt),
		"endedAt": connector.Moment(r.EndedAt), "durationMillis": r.DurationMillis, "spent": r.Spent,
		"epsilonSpent": r.EpsilonSpent, "deltaSpent": r.DeltaSpent, "community": nilIfEmpty(r.Answer), "communityProbability": r.Probability,
		"bpdnStatus": nilIfEmpty(r.BPDNStatus), "exitCode": r.ExitCode, "message": nilIfEmpty(r.Message), keyReport: nil,
	}
	if r.Report != nil {
		p[keyReport] = string(r.Report)
	}
	return p
}

func nilIfEmpty(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func toldOf(p properties) jobs.Run {
	r := jobs.Run{
		RunID: p.text(keyRunID), JobName: p.text("jobName"), NominalTime: p.time("nominalTime"), Status: jobs.Status(p.text(keyOutcome)),
		Mode: p.text("mode"), BudgetScope: p.text("budgetScope"), ReleaseID: p.text("releaseId"), StartedAt: p.time(keyStart),
		EndedAt: p.time("endedAt"), DurationMillis: p.int("durationMillis"), EpsilonSpent: p.float("epsilonSpent"), DeltaSpent: p.float("deltaSpent"),
		Answer: p.text("community"), Probability: p.float("communityProbability"), BPDNStatus: p.text("bpdnStatus"),
		ExitCode: p.int("exitCode"), Message: p.text("message"),
	}
	r.Spent, _ = p["spent"].(bool)
	if report := p.text(keyReport); report != "" {
		r.Report = []byte(report)
	}
	return r
}

// history reads what is known of runs, of one where an id is given: what was told, and
// the records that the store keeps.
func (t *transaction) history(runID string) (all []jobs.Run, known []connector.Run, err error) {
	told := map[string]jobs.Run{}
	_, err = t.rows("MATCH (r:"+connector.RunLabel+") WHERE $id = '' OR r.runId = $id RETURN r {.*, report: CASE WHEN $id = '' THEN null ELSE r.report END}",
		map[string]any{"id": runID}, func(r *neo4j.Record) error {
			p, _ := r.Values[0].(map[string]any)
			if _, ok := p[keyOutcome].(string); ok {
				run := toldOf(p)
				told[run.RunID] = run
			}
			if _, ok := p[keyStatus].(string); ok {
				known = append(known, runOf(p))
			}
			return nil
		})
	return connector.History(told, known), known, err
}

func (s *Store) history(ctx context.Context, runID string) (all []jobs.Run, known []connector.Run, err error) {
	err = s.read(ctx, "history", func(tx *transaction) (err error) {
		all, known, err = tx.history(runID)
		return err
	})
	return all, known, err
}

// ListRuns is that of [jobs.History].
func (d desk) ListRuns(ctx context.Context, q jobs.RunQuery) ([]jobs.Run, error) {
	all, _, err := d.s.history(ctx, "")
	return connector.SelectRuns(all, q), err
}

// GetRun is that of [jobs.History].
func (d desk) GetRun(ctx context.Context, runID string) (jobs.Run, error) {
	all, _, err := d.s.history(ctx, runID)
	if err == nil && (runID == "" || len(all) == 0) {
		err = fmt.Errorf("%w: run %q", jobs.ErrNoJob, runID)
	}
	if err != nil {
		return jobs.Run{}, err
	}
	return all[0], nil
}

// PruneRuns is that of [jobs.History].
func (d desk) PruneRuns(ctx context.Context, before time.Time) (int64, error) {
	all, known, err := d.s.history(ctx, "")
	if err != nil {
		return 0, err
	}
	ids := connector.Prunable(all, known, before)
	if err := d.s.undoAll(ctx, ids, known); err != nil {
		return 0, err
	}
	removed := int64(0)
	for batch := range slices.Chunk(ids, d.s.options.BatchSize) {
		var n int64
		err := d.s.record(ctx, "history", func(tx *transaction) (err error) {
			n, err = tx.count("MATCH (r:"+connector.RunLabel+") WHERE r.runId IN $ids AND NOT coalesce(r.status, '') IN $open DELETE r RETURN count(r)",
				map[string]any{"ids": batch, "open": []string{connector.Reserved, connector.Running}})
			return err
		})
		if err != nil {
			return removed, err
		}
		removed += n
	}
	return removed, d.pruneTicks(ctx, before)
}

// undoAll takes the values of these runs from the nodes that still carry them.
func (s *Store) undoAll(ctx context.Context, ids []string, known []connector.Run) error {
	carried := map[string][]string{} // by the property that holds the run's id
	for _, run := range known {
		column := run.RunIDColumn
		if column == "" || run.Status == connector.Undone || !slices.Contains(ids, run.ID) {
			continue
		}
		if _, ok := carried[column]; !ok {
			found, err := s.carriedRuns(ctx, column)
			if err != nil {
				return err
			}
			carried[column] = found
		}
		if slices.Contains(carried[column], run.ID) {
			if _, err := s.Undo(ctx, run.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// carriedRuns returns the ids of the runs whose values are on nodes.
func (s *Store) carriedRuns(ctx context.Context, column string) (ids []string, err error) {
	used, err := s.used(ctx, []string{column})
	if err != nil || len(used) == 0 {
		return nil, err
	}
	names := naming{}
	owner := names.property("n", column)
	err = s.read(ctx, "history", func(tx *transaction) error {
		ids = nil
		_, err := tx.rows("MATCH (n) WHERE "+owner+" IS NOT NULL RETURN DISTINCT "+owner, names, func(r *neo4j.Record) error {
			id, _ := r.Values[0].(string)
			ids = append(ids, id)
			return nil
		})
		return err
	})
	return ids, err
}

// pruneTicks removes the records of ended ticks before a time.
func (d desk) pruneTicks(ctx context.Context, before time.Time) error {
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
			return tx.do("UNWIND range(0, size($names) - 1) AS i MATCH (t:"+tickLabel+" {jobName: $names[i], nominalTime: $times[i]}) DELETE t",
				map[string]any{"names": names, "times": times})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

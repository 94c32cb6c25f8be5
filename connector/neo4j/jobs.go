// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"context"
	"fmt"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/jobs"
)

// Jobs returns where jobs, their claims and the history of runs are kept: in this
// database, by the clock of the server.
func (s *Store) Jobs() jobs.Store {
	d := jobStore{s}
	return struct {
		connector.Claims
		jobStore
	}{connector.Claims{Decider: d}, d}
}

// jobStore implements [jobs.Board], [jobs.History] and, in [connector.Claims], [connector.Decider].
type jobStore struct{ s *Store }

// Now implements [jobs.Claims].
func (d jobStore) Now(ctx context.Context) (time.Time, error) {
	now, err := d.s.Ledger().Now(ctx)
	return now.UTC(), err
}

// Decide implements [connector.Decider]. The clock is read once the lock is held: the
// statement that waits for it began before.
func (d jobStore) Decide(ctx context.Context, jobName string, saved bool, rule connector.Rule) (next jobs.Claim, err error) {
	if err := d.s.constrainOnce(ctx); err != nil {
		return next, err
	}
	err = d.s.record(ctx, "jobs", func(tx *transaction) error {
		if err := tx.lock(jobLock + jobName); err != nil {
			return err
		}
		now, latest, err := tx.latest(jobName, saved)
		if err != nil {
			return err
		}
		if next, err = rule(now, latest); err != nil {
			return err
		}
		return tx.do("MERGE (t:"+tickLabel+" {jobName: $job, nominalTime: $at}) SET t += $record",
			map[string]any{"job": jobName, "at": next.NominalTime.UTC(), "record": tickProperties(next)})
	})
	return next, err
}

// RemoveAhead implements [connector.Decider].
func (d jobStore) RemoveAhead(ctx context.Context, jobName string) error {
	return d.s.record(ctx, "jobs", func(tx *transaction) error {
		if err := tx.lock(jobLock + jobName); err != nil {
			return err
		}
		return tx.do("MATCH (t:"+tickLabel+" {jobName: $job}) WHERE t.nominalTime > datetime.realtime('UTC') AND coalesce(t.status, '') "+
			"<> $open DELETE t",
			map[string]any{"job": jobName, "open": string(jobs.Running)})
	})
}

// Ticks implements [jobs.Claims]. A query for the latest starts from the lock nodes, one per job with a tick, and so reads no
// earlier ticks.
func (d jobStore) Ticks(ctx context.Context, q jobs.TickQuery) (all []jobs.Claim, err error) {
	var text cypher = "MATCH (t:" + tickLabel + ") WHERE ($job = '' OR t.jobName = $job) AND" + dated
	if q.Latest {
		text = "MATCH (l:" + lockLabel + ") WHERE l.name STARTS WITH $locks WITH substring(l.name, size($locks)) AS job WHERE $job = '' " +
			"OR job = $job " +
			"CALL (job) { MATCH (t:" + tickLabel + " {jobName: job}) WHERE" + dated +
			"AND ($status = '' OR t.status = $status) AND NOT ($ended AND t.status = $running) RETURN t ORDER BY t.nominalTime " +
			"DESC LIMIT 1 } "
	}
	params := map[string]any{
		"job": q.JobName, "locks": jobLock, "status": string(q.Status), "ended": q.Ended, "running": string(jobs.Running),
	}
	err = d.s.read(ctx, "jobs", func(tx *transaction) error {
		all = nil
		_, err := tx.rows(text+"RETURN t {.*, savedRun: null, attemptToken: null}", params, func(r *neo4j.Record) error {
			p, _ := r.Values[0].(map[string]any)
			all = append(all, tickOf(p))
			return nil
		})
		return err
	})
	return connector.SelectTicks(all, q), err
}

// boundedJobs reads records of jobs, of one that is too large its name and origin. A value
// that is no list becomes one by [] + value.
const boundedJobs cypher = "MATCH (j:" + jobLabel + ") WITH j ORDER BY j.origin = $origin DESC LIMIT $jobs " +
	"WITH j, reduce(n = 0, k IN keys(j) | n + size(k) + reduce(m = 0, x IN [] + j[k] | m + 1 + size(coalesce(toStringOrNull(x), " +
	"'')))) AS size " +
	"RETURN elementId(j), CASE WHEN size <= $size THEN properties(j) ELSE " +
	"{name: left(toStringOrNull(j.name), $name), origin: left(toStringOrNull(j.origin), $name)} END, size > $size"

// Jobs implements [jobs.Board].
func (d jobStore) Jobs(ctx context.Context) (board []jobs.Filed, err error) {
	params := map[string]any{"origin": jobs.OriginSettings, "jobs": jobs.MaxJobs + 1, "size": jobs.MaxJobSize, "name": 100}
	err = d.s.read(ctx, "jobs", func(tx *transaction) error {
		board = nil
		_, err := tx.rows(boundedJobs, params, func(r *neo4j.Record) error {
			p, _ := r.Values[1].(map[string]any)
			f := connector.FiledOf(p)
			f.ID, _ = r.Values[0].(string)
			f.TooLarge, _ = r.Values[2].(bool)
			board = append(board, f)
			return nil
		})
		return err
	})
	return connector.SortFiled(board), err
}

// SetState implements [jobs.Board].
func (d jobStore) SetState(ctx context.Context, t jobs.Target, s jobs.State) error {
	return d.set(ctx, t, connector.StateOf(s))
}

// SetPaused implements [jobs.Board].
func (d jobStore) SetPaused(ctx context.Context, t jobs.Target, paused bool) error {
	return d.set(ctx, t, map[string]any{connector.PausedKey: paused})
}

// set replaces properties of a record. Of the records of the settings' jobs one is made
// where there is none, behind a lock: several instances show the same state.
func (d jobStore) set(ctx context.Context, t jobs.Target, shown map[string]any) error {
	if err := d.s.constrainOnce(ctx); err != nil {
		return err
	}
	return d.s.record(ctx, "jobs", func(tx *transaction) error {
		params := map[string]any{"id": t.ID, "name": t.Name, "origin": jobs.OriginSettings, "shown": shown}
		if t.ID == "" {
			if err := tx.lock("jobs"); err != nil {
				return err
			}
			return tx.do("MERGE (j:"+jobLabel+" {name: $name, origin: $origin}) SET j += $shown", params)
		}
		n, err := tx.count("MATCH (j:"+jobLabel+") WHERE elementId(j) = $id SET j += $shown RETURN count(j)", params)
		if err == nil && n == 0 {
			err = fmt.Errorf("%w: job %q", jobs.ErrNoJob, t.Name)
		}
		return err
	})
}

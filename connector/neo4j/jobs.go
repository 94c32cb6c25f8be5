// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"context"
	"maps"
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

// Standings implements [jobs.Board]. A value of another type, which another writer may have left, counts as missing.
func (d jobStore) Standings(ctx context.Context, names []string) (kept map[string]jobs.Standing, err error) {
	err = d.s.read(ctx, "jobs", func(tx *transaction) error {
		kept = make(map[string]jobs.Standing)
		_, err := tx.rows("MATCH (j:"+jobLabel+") WHERE j.name IN $names RETURN j.name, count(CASE WHEN j.paused = true THEN 1 END) > 0, "+
			"max(CASE WHEN valueType(j.scheduledSince) STARTS WITH 'ZONED DATETIME' THEN j.scheduledSince END)",
			map[string]any{"names": names}, func(r *neo4j.Record) error {
				name, _ := r.Values[0].(string)
				paused, _ := r.Values[1].(bool)
				since, _ := r.Values[2].(time.Time)
				kept[name] = jobs.Standing{Paused: paused, Since: since.UTC()}
				return nil
			})
		return err
	})
	return kept, err
}

// Enlist implements [jobs.Board].
func (d jobStore) Enlist(ctx context.Context, jobName string) error {
	return d.stand(ctx, jobName, "ON CREATE SET j.paused = false, j.scheduledSince = datetime.realtime('UTC')", nil)
}

// SetPaused implements [jobs.Board].
func (d jobStore) SetPaused(ctx context.Context, jobName string, paused bool) error {
	return d.stand(ctx, jobName, "SET j.paused = $paused, j.scheduledSince = datetime.realtime('UTC')", map[string]any{"paused": paused})
}

// stand sets what is kept of a job, behind a lock: several instances enlist the same one.
func (d jobStore) stand(ctx context.Context, jobName string, set cypher, params map[string]any) error {
	if err := d.s.constrainOnce(ctx); err != nil {
		return err
	}
	return d.s.record(ctx, "jobs", func(tx *transaction) error {
		if err := tx.lock("jobs"); err != nil {
			return err
		}
		all := map[string]any{"name": jobName}
		maps.Copy(all, params)
		return tx.do("MERGE (j:"+jobLabel+" {name: $name}) "+set, all)
	})
}

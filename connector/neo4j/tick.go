// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"fmt"
	"time"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/jobs"
)

// jobLock begins the name of the lock of a job.
const jobLock = "job:"

// dated excludes ticks whose nominalTime is no datetime, which another writer may have
// created: they would sort last. It also lets the constraint's index find the latest.
const dated = " t.nominalTime > datetime('0000-01-01T00:00:00Z') "

// latest reads the clock and the record of a job's latest tick.
func (t *transaction) latest(jobName string, saved bool) (now time.Time, c jobs.Claim, err error) {
	r, err := t.one("OPTIONAL MATCH (t:"+tickLabel+" {jobName: $job}) WHERE"+dated+"WITH t ORDER BY t.nominalTime DESC LIMIT 1 "+
		"RETURN datetime.realtime('UTC') AS now, t {.*, savedRun: CASE WHEN $saved THEN t.savedRun END} AS tick",
		map[string]any{"job": jobName, "saved": saved})
	if err != nil {
		return now, c, err
	}
	now, ok := r.Values[0].(time.Time)
	if !ok {
		return now, c, fmt.Errorf("neo4j: the server's time is %T, want a time", r.Values[0])
	}
	if p, ok := r.Values[1].(map[string]any); ok {
		c = tickOf(p)
	}
	return now.UTC(), c, nil
}

// fenced locks the tick for which the transaction is, until it is committed, and refuses
// to commit for one that is lost. It is the last statement: anyone who holds this lock waits
// for no other.
func (t *transaction) fenced(f jobs.Fence) error {
	if err := t.lock(jobLock + f.JobName); err != nil {
		return err
	}
	_, latest, err := t.latest(f.JobName, false)
	if err != nil {
		return err
	}
	return f.Check(latest)
}

// tickProperties are those of a tick's record but for its name and time; nil removes one.
func tickProperties(c jobs.Claim) map[string]any {
	p := map[string]any{
		"instance": c.Instance, "attemptToken": c.Token, "attempts": c.Attempts, "claimedAt": connector.Moment(c.ClaimedAt),
		"leaseUntil": connector.Moment(c.LeaseUntil), "retryAt": connector.Moment(c.RetryAt), "cancelRequested": c.CancelRequested,
		"endedAt": connector.Moment(c.EndedAt), "status": string(c.Status), "runId": c.RunID, "exitCode": c.ExitCode,
		"message": c.Message, "renewsAt": connector.Moment(c.RenewsAt),
	}
	switch {
	case !c.Open():
		p["savedRun"] = nil
	case c.Saved != nil:
		p["savedRun"] = c.Saved
	}
	return p
}

// tickOf reads a record. One that is malformed counts as ended, whatever its status.
func tickOf(p properties) jobs.Claim {
	c := jobs.Claim{
		Tick:     jobs.Tick{JobName: p.text("jobName"), NominalTime: p.time("nominalTime")},
		Instance: p.text("instance"), Token: p.text("attemptToken"), Attempts: p.int("attempts"), ClaimedAt: p.time("claimedAt"),
		LeaseUntil: p.time("leaseUntil"), RetryAt: p.time("retryAt"), EndedAt: p.time("endedAt"),
		Outcome: jobs.Outcome{
			Status: jobs.Status(p.text("status")), RunID: p.text("runId"), ExitCode: p.int("exitCode"),
			Message: p.text("message"), RenewsAt: p.time("renewsAt"),
		},
	}
	c.CancelRequested, _ = p["cancelRequested"].(bool)
	c.Saved, _ = p["savedRun"].([]byte)
	if c.Status == "" || c.Open() && c.Attempts == 0 {
		c.Status, c.Message = jobs.Failed, "its record cannot be read"
	}
	return c
}

// properties are those of a node, with values of any type.
type properties map[string]any

func (p properties) text(name string) string { s, _ := p[name].(string); return s }

func (p properties) int(name string) int64 { i, _ := p[name].(int64); return i }

func (p properties) time(name string) time.Time {
	t, ok := p[name].(time.Time)
	if !ok {
		return time.Time{}
	}
	return t.UTC()
}

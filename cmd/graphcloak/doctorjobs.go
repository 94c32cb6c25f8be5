// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/connector/neo4j"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

// examineJobs looks at the jobs of the settings file: each that cannot
// run as it is fails, and each that costs more than its whole cap.
func (a *app) examineJobs(ctx context.Context) []neo4j.CheckResult {
	all, err := a.readJobs(ctx)
	if err != nil {
		d := describe(err)
		return []neo4j.CheckResult{{Name: "jobs", Detail: d.Message, Fix: d.Suggestion, Err: err}}
	}
	var checks []neo4j.CheckResult
	for _, j := range all {
		if c := examineJob(j); !c.OK {
			checks = append(checks, c)
		}
	}
	if fine := len(all) - len(checks); fine > 0 {
		checks = append(checks, neo4j.CheckResult{Name: "jobs", OK: true, Detail: report.Count(fine, "job") + " can be run"})
	}
	return checks
}

func (a *app) readJobs(ctx context.Context) ([]jobs.Job, error) {
	if err := a.onServer(); err != nil {
		if len(a.config.Jobs) == 0 {
			return nil, nil
		}
		return nil, err
	}
	s, err := a.openReading(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close(context.WithoutCancel(ctx))
	all, _, err := jobs.New(jobs.Options{
		Store: jobsOf(s), Runner: jobRunner{a, s}, Settings: a.config.Jobs, Log: a.log,
		Cautions: jobRunner{a, s}.cautions,
	}).Jobs(ctx)
	return all, err
}

// errMissed: nobody ran a job when it was due.
var errMissed = errors.New("the times of a job were missed")

// examineJob checks a job by its state.
func examineJob(j jobs.Job) neo4j.CheckResult {
	s := j.Summary()
	c := neo4j.CheckResult{Name: "job " + term.Visible(j.Name), Detail: term.Visible(s.Message)}
	refused, cautioned := errors.AsType[*failure](j.Caution.Err)
	switch {
	case s.Status == jobs.Invalid:
		c.Err, c.Fix = jobs.ErrInvalid, defaultSuggestion(jobs.ErrInvalid, exitConflict)
	case cautioned:
		c.Detail, c.Fix, c.Err = term.Visible(refused.Error()), term.Visible(refused.suggestion), refused
	case s.Status == jobs.JobStatus(jobs.OverBudget):
		c.Detail = fmt.Sprintf("its run of %s would have cost more than its whole cap: %s",
			s.LastRun.UTC().Format(time.RFC3339), c.Detail)
		c.Err, c.Fix = privacy.ErrOverBudget, "use a smaller epsilon in the job, or let its owner raise the cap by `graphcloak budget "+
			"set`; its next run shows whether it helped"
	default:
		c.OK = true
	}
	if c.OK && j.Missed > 0 {
		c = neo4j.CheckResult{
			Name: c.Name, Detail: j.MissedText(), Err: errMissed,
			Fix: "keep `graphcloak serve` running; start another instance where one is too slow; missedRuns: once makes up for a time " +
				"that was missed",
		}
	}
	return c
}

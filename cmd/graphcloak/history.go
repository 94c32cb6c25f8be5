// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/run"
)

// historyTime bounds how long a command tries to tell the history of its run.
const historyTime = 10 * time.Second

// chronicle adds a run that has come to its end to the history of the store, and returns the
// error that it ended with. What was refused before anything of it was kept is no run.
// A run that is stopped while it tells stays held, as one that is not complete. Where the
// release was paid for by another attempt under its id, the history is that one's to tell.
func (a *app) chronicle(ctx context.Context, s graphStore, job graphcloak.Job, mode string, took time.Duration, rep *report.Report,
	err error,
) error {
	if err != nil && (a.unfinishedRun() != job.RunID || ctx.Err() != nil || errors.Is(err, privacy.ErrReplay)) {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, historyTime)
	defer cancel()
	ended := runEnded(job, mode, rep, err)
	ended.Message = withWarnings(ended.Message, a.warnings)
	failed := putRun(limited, s, ended, took)
	if failed == nil || err != nil {
		return err
	}
	if ctx.Err() != nil {
		return a.paidFor(job.RunID, failed)
	}
	a.warn("the run is complete, and its history could not be written: %v", failed)
	return nil
}

// withWarnings adds the warnings of a run to what the history tells of it.
func withWarnings(message string, warnings []string) string {
	shown := make([]string, len(warnings))
	for i, w := range warnings {
		shown[i] = term.Visible(w)
	}
	return jobs.WithWarnings(message, shown)
}

// runEnded is what the history tells of a run of the command.
func runEnded(job graphcloak.Job, mode string, rep *report.Report, err error) jobs.Run {
	if err == nil {
		r := *connector.RunOf(rep, mode)
		r.Status = jobs.Finished
		return r
	}
	r := jobs.Run{
		RunID: job.RunID, ReleaseID: job.RunID, Mode: mode, Signal: job.Signal.Property(), BudgetScope: run.Scope(job.Signal),
		Status:   jobs.Failed,
		ExitCode: int64(exitCode(err)), Message: term.Visible(strings.Join(messages(err), "; ")),
	}
	if e, ok := errors.AsType[*graphcloak.UnfinishedError](err); ok {
		r.Spent = e.Spent != run.NotSpent
	}
	switch {
	case r.Spent:
		r.Status = jobs.Running
	case errors.Is(err, privacy.ErrOverBudget):
		r.Status = jobs.OverBudget
	case errors.Is(err, privacy.ErrExhausted):
		r.Status = jobs.WaitingForBudget
	}
	return r
}

// putRun dates a run by the store's clock.
func putRun(ctx context.Context, s graphStore, r jobs.Run, took time.Duration) error {
	now, err := s.Ledger().Now(ctx)
	if err != nil {
		return err
	}
	return s.History().PutRun(ctx, r.Dated(now, took))
}

// allRuns is the history of a store with the releases in its ledger that are paid for
// and not complete, and of which no run tells.
func allRuns(ctx context.Context, s graphStore, q jobs.RunQuery) ([]jobs.Run, error) {
	told, err := s.History().ListRuns(ctx, jobs.RunQuery{})
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool, 2*len(told))
	for _, r := range told {
		known[r.RunID], known[r.ReleaseID] = true, true
	}
	paid, err := run.PaymentsOf(ctx, s.Ledger(), "")
	if err != nil {
		return nil, err
	}
	for _, e := range paid.Unfinished(time.Time{}) {
		if !known[e.ReleaseID] {
			told = append(told, jobs.Run{
				RunID: e.ReleaseID, ReleaseID: e.ReleaseID, Status: jobs.Running, BudgetScope: e.Scope, StartedAt: e.Time,
				Spent: true, EpsilonSpent: e.Charge.Budget.Epsilon, DeltaSpent: e.Charge.Budget.Delta,
			})
		}
	}
	if err := sayHowToGoOn(ctx, s, told); err != nil {
		return nil, err
	}
	return connector.SelectRuns(told, q), nil
}

// sayHowToGoOn says of each run that is not complete whether a process is at it, and else what
// completes it. What its claim tells of a job's run stays.
func sayHowToGoOn(ctx context.Context, s graphStore, all []jobs.Run) error {
	if !slices.ContainsFunc(all, func(r jobs.Run) bool { return r.Status == jobs.Running }) {
		return nil
	}
	var ticks []jobs.Claim
	if kept := jobsOf(s); kept != nil {
		var err error
		if ticks, err = kept.Ticks(ctx, jobs.TickQuery{Open: true}); err != nil {
			return err
		}
	}
	for k := range all {
		r := &all[k]
		if r.Status != jobs.Running || r.JobName != "" {
			continue
		}
		if at := slices.IndexFunc(ticks, func(c jobs.Claim) bool { return c.ReleaseID() == r.RunID }); at >= 0 {
			r.JobName = ticks[at].JobName
			r.Message = fmt.Sprintf("its job is at it, or goes on with it at no further cost: `graphcloak job run %s` does so now",
				r.JobName)
			continue
		}
		why := ""
		if r.ExitCode != 0 { // it has ended by an error
			why = r.Message + "; "
		}
		r.Message = why + openMessage(r.RunID)
	}
	return nil
}

// openMessage says of a run of the command what completes it.
func openMessage(id string) string {
	switch conditionOf(id) {
	case run.Running:
		return "it is under way"
	case run.Stopped:
		return "it was interrupted: `graphcloak run --resume " + id + "` completes it at no further cost"
	}
	if !isRunID(id) { // nothing to put into a command
		return "it is not complete, and GraphCloak gives no run such an id"
	}
	return "it is not complete: where it was started, `graphcloak run --resume " + id + "` completes it at no further cost"
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/graphcloak/graphcloak/internal/metrics"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

// schedule makes sure, before anything is spent, that the end of the command can be told.
func (a *app) schedule() error {
	c := a.config.Schedule
	if c.MetricsFile != "" {
		if err := metrics.CheckFile(c.MetricsFile); err != nil {
			return fail(exitValidation, "the metrics %s cannot be written: %w; nothing was spent", c.MetricsFile, err).
				hint("name a file in a folder that the user may write; it is replaced by rename, so the file alone is not enough")
		}
	}
	a.scheduled.mu.Lock()
	a.scheduled.file = c.MetricsFile
	a.scheduled.mu.Unlock()
	return nil
}

// saw keeps the numbers of a run for the metrics.
func (a *app) saw(rep *report.Report) {
	if rep == nil {
		return
	}
	a.scheduled.mu.Lock()
	defer a.scheduled.mu.Unlock()
	a.scheduled.run = runMetrics(rep)
}

// runMetrics returns the numbers of a report.
func runMetrics(rep *report.Report) metrics.Run {
	millis := func(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
	return metrics.Run{
		Nodes: int64(rep.NodeCount),
		Phases: map[string]time.Duration{
			"read": millis(rep.ReadMillis), "project": millis(rep.ProjectMillis), "preProcessing": millis(rep.PreProcessingMillis),
			"privacy": millis(rep.PrivacyMillis), "recovery": millis(rep.RecoveryMillis), "write": millis(rep.WriteMillis),
		},
	}
}

// sawAccount keeps what is spent of a scope for the metrics.
func (a *app) sawAccount(ctx context.Context, l privacy.Ledger, scope string) {
	if a.config.Schedule.MetricsFile == "" || scope == "" {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), tellTime)
	defer stop()
	told, err := accountMetrics(ctx, l, scope)
	if err != nil {
		a.note("Warning: the metrics do not tell what is spent: %v", err)
		return
	}
	a.scheduled.mu.Lock()
	defer a.scheduled.mu.Unlock()
	a.scheduled.account = &told
}

// accountMetrics returns what the account that pays for a scope has spent; an ε beyond conversion is NaN.
func accountMetrics(ctx context.Context, l privacy.Ledger, scope string) (metrics.Account, error) {
	b, err := balance(ctx, l, scope, 0)
	if err != nil {
		return metrics.Account{}, err
	}
	orNaN := func(x *float64) float64 {
		if x == nil {
			return math.NaN()
		}
		return *x
	}
	told := metrics.Account{Scope: b.Scope, Delta: b.Delta, Spent: orNaN(b.Epsilon), Counted: orNaN(b.Epsilon)}
	if b.CapEpsilon != nil {
		told.Limit = *b.CapEpsilon
	}
	if b.CapPerSeconds > 0 {
		told.Counted = orNaN(b.RecentEpsilon)
	}
	return told, nil
}

// tell is called once the exit code is known, and returns it: what cannot be told is a
// warning.
func (a *app) tell(exit int, err error) int {
	a.scheduled.mu.Lock()
	defer a.scheduled.mu.Unlock()
	t := &a.scheduled
	if t.file == "" {
		return exit
	}
	t.run.ExitCode, t.run.End, t.run.Status = exit, time.Now(), a.endStatus(exit)
	if wait, ok := errors.AsType[*privacy.WaitError](err); ok && t.account != nil {
		t.account.Free = wait.Until
	}
	if err := t.write(a); err != nil {
		a.note("Warning: the metrics were not written: %v", err)
	}
	return exit
}

func (t *scheduled) write(a *app) error {
	name := metrics.NameOf(t.file)
	set := metrics.New(name, readBuild().Version)
	if err := set.Continue(t.file, name, t.run.End); err != nil {
		a.note("Warning: the counters begin again at zero: %v", err)
	}
	set.Ended(name, t.run)
	if t.account != nil {
		set.Account(name, *t.account)
	}
	return set.WriteFile(t.file)
}

// endStatus names the end of a command in metrics.
func (a *app) endStatus(exit int) string {
	switch {
	case exit == exitOK && a.scheduled.skipped:
		return metrics.Skipped
	case exit == exitOK:
		return metrics.Success
	case exit == exitBudget:
		return metrics.Budget
	case exit == exitUnfinished, a.unfinishedRun() != "":
		return metrics.Unfinished
	}
	return metrics.Failure
}

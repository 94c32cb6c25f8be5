// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	"github.com/graphcloak/graphcloak/internal/ping"
	"github.com/graphcloak/graphcloak/jobs"
)

// monitorOf returns the monitor that a job reports its runs to, nil where there is none.
func monitorOf(d jobs.Definition) (*ping.Monitor, error) {
	if d.PingURL == "" {
		return nil, nil
	}
	m, err := ping.New(d.PingURL)
	if err != nil {
		return nil, fail(exitValidation, "pingUrl: %w", err)
	}
	return m, nil
}

// pingStart reports to the monitor of a job that a run begins.
func (a *app) pingStart(ctx context.Context, d jobs.Definition, t jobs.Tick) {
	a.pingJob(ctx, d, t, "start", (*ping.Monitor).Start)
}

// pingEnd reports to the monitor of a job how a run ended.
func (a *app) pingEnd(d jobs.Definition, t jobs.Tick, end jobs.Ending, _ time.Duration) {
	a.pingJob(context.Background(), d, t, "end", func(m *ping.Monitor, ctx context.Context) error {
		return m.End(ctx, reportedExit(end))
	})
}

// reportedExit is the exit status that a monitor gets: 0 where the job goes on by itself
// once its budget has room, since nobody is to get up for it.
func reportedExit(end jobs.Ending) int {
	waits := end.Status == jobs.WaitingForBudget && !end.RenewsAt.IsZero()
	if waits || end.Status == jobs.Finished {
		return exitOK
	}
	return max(int(end.ExitCode), exitInternal)
}

// pingJob calls a monitor; a call that fails is a warning.
func (a *app) pingJob(ctx context.Context, d jobs.Definition, t jobs.Tick, what string, call func(*ping.Monitor, context.Context) error) {
	m, err := monitorOf(d)
	if m == nil || err != nil {
		return
	}
	ctx, stop := context.WithTimeout(ctx, tellTime)
	defer stop()
	if err := call(m, ctx); err != nil {
		a.log.Warn("a monitor was not told of a run", "job", d.Name, "tick", t.NominalTime, "told", what, "error", err)
	}
}

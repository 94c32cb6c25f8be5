// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/internal/suggest"
	"github.com/graphcloak/graphcloak/jobs"
)

func newJobCommand(app *app) *cobra.Command {
	return newGroup("job", "List, run, pause and cancel scheduled jobs",
		newJobListCommand(app), newJobShowCommand(app), newJobRunCommand(app),
		newJobPauseCommand(app, true), newJobPauseCommand(app, false), newJobCancelCommand(app))
}

// jobGroups are the settings of commands about jobs: those that say where the jobs are,
// and those that a job may leave to the command.
var jobGroups = slices.Concat(storeGroups, ownGroups, []config.Group{config.GroupServer})

// leasePace and pollPace are the lease of a claim and the pause between two looks at the jobs, where the linker sets
// them: tests that kill servers do not wait for those of package jobs.
var leasePace, pollPace string

// pace is 0, the engine's own, where nothing is set.
func pace(text string) time.Duration {
	d, _ := time.ParseDuration(text)
	return d
}

// instance names this process for people.
func instance() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s/%d", term.Visible(host), os.Getpid())
}

// openJobs opens the store and makes an engine for its jobs.
func (a *app) openJobs(ctx context.Context) (graphStore, *jobs.Engine, error) {
	if err := a.onServer(); err != nil {
		return nil, nil, err
	}
	s, err := a.openReading(ctx)
	if err != nil {
		return nil, nil, err
	}
	return s, jobs.New(jobs.Options{
		Store: jobsOf(s), Runner: jobRunner{a, s}, Settings: a.config.Jobs, Instance: instance(),
		Lease: pace(leasePace), Poll: pace(pollPace), Drain: drain, Log: a.log,
	}), nil
}

// onJobs gives a command the engine, and its only word as the name of a job.
func (a *app) onJobs(cmd *cobra.Command, do func(ctx context.Context, e *jobs.Engine, name string) error) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		s, e, err := a.openJobs(ctx)
		if err != nil {
			return err
		}
		defer s.Close(context.WithoutCancel(ctx))
		return do(ctx, e, append(args, "")[0])
	}
	return a.withSettings(cmd, jobDefaults, jobGroups)
}

var jobColumns = []string{"name", "status", "schedule", "timeZone", "lastRun", "nextRun", "message"}

func jobRow(s jobs.Summary) []any {
	return []any{s.Name, term.State(s.Status), s.Schedule, s.TimeZone, term.Time(s.LastRun), term.Time(s.NextRun), s.Message}
}

func newJobListCommand(app *app) *cobra.Command {
	return app.onJobs(&cobra.Command{
		Use:   "list",
		Short: "Every job with its last and next run, and what is wrong with it",
		Example: "  graphcloak job list --uri neo4j://localhost:7687 -u neo4j\n" +
			"  graphcloak job list --config night.yaml --format table",
	}, func(ctx context.Context, e *jobs.Engine, _ string) error {
		all, now, err := e.Jobs(ctx)
		if err != nil {
			return err
		}
		rows := make([]jobs.Summary, len(all))
		for i, j := range all {
			rows[i] = j.Summary()
		}
		return app.render(map[string]any{"time": now, "jobs": rows}, term.Table(jobColumns, rows, jobRow),
			term.Section{Text: "All times are UTC, by the store's clock, which says " + term.Time(now) + "."})
	})
}

// findJob returns a job of a name.
func findJob(ctx context.Context, e *jobs.Engine, name string) (jobs.Job, error) {
	all, _, err := e.Jobs(ctx)
	if err != nil {
		return jobs.Job{}, err
	}
	var names []string
	for _, j := range all {
		if j.Name == name {
			return j, nil
		}
		names = append(names, j.Name)
	}
	f := fail(exitNotFound, "there is no job %q", name).about("job", name).hint("`graphcloak job list` shows them all")
	if near := suggest.Nearest(name, names); near != "" {
		f = f.hint("did you mean %s?", near)
	}
	return jobs.Job{}, f
}

func newJobShowCommand(app *app) *cobra.Command {
	return app.onJobs(&cobra.Command{
		Use:     "show NAME",
		Short:   "A job, its settings and its last runs",
		Example: "  graphcloak job show nightly --uri neo4j://localhost:7687 -u neo4j",
		Args:    cobra.ExactArgs(1),
	}, func(ctx context.Context, e *jobs.Engine, name string) error {
		j, err := findJob(ctx, e, name)
		if err != nil {
			return err
		}
		ticks, err := e.Store.Ticks(ctx, jobs.TickQuery{JobName: name, Limit: 20})
		if err != nil {
			return err
		}
		s := j.Summary()
		value := struct {
			jobs.Summary
			Settings map[string]any `json:"settings,omitempty"`
			Ticks    []jobs.Claim   `json:"ticks"`
		}{s, j.Definition.Settings, append([]jobs.Claim{}, ticks...)}
		return app.render(value, term.Table(jobColumns, []jobs.Summary{s}, jobRow), term.Section{
			Title: "Ticks", Columns: []string{"nominalTime", "status", "attempts", "instance", "runId", "message"},
			Rows: term.Rows(ticks, func(c jobs.Claim) []any {
				return []any{term.Time(c.NominalTime), term.State(c.Status), c.Attempts, c.Instance, c.RunID, c.Message}
			}),
		})
	})
}

func newJobRunCommand(app *app) *cobra.Command {
	return app.onJobs(&cobra.Command{
		Use:   "run NAME",
		Short: "Run a job now, or complete its unfinished run, and wait for the end",
		Long: "run claims a tick of the job for now and runs it here, a paused job too. An unfinished run of the job is completed\n" +
			"instead, at no further cost. Exit codes are those of `graphcloak run`.",
		Example: "  graphcloak job run nightly --uri neo4j://localhost:7687 -u neo4j",
		Args:    cobra.ExactArgs(1),
	}, func(ctx context.Context, e *jobs.Engine, name string) error {
		if _, err := findJob(ctx, e, name); err != nil {
			return err
		}
		app.setGrace(drain)
		claim, end, err := e.RunNow(ctx, name)
		if err != nil {
			return err
		}
		return app.tickEnded(claim, end)
	})
}

// tickEnded prints how a tick ended, or makes the error of it.
func (a *app) tickEnded(c jobs.Claim, end jobs.Ending) error {
	switch {
	case end.Status == jobs.Finished:
		value := map[string]any{
			"jobName": c.JobName, "nominalTime": c.NominalTime, "runId": end.RunID, "status": end.Status,
			"message": end.Message,
		}
		return a.render(value, term.Section{Text: end.Message}, term.Section{
			Columns: []string{"jobName", "nominalTime", "runId", "status"},
			Rows:    slices.Values([][]any{{c.JobName, term.Time(c.NominalTime), end.RunID, term.State(end.Status)}}),
		})
	case end.Retry && end.Spent:
		return fail(exitUnfinished, "the run of job %s is unfinished, and its budget is or may be spent: %s", c.JobName, end.Message).
			hint("the same command goes on with it, and so does `graphcloak serve`; nothing is spent twice").about("run", end.RunID)
	case end.Status == jobs.WaitingForBudget && !end.RenewsAt.IsZero():
		return fail(exitBudget, "%s", end.Message).hint("nothing was released; there is room from %s on", term.Time(end.RenewsAt))
	case end.Retry:
		return fail(max(int(end.ExitCode), exitInternal), "the run of job %s has ended; nothing was spent: %s", c.JobName,
			end.Message).hint("%s", end.Hint)
	}
	return fail(max(int(end.ExitCode), exitInternal), "%s", end.Message).hint("%s", end.Hint)
}

func newJobPauseCommand(app *app, pause bool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "pause NAME", Short: "Keep a job from being run on its schedule",
		Example: "  graphcloak job pause nightly --uri neo4j://localhost:7687 -u neo4j", Args: cobra.ExactArgs(1),
	}
	if !pause {
		cmd.Use, cmd.Short = "resume NAME", "Let a job go on that is paused, or whose last time is ahead of the clock"
		cmd.Example = "  graphcloak job resume nightly --uri neo4j://localhost:7687 -u neo4j"
	}
	return app.onJobs(cmd, func(ctx context.Context, e *jobs.Engine, name string) error {
		if _, err := findJob(ctx, e, name); err != nil {
			return err
		}
		if err := e.Pause(ctx, name, pause); err != nil {
			return err
		}
		j, err := findJob(ctx, e, name)
		if err != nil {
			return err
		}
		s := j.Summary()
		return app.render(s, term.Table(jobColumns, []jobs.Summary{s}, jobRow))
	})
}

func newJobCancelCommand(app *app) *cobra.Command {
	return app.onJobs(&cobra.Command{
		Use:   "cancel NAME",
		Short: "Ask the process that runs a job to stop; what the run spent stays spent",
		Long: "cancel stops the run that is under way, within a third of the lease, and takes back what it wrote. The schedule goes\n" +
			"on.",
		Example: "  graphcloak job cancel nightly --uri neo4j://localhost:7687 -u neo4j",
		Args:    cobra.ExactArgs(1),
	}, func(ctx context.Context, e *jobs.Engine, name string) error {
		tick, err := e.Store.Cancel(ctx, name)
		if errors.Is(err, jobs.ErrNoJob) {
			if _, err := findJob(ctx, e, name); err != nil {
				return err
			}
			return fail(exitNotFound, "job %q has no run under way", name).about("job",
				name).hint("`graphcloak job show %s` says how its last runs ended", name)
		}
		if err != nil {
			return err
		}
		return app.render(tick, term.Section{Text: fmt.Sprintf("The run of %s at %s is asked to stop.", name, term.Time(tick.NominalTime))})
	})
}

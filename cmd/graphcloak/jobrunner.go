// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/run"
	"github.com/graphcloak/graphcloak/study"
)

// jobRunner runs the ticks of jobs on one store: the same run as the command's, which
// is kept in the claim of its tick instead of the folder for state.
type jobRunner struct {
	app *app // whose settings a job's go over
	s   graphStore
}

// ownGroups are what a job may set.
var ownGroups = []config.Group{
	config.GroupProjection, config.GroupQueries, config.GroupDiffusion, config.GroupSensors, config.GroupSignal, config.GroupPrivacy,
	config.GroupScenario, config.GroupBudget, config.GroupRecovery, config.GroupCommunity, config.GroupWrite,
}

// of returns an app with the settings of a job, which talks to the log alone.
func (r jobRunner) of(d jobs.Definition) (*app, error) {
	c, err := r.app.config.Overlay(d.Name, d.Settings, ownGroups)
	if err != nil {
		return nil, err
	}
	return r.with(c), nil
}

func (r jobRunner) with(c *config.Config) *app {
	a := newApp(nil, strings.NewReader(""), io.Discard, io.Discard)
	a.config, a.log, a.console.Log = c, r.app.log, r.app.log
	return a
}

// Check finds what is wrong with a job's settings without reading the store.
func (r jobRunner) Check(d jobs.Definition) error {
	a, err := r.of(d)
	if err != nil {
		return err
	}
	_, err = a.tickJob()
	if f, ok := errors.AsType[*failure](err); ok && f.suggestion != "" { // the message is all that is shown
		return fmt.Errorf("%w; %s", err, f.suggestion)
	}
	return err
}

// tickJob returns the job of the settings, with its noise.
func (a *app) tickJob() (graphcloak.Job, error) {
	job, err := a.job()
	if err != nil {
		return job, err
	}
	if job.Signal.IsZero() {
		return job, fail(exitValidation, "nothing to release: sourceProperty, measurementProperty and answerProperty are missing")
	}
	job.RequireCap = true
	if err := needDrawnID(job.Plan.Randomness, "the time of a job names"); err != nil {
		return job, err
	}
	job.Noise, err = a.noise(job.Plan.Randomness)
	return job, err
}

// Run goes on with what an earlier attempt kept, or begins.
func (r jobRunner) Run(ctx context.Context, w jobs.Work) jobs.Ending {
	if len(w.Saved) > 0 {
		rep, mode, err := r.completeKept(ctx, w)
		if !errors.Is(err, run.ErrUnpaid) {
			return r.ending(w, rep, mode, err, true)
		}
		if w.Definition.ScheduleText == "" {
			return jobs.Ending{Outcome: jobs.Outcome{
				Status: jobs.Canceled, RunID: w.ReleaseID,
				Message: "the job is gone; nothing was spent",
			}}
		}
	}
	a, err := r.of(w.Definition)
	if err != nil {
		return r.ending(w, nil, "", err, false)
	}
	rep, err := r.begin(ctx, a, w)
	end := r.ending(w, rep, a.config.Write.Mode, err, false)
	if end.Status == jobs.Finished {
		end.Message = withWarnings(end.Message, a.warnings)
	}
	end.Run.BudgetScope, end.Run.Signal = scopeOf(a.config), signalOf(a.config).Property()
	return end
}

// begin runs a tick from its start. Its attempt has the token of its tick: another
// instance that begins it again, because nothing was paid yet, repeats this payment and
// does not add to it.
func (r jobRunner) begin(ctx context.Context, a *app, w jobs.Work) (*report.Report, error) {
	job, err := a.tickJob()
	if err != nil {
		return nil, err
	}
	job.RunID, job.Attempt, job.AskFirst = w.ReleaseID, "tick-"+w.ReleaseID, true
	s, err := a.watch(r.s)
	if err != nil {
		return nil, err
	}
	if err := a.checkSignal(ctx, s, job.Signal); err != nil {
		return nil, err
	}
	m, err := a.load(ctx, s, job)
	if err != nil {
		return nil, err
	}
	if job.Caller, err = a.callerOf(job); err != nil {
		return nil, err
	}
	job.Keep = keepIn(ctx, w)
	job.Planned = func(p *graphcloak.Plan) error {
		return a.adviseTick(ctx, m, p, job, w.Tick)
	}
	rep, err := m.Run(ctx, job)
	return rep, explain(job, err)
}

// adviseTick logs what the command warns of before it spends, and refuses what it refuses. Advice that is not had ends no tick.
func (a *app) adviseTick(ctx context.Context, m *graphcloak.Model, p *graphcloak.Plan, job graphcloak.Job, t jobs.Tick) error {
	err := a.adviseOnPlan(ctx, m, p, job.Recover)
	for _, w := range a.warnings {
		a.log.Warn("a run may disappoint", "job", t.JobName, "tick", t.NominalTime, "warning", w)
	}
	if errors.Is(err, study.ErrAtChance) {
		return err
	}
	if err != nil && ctx.Err() == nil {
		a.log.Warn("what may disappoint about a run was not found", "job", t.JobName, "tick", t.NominalTime, "error", err)
	}
	return ctx.Err()
}

// completeKept completes a tick from what was kept of it. [run.ErrUnpaid]: nothing was
// spent, and its reservation is taken back.
func (r jobRunner) completeKept(ctx context.Context, w jobs.Work) (*report.Report, string, error) {
	kept, c, err := readSaved(w.Saved)
	if err != nil {
		return nil, "", err
	}
	a := r.with(r.app.config)
	if own, err := r.of(w.Definition); err == nil {
		a = own // its queries are those that may be run: what was kept lay where others write
	}
	job := a.keptJob(kept, c, w.ReleaseID)
	if err := a.checkSaved(job.Settings); err != nil {
		return nil, c.Mode, err
	}
	job.Keep = keepIn(ctx, w)
	s, err := a.watch(r.s)
	if err != nil {
		return nil, c.Mode, err
	}
	m, err := a.redeem(ctx, s, kept, job, func(*graphcloak.Model) error { return nil })
	if err != nil {
		return nil, c.Mode, err
	}
	rep, err := m.Resume(ctx, kept, job)
	return rep, c.Mode, err
}

// checkSaved refuses a saved run that publishes a property which its job does not name: anyone
// who may write records of ticks does not thereby read with the server's rights.
func (a *app) checkSaved(saved graphcloak.Settings) error {
	own, err := a.job()
	if err != nil {
		return err
	}
	allowed := own.Settings.PublicProperties("")
	for _, name := range saved.PublicProperties() {
		if !slices.Contains(allowed, name) {
			return fail(exitConflict, "what is kept of the run publishes the property %q, which its job does not name", term.Visible(name)).
				hint("where the job was changed or removed since, let its next run begin again")
		}
	}
	return nil
}

// GiveUp ends a tick's run as `run --undo` does.
func (r jobRunner) GiveUp(ctx context.Context, w jobs.Work) error {
	kept, _, err := readSaved(w.Saved)
	if err == nil {
		_, err = r.with(r.app.config).giveUp(ctx, r.s, kept, w.ReleaseID)
	}
	return err
}

// ending says how an attempt ended. Resumed tells that something of it was kept.
func (r jobRunner) ending(w jobs.Work, rep *report.Report, mode string, err error, resumed bool) jobs.Ending {
	if err == nil {
		return jobs.Ending{
			Outcome: jobs.Outcome{Status: jobs.Finished, RunID: w.ReleaseID, Message: rep.Answer},
			Spent:   true, Run: connector.RunOf(rep, mode),
		}
	}
	what := describe(err)
	end := jobs.Ending{Outcome: jobs.Outcome{
		Status: jobs.Failed, RunID: w.ReleaseID, ExitCode: int64(what.ExitCode), Message: term.Visible(what.Message),
	}, Hint: term.Visible(what.Suggestion), Spent: resumed}
	if e, ok := errors.AsType[*graphcloak.UnfinishedError](err); ok {
		end.Spent = e.Spent != run.NotSpent
	}
	end.Run = &jobs.Run{RunID: w.ReleaseID, ReleaseID: w.ReleaseID, Mode: mode, Spent: end.Spent}
	if errors.Is(err, privacy.ErrExhausted) {
		return refused(end, err)
	}
	end.Retry = mayPass(err, end.Spent)
	return end
}

// refused is the ending of a tick whose budget refused it.
func refused(end jobs.Ending, err error) jobs.Ending {
	end.Status = jobs.WaitingForBudget
	if errors.Is(err, privacy.ErrOverBudget) {
		end.Status = jobs.OverBudget
	}
	if e, ok := errors.AsType[*privacy.WaitError](err); ok {
		end.RenewsAt, end.Hint = e.Until, "" // the message tells when
	}
	return end
}

// mayPass reports whether another attempt at the same tick may do better: where the
// store was away, the run was interrupted, or another run was in the way. A run that is
// paid for is worth another attempt unless its input is gone.
func mayPass(err error, spent bool) bool {
	_, inTheWay := errors.AsType[*connector.UnfinishedError](err)
	exit := exitCode(err)
	switch exit {
	case exitTransient, exitInterrupt, exitTerminated:
		return true
	case exitNotFound, exitConflict, exitValidation, exitUsage:
		return inTheWay
	}
	return spent || errors.Is(err, context.Canceled) || errors.Is(err, jobs.ErrLost)
}

// keepIn keeps a run in the claim of its tick.
func keepIn(ctx context.Context, w jobs.Work) func(*run.Kept) error {
	return func(k *run.Kept) error {
		packed, err := k.Pack()
		if errors.Is(err, run.ErrTooLarge) {
			return fail(exitValidation, "%w", err).hint("run it by the command, or choose fewer sensors")
		}
		if err != nil {
			return err
		}
		return w.Save(ctx, packed)
	}
}

// readSaved reads what was kept by keepIn.
func readSaved(saved []byte) (*run.Kept, caller, error) {
	kept, err := run.Unpack(saved)
	if err != nil {
		return nil, caller{}, fail(exitValidation, "what is kept of the run cannot be read: %w", err)
	}
	c, err := readCaller(kept)
	return kept, c, err
}

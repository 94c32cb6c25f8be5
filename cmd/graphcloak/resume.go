// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/run"
)

// notOverNewer refuses to complete a run over the values of one that was started
// later and is finished.
func (a *app) notOverNewer(ctx context.Context, s graphStore, m *graphcloak.Model, kept *run.Kept, runID string) error {
	if !kept.Write.Enabled || a.config.Output.Force {
		return nil
	}
	runs, err := s.History().ListRuns(ctx, jobs.RunQuery{})
	if err != nil {
		return err
	}
	digest := m.Graph.Digest()
	column := report.Outline(runID, kept.Write.Prefix, nil).RunIDColumn()
	for _, r := range runs {
		if r.WriteStatus() == jobs.Finished && r.Write.RunIDColumn == column && r.Write.Graph == hex.EncodeToString(digest[:]) &&
			startedLater(runs, r, runID) {
			return fail(exitConflict, "run %s was finished on this graph since", r.RunID).
				hint("--force replaces its values; `graphcloak run --undo %s` gives this run up", runID).about("run", r.RunID)
		}
	}
	return nil
}

// startedLater reports whether a run began after another one. Ids that the program made
// sort by time, those of a scheduler need not.
func startedLater(runs []jobs.Run, r jobs.Run, runID string) bool {
	own, err := connector.FindWritten(runs, runID)
	if at, than := r.StartedAt, own.StartedAt; err == nil && !at.IsZero() && !than.IsZero() && !at.Equal(than) {
		return at.After(than)
	}
	return r.RunID > runID
}

// resume completes a run from what is kept of it.
func (a *app) resume(ctx context.Context, s graphStore, runID string) error {
	kept, err := a.lockAndRead(runID)
	if errors.Is(err, run.ErrUnderWay) {
		return underWay(runID)
	}
	if errors.Is(err, run.ErrNotKept) {
		if r, err := s.History().GetRun(ctx, runID); err == nil && r.Status == jobs.Finished && r.Report != nil {
			return fail(exitConflict, "run %s is finished: there is nothing to resume", r.RunID).
				hint("`graphcloak runs show %s` shows it", r.RunID).about("run", r.RunID)
		}
		return fail(exitNotFound, "nothing is kept of run %s here", runID).
			hint("it was started by another user or on another machine: resume it there, or give it up with --undo %s; `graphcloak runs "+
				"list` says what can be resumed", runID).about("run", runID)
	}
	if err != nil {
		return err
	}
	return a.completeKept(ctx, s, kept, runID)
}

// completeKept completes a run whose lock is held.
func (a *app) completeKept(ctx context.Context, s graphStore, kept *run.Kept, runID string) error {
	if err := mustBeOn(ctx, kept, s, runID); err != nil {
		return err
	}
	c, err := readCaller(kept)
	if err != nil {
		return err
	}
	if kept.Attempt != nil && c.Given != (a.signal != "") {
		given, hint := "the store", "leave --signal out"
		if c.Given {
			given, hint = "--signal", "give --signal with the same values"
		}
		return fail(exitUsage, "run %s takes its private values from %s", runID, given).hint("%s", hint).about("run", runID)
	}
	a.renewRecovery(&c)
	job := a.keptJob(kept, c, runID)
	job.Keep = a.heldRun().Keep
	m, err := a.redeem(ctx, s, kept, job, func(m *graphcloak.Model) error { return a.notOverNewer(ctx, s, m, kept, runID) })
	switch {
	case errors.Is(err, run.ErrUnpaid):
		if err := a.forget(); err != nil {
			return err
		}
		return fail(exitNotFound, "nothing was spent for run %s, and nothing was released: it is forgotten", runID).
			hint("start it again").about("run", runID)
	case errors.Is(err, privacy.ErrReplay):
		return fail(exitConflict, "run %s was given up, or its release was made elsewhere: %w", runID, err).
			hint("`graphcloak run --undo %s` removes what is left of it", runID).about("run", runID)
	case err != nil:
		return a.outdated(err, runID)
	}
	if kept.ReleaseOnly && kept.Answers != nil {
		return a.finishAnswers(ctx, m, kept.Answers, job)
	}
	if kept.ReleaseOnly {
		return a.finishRelease(ctx, m, kept.Release, job)
	}
	if err := a.preparePage(ctx, s, m.Graph, job.Signal, job.RunID); err != nil {
		return err
	}
	start := time.Now()
	rep, err := m.Resume(ctx, kept, job)
	took := time.Since(start)
	err = a.chronicle(ctx, s, job, cmp.Or(c.Mode, "write"), took, rep, a.outdated(err, runID))
	return a.conclude(ctx, s, job, rep, err)
}

// keptJob is the job of a run that is gone on with. Its queries are agreed to where the
// settings hold them.
func (a *app) keptJob(kept *run.Kept, c caller, runID string) graphcloak.Job {
	a.agreeQueries(kept.Settings())
	set := chosen(*kept.Settings(), c.Recovery, c.Community)
	set.Communities.Caption = a.config.Report.Caption
	return graphcloak.Job{
		Settings: set, Signal: kept.Signal, Recover: recoverOptions(c.Recovery), Write: kept.Write,
		RunID: runID, Version: readBuild().Version, Configuration: c.Configuration,
	}
}

// renewRecovery takes how to recover from the command line where it says so: recovery
// costs nothing, and what stopped it may be an option.
func (a *app) renewRecovery(c *caller) {
	groups := []config.Group{config.GroupRecovery, config.GroupCommunity}
	if a.settled(groups...) == "" {
		return
	}
	c.Recovery, c.Community = a.config.Recovery, a.config.Community
	chosen := configuration(a.config)
	for _, s := range config.Settings() {
		if !slices.Contains(groups, s.Group) {
			continue
		}
		delete(c.Configuration, s.Key)
		if v, ok := chosen[s.Key]; ok && c.Configuration != nil {
			c.Configuration[s.Key] = v
		}
	}
}

// redeem makes the release of a run that is kept, of the command or of a job: on its graph, and once check has nothing against it.
// The errors are those of [run.Model.Redeem].
func (a *app) redeem(ctx context.Context, s graphStore, kept *run.Kept, job graphcloak.Job, check func(*graphcloak.Model) error) (
	m *graphcloak.Model, err error,
) {
	if m, err = a.model(ctx, s, job.Settings); err != nil {
		return nil, err
	}
	if err := check(m); err != nil {
		return nil, err
	}
	if kept.Attempt != nil {
		if job.Noise, err = a.noise(kept.Randomness()); err != nil {
			return nil, err
		}
		if job.Signal.Values, err = a.readSignal(m, job.Signal); err != nil {
			return nil, err
		}
	}
	return m, m.Redeem(ctx, kept, job)
}

// lockAndRead holds a run and reads what is kept of it. It returns [run.ErrUnderWay] where another process is at it and
// [run.ErrNotKept] where nothing is kept; in both cases it holds no run.
func (a *app) lockAndRead(runID string) (*run.Kept, error) {
	f, err := stateFolder()
	if err != nil {
		return nil, err
	}
	held, kept, err := f.Resume(runID)
	if held != nil {
		a.holding.Lock()
		a.held = held
		a.holding.Unlock()
		signal.Ignore(syscall.SIGPIPE) // a closed output is an error to report
	}
	switch {
	case err == nil || errors.Is(err, run.ErrUnderWay) || errors.Is(err, run.ErrNotKept):
		return kept, err
	case errors.Is(err, run.ErrBadRunID):
		return nil, fail(exitUsage, "%w", err).hint("a run prints its id as runId")
	case held != nil:
		return nil, fail(exitConflict, "run %s may be paid for, and what is kept of it cannot be read: %w", runID, err).
			hint("restore its file, or use the version of the program that wrote it; `graphcloak run --undo %s` gives it up", runID).
			about("run", runID)
	}
	return nil, stateError(err)
}

// interruption is what a command finds of an interrupted run of the same data.
type interruption struct {
	scope, identity string
	graph           privacy.Digest // zero: any
	fresh           bool           // it is given up
	dry             bool           // nothing is changed
}

// resolveInterrupted looks for runs of the same data that were interrupted here. One that
// spent nothing is deleted. One that is paid for is resumed if this is the same command,
// and the command is done; another command on the same graph is refused because of it,
// unless it is a demo's, which gives it up.
func (a *app) resolveInterrupted(ctx context.Context, s graphStore, e interruption) (done bool, err error) {
	ids, err := stagedRuns()
	for _, id := range ids {
		if done, err = a.meet(ctx, s, e, id); done || err != nil {
			return done, err
		}
	}
	return false, err
}

// meet settles a run that is kept here, where it is of the same data.
func (a *app) meet(ctx context.Context, s graphStore, e interruption, id string) (done bool, err error) {
	kept, err := a.lockAndRead(id)
	if errors.Is(err, run.ErrUnderWay) || errors.Is(err, run.ErrNotKept) {
		return false, nil // its process goes on with it, or has ended it
	}
	if err != nil {
		return false, errors.Join(err, a.drop())
	}
	here, err := kept.IsOn(ctx, s.Name(), s.Ledger())
	if err != nil || !here || run.Scope(kept.Signal) != e.scope {
		return false, errors.Join(err, a.drop())
	}
	if e.dry {
		a.note("Note: run %s of the same data was interrupted; a run would settle it first", id)
		return false, a.drop()
	}
	return a.settleOne(ctx, s, e, kept, id)
}

func (a *app) settleOne(ctx context.Context, s graphStore, e interruption, kept *run.Kept, id string) (done bool, err error) {
	paid, err := kept.Paid(ctx, s.Ledger())
	switch {
	case errors.Is(err, privacy.ErrReplay): // it was given up elsewhere
		return false, a.forget()
	case err != nil:
		return false, err
	case !paid:
		if err := s.Cancel(ctx, id); err != nil {
			return false, err
		}
		a.note("Note: run %s was interrupted before anything was spent; it is forgotten", id)
		return false, a.forget()
	case e.graph != (privacy.Digest{}) && kept.GraphDigest() != e.graph:
		a.note("Note: run %s of the same data on another graph, or on this one before it changed, is paid for and unfinished: "+
			"--resume %[1]s completes it where its graph is there, --undo %[1]s gives it up", id)
		return false, a.drop()
	case e.fresh:
		a.note("Note: run %s of the same data is given up; what it spent stays spent", id)
		_, err := a.giveUp(ctx, s, kept, id)
		return false, err
	case kept.Identity == e.identity:
		a.note("Note: run %s is the same, paid for and unfinished: it is resumed at no further cost", id)
		return true, a.completeKept(ctx, s, kept, id)
	}
	err = fail(exitConflict, "run %s of the same data is paid for and unfinished", id).
		hint("`graphcloak run --resume %s` completes it at no further cost, `--undo %[1]s` gives it up", id).
		about("run", id)
	return false, errors.Join(err, a.drop())
}

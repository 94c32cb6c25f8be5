// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
)

// nothingToDo ends a run that its scheduler asks for once more: one of the same data that
// was finished within --once-per, or the one that has this --release-id. A run with
// that id which was paid for and interrupted here is resumed.
func (a *app) nothingToDo(ctx context.Context, s graphStore, job *graphcloak.Job) (done bool, err error) {
	l, scope, per := s.Ledger(), run.Scope(job.Signal), a.config.Schedule.OncePer
	if a.releaseID != "" {
		if done, err = a.again(ctx, s, scope, a.releaseID); done || err != nil {
			return done, err
		}
	}
	if per == 0 {
		return false, nil
	}
	now, err := l.Now(ctx)
	if err != nil {
		return false, err
	}
	once, paid, err := run.Once(ctx, l, scope)
	if err != nil {
		return false, err
	}
	job.Ledger = once
	after := now.Add(-time.Duration(per))
	if last, ok := paid.Finished(after); ok {
		return true, a.skip(ctx, s, scope, last, fmt.Sprintf("--once-per %s: release %s of scope %q was finished at %s, and nothing "+
			"is spent again", per, last.ReleaseID, scope, last.Time.UTC().Format(time.RFC3339)))
	}
	if open := paid.Unfinished(after); len(open) > 0 && conditionOf(open[len(open)-1].ReleaseID) != run.Stopped {
		return true, paidElsewhere(open[len(open)-1].ReleaseID)
	}
	return false, nil
}

// again ends a run whose release the ledger knows.
func (a *app) again(ctx context.Context, s graphStore, scope, id string) (done bool, err error) {
	all, err := run.PaymentsOf(ctx, s.Ledger(), "")
	about := all.About(id)
	if err != nil || len(about) == 0 {
		return false, err
	}
	if paid := about[0]; paid.Charge == nil || paid.Charge.Scope != scope {
		return false, fail(exitConflict, "release %s is one of other data, in scope %q; this run is of scope %q", id, paid.Scope, scope).
			hint("give every run an id of its own, such as the name of the job and the day").about("release", id)
	}
	written, finished := about.Find(privacy.KindWritten)
	_, void := about.Find(privacy.KindVoid)
	switch {
	case finished:
		return true, a.skip(ctx, s, scope, written,
			fmt.Sprintf("release %s was finished at %s, and nothing is spent again", id, written.Time.UTC().Format(time.RFC3339)))
	case void:
		return true, fail(exitConflict, "release %s was given up; what it spent stays spent", id).
			hint("another release needs an id of its own").about("run", id)
	case conditionOf(id) != run.Stopped:
		return true, paidElsewhere(id)
	case a.config.Write.DryRun:
		return true, a.render(map[string]any{"dryRun": true, "wouldResume": id},
			term.Section{Text: fmt.Sprintf("A run would complete run %s; nothing more would be spent.", id)})
	}
	a.note("Note: run %s is paid for and unfinished: it is resumed at no further cost", id)
	return true, a.resume(ctx, s, id)
}

// paidElsewhere says that a release which a scheduler asks for again is not at its end.
func paidElsewhere(id string) error {
	return fail(exitTransient, "release %s is paid for and unfinished: another process is at it, or its machine is gone", id).
		hint("run it again later; the same command on the machine that paid completes it at no further cost; if that machine is gone, "+
			"`graphcloak run --undo %s` gives it up, and another id pays again", id).about("run", id)
}

// lostRace ends a run that another one of the same scheduler was faster than: it is done, or
// is to be asked for again.
func (a *app) lostRace(ctx context.Context, s graphStore, job graphcloak.Job, err error) (lost bool, why error) {
	_, paid := errors.AsType[*graphcloak.UnfinishedError](err)
	named := a.releaseID != "" && err != nil && exitCode(err) == exitConflict
	if paid || !named && !errors.Is(err, run.ErrPaidMeanwhile) {
		return false, nil
	}
	_ = a.unspent(job.RunID, err) // says err again
	return a.nothingToDo(ctx, s, &job)
}

// ofRelease is what may be part of the name of a file, a property and a URL.
var ofRelease = regexp.MustCompile(`^[0-9A-Za-z-]{1,64}$`)

// nameRelease is the flag --release-id. An empty one is a variable of a script that is not set, and would spend again.
func (a *app) nameRelease(id string) error {
	if !ofRelease.MatchString(id) {
		return errors.New("want 1 to 64 letters, digits and hyphens")
	}
	a.releaseID = id
	return nil
}

// skip says that there is nothing to do, which is no failure, and what the run answered
// that was done before, where the store tells.
func (a *app) skip(ctx context.Context, s graphStore, scope string, last privacy.Entry, why string) error {
	a.note("Note: %s", why)
	done := map[string]any{"skipped": true, "reason": why, "budgetScope": scope, "releaseId": last.ReleaseID, "finishedAt": last.Time}
	text := "Nothing to do: " + why + "."
	if r, err := s.History().GetRun(ctx, last.ReleaseID); err == nil {
		done["run"] = r
		text += " " + answerOf(r)
	}
	return a.render(done, term.Section{Text: text})
}

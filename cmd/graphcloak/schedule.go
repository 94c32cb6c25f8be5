// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"time"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/internal/metrics"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/run"
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
	b, err := payingBalance(ctx, l, scope, 0)
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

// nothingToDo ends a run that its scheduler asks for once more: one of the same data that
// was finished within --once-per, or the one that has this --release-id. A run with
// that id which was paid for and interrupted here is resumed.
func (a *app) nothingToDo(ctx context.Context, s graphStore, job *graphcloak.Job) (done bool, err error) {
	c, scope := a.config.Schedule, run.Scope(job.Signal)
	if a.releaseID != "" {
		if done, err = a.again(ctx, s, scope, a.releaseID); done || err != nil {
			return done, err
		}
	}
	if c.OncePer == 0 {
		return false, nil
	}
	l := s.Ledger()
	now, err := l.Now(ctx)
	if err != nil {
		return false, err
	}
	paying, err := privacy.Paying(ctx, l, scope)
	if err != nil {
		return false, err
	}
	entries, err := privacy.Releases(ctx, l, scope)
	if err != nil {
		return false, err
	}
	job.Ledger = &onceLedger{l, scope, paying.Releases, paidFor(entries)}
	after := now.Add(-time.Duration(c.OncePer))
	last := lastFinished(entries, after)
	if last == nil {
		id := lastUnfinished(entries, after)
		if id == "" || conditionOf(id) == run.Stopped {
			return false, nil
		}
		return true, paidElsewhere(id)
	}
	return true, a.skip(ctx, s, scope, *last, fmt.Sprintf("--once-per %s: release %s of scope %q was finished at %s, and nothing "+
		"is spent again",
		c.OncePer, last.ReleaseID, scope, last.Time.UTC().Format(time.RFC3339)))
}

// onceLedger pays for nothing once another release of its scope's data was paid for than those
// that were seen: it is asked in the transaction of the payment.
type onceLedger struct {
	privacy.Ledger
	scope string
	seen  int64 // releases of the account, others' among them
	own   int
}

// paidFor counts payments.
func paidFor(entries []privacy.Entry) (n int) {
	for _, e := range entries {
		if e.Kind == privacy.KindSpent {
			n++
		}
	}
	return n
}

var errPaidMeanwhile = errors.New("another run of the same data was paid for meanwhile")

// Update implements [privacy.Ledger].
func (l *onceLedger) Update(ctx context.Context, scope, releaseID string, rule privacy.Rule) error {
	for {
		seen := l.seen
		err := l.Ledger.Update(ctx, scope, releaseID, func(a privacy.Account, prior []privacy.Entry) (*privacy.Entry, error) {
			e, err := rule(a, prior)
			if err == nil && e != nil && e.Kind == privacy.KindSpent && e.Seq > a.Entries && a.Releases != seen {
				l.seen = a.Releases
				return nil, fail(exitTransient, "%w", errPaidMeanwhile).hint("run it again")
			}
			return e, err
		})
		if !errors.Is(err, errPaidMeanwhile) {
			return err
		}
		entries, unread := privacy.Releases(ctx, l.Ledger, l.scope)
		if unread != nil || paidFor(entries) != l.own { // else it was other data under the same cap
			return errors.Join(unread, err)
		}
	}
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
	if paid || !named && !errors.Is(err, errPaidMeanwhile) {
		return false, nil
	}
	_ = a.unspent(job.RunID, err) // says err again
	return a.nothingToDo(ctx, s, &job)
}

// lastUnfinished returns the latest release that was paid for after a time and is neither
// written nor given up, "" for none.
func lastUnfinished(entries []privacy.Entry, after time.Time) (id string) {
	for _, e := range entries {
		switch {
		case e.Kind == privacy.KindSpent && e.Time.After(after):
			id = e.ReleaseID
		case (e.Kind == privacy.KindWritten || e.Kind == privacy.KindVoid) && e.ReleaseID == id:
			id = ""
		}
	}
	return id
}

// lastFinished returns the entry of the latest release that was written and was paid for
// after a time.
func lastFinished(entries []privacy.Entry, after time.Time) *privacy.Entry {
	for i, e := range slices.Backward(entries) {
		paid := slices.IndexFunc(entries, func(p privacy.Entry) bool { return p.Kind == privacy.KindSpent && p.ReleaseID == e.ReleaseID })
		if e.Kind == privacy.KindWritten && paid >= 0 && entries[paid].Time.After(after) {
			return &entries[i]
		}
	}
	return nil
}

// again looks for the release that a scheduler has named before.
func (a *app) again(ctx context.Context, s graphStore, scope, id string) (done bool, err error) {
	scopes, err := s.Ledger().Scopes(ctx)
	if err != nil {
		return false, err
	}
	for _, other := range scopes {
		entries, err := s.Ledger().Entries(ctx, other)
		if err != nil {
			return false, err
		}
		about := slices.DeleteFunc(entries, func(e privacy.Entry) bool { return e.ReleaseID != id })
		if len(about) == 0 {
			continue
		}
		if paid := about[0].Charge; paid == nil || paid.Scope != scope {
			return false, fail(exitConflict, "release %s is one of other data, in scope %q; this run is of scope %q", id, other, scope).
				hint("give every run an id of its own, such as the name of the job and the day").about("release", id)
		}
		return a.settleNamed(ctx, s, scope, about)
	}
	return false, nil
}

// settleNamed ends a run whose release the ledger knows by these entries.
func (a *app) settleNamed(ctx context.Context, s graphStore, scope string, about []privacy.Entry) (done bool, err error) {
	last := about[len(about)-1]
	id := last.ReleaseID
	kind := func(k privacy.Kind) bool {
		return slices.ContainsFunc(about, func(e privacy.Entry) bool { return e.Kind == k })
	}
	switch {
	case kind(privacy.KindWritten):
		return true, a.skip(ctx, s, scope, last,
			fmt.Sprintf("release %s was finished at %s, and nothing is spent again", id, last.Time.UTC().Format(time.RFC3339)))
	case kind(privacy.KindVoid):
		return true, fail(exitConflict, "release %s was given up; what it spent stays spent", id).
			hint("another release needs an id of its own").about("run", id)
	case conditionOf(id) != run.Stopped:
		return true, paidElsewhere(id)
	}
	if a.config.Write.DryRun {
		a.note("Note: run %s is paid for and unfinished; a run would complete it at no further cost", id)
		return true, a.render(map[string]any{"dryRun": true, "wouldResume": id},
			term.Section{Text: fmt.Sprintf("A run would complete run %s; nothing more would be spent.", id)})
	}
	a.note("Note: run %s is paid for and unfinished: it is resumed at no further cost", id)
	return true, a.resume(ctx, s, id)
}

// releaseName is the flag --release-id. An empty one is a variable of a script that is not set, and would spend again.
type releaseName struct{ id *string }

// ofRelease is what may be part of the name of a file, a property and a URL.
var ofRelease = regexp.MustCompile(`^[0-9A-Za-z-]{1,64}$`)

func (n releaseName) Type() string   { return "string" }
func (n releaseName) String() string { return "" }

func (n releaseName) Set(id string) error {
	if !ofRelease.MatchString(id) {
		return errors.New("want 1 to 64 letters, digits and hyphens")
	}
	*n.id = id
	return nil
}

// newRunID is the id that the scheduler gave, or a new one.
func (a *app) newRunID() (string, error) {
	if a.releaseID != "" {
		return a.releaseID, nil
	}
	return run.NewRunID()
}

// skip says that there is nothing to do, which is no failure, and what the run answered
// that was done before, where the store tells.
func (a *app) skip(ctx context.Context, s graphStore, scope string, last privacy.Entry, why string) error {
	a.scheduled.mu.Lock()
	a.scheduled.skipped = true
	a.scheduled.mu.Unlock()
	a.note("Note: %s", why)
	done := map[string]any{"skipped": true, "reason": why, "budgetScope": scope, "releaseId": last.ReleaseID, "finishedAt": last.Time}
	text := "Nothing to do: " + why + "."
	if r, err := s.History().GetRun(ctx, last.ReleaseID); err == nil {
		done["run"] = r
		text += " " + answerOf(r)
	}
	return a.render(done, term.Section{Text: text})
}

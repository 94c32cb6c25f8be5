// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
)

// caller is what the command keeps with a run to make its job again.
type caller struct {
	Mode          string           `json:"mode"` // for the history
	Recovery      config.Recovery  `json:"recovery"`
	Community     config.Community `json:"community"`
	Configuration map[string]any   `json:"configuration,omitempty"`
	Given         bool             `json:"given,omitempty"` // --signal has the private values, not the store
}

// callerOf is what is kept with a run of these settings.
func (a *app) callerOf(job graphcloak.Job) (json.RawMessage, error) {
	c := a.config
	return json.Marshal(caller{c.Write.Mode, c.Recovery, c.Community, job.Configuration, job.Signal.Values != nil})
}

// readCaller reads what was kept by callerOf.
func readCaller(k *run.Kept) (c caller, err error) {
	if err = strictjson.Unmarshal(k.Caller, &c); err != nil {
		err = fail(exitValidation, "what is kept of the run cannot be read: %w", err)
	}
	return c, err
}

// stateFolder is where runs are kept.
func stateFolder() (run.Folder, error) {
	dir, err := stateDir("runs")
	return run.Folder(dir), err
}

// mustBeOn refuses every store but the run's own.
func mustBeOn(ctx context.Context, k *run.Kept, s graphStore, runID string) error {
	here, err := k.IsOn(ctx, s.Name(), s.Ledger())
	if err != nil || here {
		return err
	}
	return fail(exitConflict, "run %s was started on %s, this is %s", runID, k.Store, s.Name()).
		hint("name that store by --from or --uri; a folder that was moved is known again by its own ledger").about("run", runID)
}

// jobIdentity identifies what a command asks for: commands with the same identity have
// the same graph, signal, plan and recovery, whatever their output.
func jobIdentity(job graphcloak.Job, c *config.Config, digest any) (string, error) {
	data, err := json.Marshal([]any{
		digest, job.Signal, job.Settings, job.Write.Prefix, c.Write.Mode, c.Privacy, c.Escrow, c.Recovery, c.Community, job.Asking,
	})
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), err
}

// journal keeps a run on disk from before it costs anything until its end. room is
// what its result takes on disk.
func (a *app) journal(ctx context.Context, l privacy.Ledger, job *graphcloak.Job, room int64, identity string) (err error) {
	job.Identity = identity
	job.Caller, err = a.callerOf(*job)
	id, scope := job.RunID, run.Scope(job.Signal)
	job.Keep = func(k *run.Kept) error {
		if k.Attempt != nil { // nothing is left that would refuse the run
			if err := a.noteNewScope(ctx, l, scope); err != nil {
				return err
			}
			return a.begin(id, k, room)
		}
		return a.heldRun().Keep(k)
	}
	return err
}

// noteNewScope says, before anything is spent, that a scope is new: it has no cap.
func (a *app) noteNewScope(ctx context.Context, l privacy.Ledger, scope string) error {
	account, err := privacy.ReplayLedger(ctx, l, scope)
	if err == nil && account.Entries == 0 {
		a.note("Note: scope %q is new and has no cap; `graphcloak budget set` limits what its releases may spend together", scope)
	}
	return err
}

// begin makes sure that the run can be kept to its end and its result be written,
// takes the lock, and writes the attempt.
func (a *app) begin(runID string, k *run.Kept, room int64) error {
	if path := a.outputPath(); path != "" {
		if err := disk.Room(filepath.Dir(path), room); err != nil {
			return fail(exitValidation, "%s cannot be written: %w", path, err).hint("make room, or name another place with -o")
		}
	}
	f, err := stateFolder()
	if err != nil {
		return err
	}
	held, err := a.take(f, runID)
	if err != nil {
		return err
	}
	if err := held.Keep(k); err != nil {
		return errors.Join(stateError(err), a.forget())
	}
	return nil
}

// take takes the lock of a run that is about to be paid for, unless the command has ended.
func (a *app) take(f run.Folder, runID string) (*run.Held, error) {
	a.holding.Lock()
	defer a.holding.Unlock()
	if a.unpaid {
		return nil, context.Canceled
	}
	held, err := f.Take(runID)
	switch {
	case errors.Is(err, run.ErrUnderWay): // what is kept under the id is that process's
		return nil, underWay(runID)
	case err != nil:
		return nil, stateError(err)
	}
	a.held, a.paid = held, true
	signal.Ignore(syscall.SIGPIPE) // a closed output is an error to report
	return held, nil
}

// underWay refuses a run that another process here is at.
func underWay(runID string) error {
	return fail(exitTransient, "run %s is under way", runID).hint("wait for the end of its process").about("run", runID)
}

// outputSize is what a result takes: a node of a release some 310 bytes of JSON and its
// id, one of a report less, where names of communities are no longer than 100 bytes.
func outputSize(g *graph.Graph) int64 {
	room := int64(1<<16 + 400*g.Order())
	for i := range g.Order() {
		room += 2 * int64(len(g.ID(i)))
	}
	return room
}

// heldRun is the run that the command is at; nil: none.
func (a *app) heldRun() *run.Held {
	a.holding.Lock()
	defer a.holding.Unlock()
	return a.held
}

// unfinishedRun returns the run that the command has begun and not ended, or "".
func (a *app) unfinishedRun() string {
	if held := a.heldRun(); held != nil {
		return held.ID()
	}
	return ""
}

// let takes the run, if any, from the command that holds it, and ends it.
func (a *app) let(end func(*run.Held) error) error {
	a.holding.Lock()
	held := a.held
	a.held = nil
	a.holding.Unlock()
	if held == nil {
		return nil
	}
	return end(held)
}

// drop lets go of a run that stays as it is.
func (a *app) drop() error { return a.let((*run.Held).Close) }

// forget removes what is kept of the run that the command holds.
func (a *app) forget() error { return a.let((*run.Held).Forget) }

// conditionOf looks at the lock of a run.
func conditionOf(runID string) run.State {
	f, err := stateFolder()
	if err != nil {
		return run.Unknown
	}
	return f.State(runID)
}

// stagedRuns lists the runs that are kept, oldest first.
func stagedRuns() ([]string, error) {
	f, err := stateFolder()
	if err != nil {
		return nil, err
	}
	return f.Runs()
}

// isRunID reports whether a run of ours can have this id.
func isRunID(id string) bool {
	_, err := run.Folder("").Path(id)
	return err == nil
}

// checkState makes sure of the folder for state before any work is done.
func checkState() (dir string, err error) {
	dir, err = stateDir("runs")
	if err == nil {
		err = disk.Room(dir, 1<<12)
	}
	return dir, stateError(err)
}

// unspent forgets a run that ended before it cost anything.
func (a *app) unspent(runID string, err error) error {
	if _, ok := errors.AsType[*graphcloak.UnfinishedError](err); ok || err == nil {
		return err
	}
	if a.unfinishedRun() != runID { // another process may be at a run with the id that a scheduler gave
		return err
	}
	if left := a.forget(); left != nil {
		return errors.Join(err, left)
	}
	a.holding.Lock()
	defer a.holding.Unlock()
	a.paid = false
	return err
}

// paidFor says of an error after the end of a run that is held that its budget is spent.
func (a *app) paidFor(runID string, err error) error {
	if runID == "" || a.unfinishedRun() != runID {
		return err
	}
	return &graphcloak.UnfinishedError{RunID: runID, Spent: run.IsSpent, Err: err}
}

// giveUp ends a run for good, of the command or of a job: the values that it wrote go, its release is marked in the ledger as one
// that will never be written, the history says so, and what the command keeps of it is forgotten. What was spent stays spent. The
// release is named by what is kept of the run, where kept is not nil, else by the history, or last by the run's id.
// [connector.ErrNotFound]: neither the store nor its ledger knows the run.
func (a *app) giveUp(ctx context.Context, s graphStore, kept *run.Kept, runID string) (nodes int64, err error) {
	nodes, unknown := s.Undo(ctx, runID)
	if unknown != nil && !errors.Is(unknown, connector.ErrNotFound) {
		return 0, unknown
	}
	told, err := s.History().GetRun(ctx, runID)
	if err != nil && !errors.Is(err, jobs.ErrNoJob) {
		return 0, err
	}
	known := err == nil || kept != nil || unknown == nil
	release, scope := cmp.Or(told.ReleaseID, runID), told.BudgetScope
	if kept != nil {
		release, scope = kept.ReleaseID(), run.Scope(kept.Signal)
	}
	void, err := run.Void(ctx, s.Ledger(), scope, release)
	if err != nil {
		return 0, err
	}
	if !known && !void {
		return 0, unknown
	}
	if told.Status == jobs.Running {
		now, err := s.Ledger().Now(ctx)
		if err != nil {
			return 0, err
		}
		told.Status, told.EndedAt, told.Message = jobs.Canceled, now.UTC(), "it was given up; what it spent stays spent"
		if err := s.History().PutRun(ctx, told); err != nil {
			return 0, err
		}
	}
	return nodes, a.forget()
}

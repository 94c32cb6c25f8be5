// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
)

// errDied stands for the end of a process.
var errDied = errors.New("died")

// interrupted starts a run that dies where die is called, and lets go of its lock as
// the end of its process does. It returns the run's id.
func interrupted(t *testing.T, die func(*graphcloak.Job), args ...string) string {
	t.Helper()
	a, s, job := prepared(t, args...)
	m := must.Get(graphcloak.Load(t.Context(), s, job.Settings, graphcloak.LoadOptions{}))(t)
	identity := must.Get(jobIdentity(job, a.config, []any{m.Graph.Digest(), m.Settings.Operators}))(t)
	must.Do(t, a.journal(t.Context(), s.Ledger(), &job, outputSize(m.Graph), identity))
	die(&job)
	if _, err := graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{}); !errors.Is(err, errDied) {
		t.Fatalf("%v, want %v", err, errDied)
	}
	if conditionOf(job.RunID) != run.Running {
		t.Errorf("run %s is not held while its process lives", job.RunID)
	}
	must.Do(t, a.drop())
	if conditionOf(job.RunID) != run.Stopped {
		t.Errorf("run %s is not left behind", job.RunID)
	}
	return job.RunID
}

// unpaid dies when the attempt is on disk, unstaged when it is paid for.
func unpaid(job *graphcloak.Job) {
	keep := job.Keep
	job.Keep = func(k *run.Kept) error { return errors.Join(keep(k), errDied) }
}

func unstaged(job *graphcloak.Job) {
	keep := job.Keep
	job.Keep = func(k *run.Kept) error {
		if k.Attempt != nil {
			return keep(k)
		}
		return errDied
	}
}

// stagedPath is the file of a run that is kept.
func stagedPath(t *testing.T, id string) string {
	t.Helper()
	f := must.Get(stateFolder())(t)
	return must.Get(f.Path(id))(t)
}

// lockRun has a command hold a run.
func lockRun(t *testing.T, a *app, id string) {
	t.Helper()
	f := must.Get(stateFolder())(t)
	must.Get(a.take(f, id))(t)
}

func prepared(t *testing.T, args ...string) (*app, graphStore, graphcloak.Job) {
	t.Helper()
	dir, state := os.Getenv("GRAPH"), os.Getenv("XDG_STATE_HOME")
	a, _, _ := kit(t, append([]string{
		"--from", "folder:" + dir, "--source-property", "source", "--allocation", "uniform", "--mode",
		"write",
	}, args...)...)
	t.Setenv("XDG_STATE_HOME", state)
	s := must.Get(a.openStore(t.Context()))(t)
	job := must.Get(a.job())(t)
	job.RunID = cmp.Or(a.releaseID, must.Get(run.NewRunID())(t))
	return a, s, job
}

// again runs the same command, or another, as a new process would.
func again(t *testing.T, args ...string) (runID, notes string, err error) {
	t.Helper()
	a, s, _ := prepared(t, args...)
	stdout, stderr := new(strings.Builder), new(strings.Builder)
	a.stdout, a.console.Writer = stdout, stderr
	err = a.run(t.Context(), s)
	var rep struct{ RunID string }
	if err == nil && json.Unmarshal([]byte(stdout.String()), &rep) != nil {
		t.Fatalf("%s\n%s", stdout, stderr)
	}
	return rep.RunID, stderr.String(), err
}

// ledgerKinds lists what the ledger holds of the data, in order.
func ledgerKinds(t *testing.T) (kinds []string) {
	t.Helper()
	_, s, _ := prepared(t)
	entries := must.Get(s.Ledger().Entries(t.Context(), "property=source"))(t)
	for _, e := range entries {
		kinds = append(kinds, string(e.Kind))
	}
	if _, err := privacy.VerifyLedger(t.Context(), s.Ledger(), "property=source"); err != nil {
		t.Error(err)
	}
	return kinds
}

func graphFolder(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	writeGraph(t, dir, "id,source\na,1\nb,0\nc,0\n", "source,target\na,b\nb,c\n")
	t.Setenv("GRAPH", dir)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
}

// TestInterrupted: a run that died is settled by the next one of the same data: what
// was not paid for is forgotten; what was is resumed by the same command, is in the
// way of another one.
func TestInterrupted(t *testing.T) {
	for _, c := range []struct {
		name string
		die  func(*graphcloak.Job)
		args []string
		exit int // of the next command
		same bool
		note string
		want string // in the ledger
	}{
		{name: "unpaid", die: unpaid, note: "before anything was spent", want: "spent written"},
		{name: "paid, the same", die: unstaged, same: true, note: "resumed at no further cost", want: "spent written"},
		{name: "paid, another", die: unstaged, args: []string{"--tau", "3"}, exit: exitConflict, want: "spent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			graphFolder(t)
			first := interrupted(t, c.die)
			second, notes, err := again(t, c.args...)
			if c.exit != 0 {
				f, ok := errors.AsType[*failure](err)
				if !ok || f.exit != c.exit || !strings.Contains(f.suggestion, "--resume "+first) || f.resourceID != first {
					t.Errorf("%v, want exit %d and the way on", err, c.exit)
				}
			} else if err != nil || (second == first) != c.same || !strings.Contains(notes, c.note) {
				t.Errorf("run %s after %s: %v, notes %q", second, first, err, notes)
			}
			if got := strings.Join(ledgerKinds(t), " "); got != c.want {
				t.Errorf("the ledger holds %q, want %q", got, c.want)
			}
			if left, err := stagedRuns(); err != nil || (len(left) > 0) != (c.exit != 0) {
				t.Errorf("still kept: %q, %v", left, err)
			}
		})
	}
}

// TestResumeSettles: --resume says that nothing was spent, or draws the release of the
// attempt that was paid for;
// --undo gives a run up.
func TestResumeSettles(t *testing.T) {
	graphFolder(t)
	resume := func(id string) error {
		a, s, _ := prepared(t)
		defer a.drop()
		return a.resume(t.Context(), s, id)
	}
	id := interrupted(t, unpaid)
	if f, ok := errors.AsType[*failure](resume(id)); !ok || f.exit != exitNotFound || !strings.Contains(f.Error(), "nothing was spent") {
		t.Errorf("resuming what was not paid for: %v", f)
	}
	id = interrupted(t, unstaged)
	if err := resume("unknown"); exitCode(err) != exitNotFound {
		t.Errorf("resuming an unknown run: %v", err)
	}
	if err := resume(id); err != nil {
		t.Errorf("resuming what was paid for: %v", err)
	}
	if got := strings.Join(ledgerKinds(t), " "); got != "spent written" {
		t.Errorf("the ledger holds %q", got)
	}
	id = interrupted(t, unstaged)
	a, s, _ := prepared(t)
	if err := a.undo(t.Context(), s, id); err != nil {
		t.Error(err)
	}
	if got := strings.Join(ledgerKinds(t), " "); got != "spent written spent void" {
		t.Errorf("the ledger holds %q", got)
	}
	if err := resume(id); exitCode(err) != exitNotFound {
		t.Errorf("resuming a run that was given up: %v", err)
	}
}

// TestStagedRoom: the room that is held for a release is enough for it.
func TestStagedRoom(t *testing.T) {
	graphFolder(t)
	a, s, job := prepared(t)
	must.Do(t, a.journal(t.Context(), s.Ledger(), &job, 3, ""))
	keep := job.Keep
	var room, size int64
	job.Keep = func(k *run.Kept) error {
		if err := keep(k); err != nil {
			return err
		}
		path := stagedPath(t, job.RunID)
		if k.Attempt != nil {
			path = strings.TrimSuffix(path, ".json") + ".room"
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		if k.Attempt != nil {
			room = info.Size()
		} else {
			size = info.Size()
		}
		return nil
	}
	must.Get(graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{}))(t)
	if size == 0 || room < size {
		t.Errorf("the release has %d bytes, the room %d", size, room)
	}
}

// TestUnfinishedExit: a run that was begun and not ended is exit 13 whatever stopped
// it, but a signal and what spent nothing keep their own; nothing of it is retryable.
func TestUnfinishedExit(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{errors.New("anything"), exitUnfinished},
		{&graphcloak.UnfinishedError{RunID: "r", Spent: run.MaySpent, Err: privacy.ErrUncertain}, exitUnfinished},
		{&graphcloak.UnfinishedError{RunID: "r", Spent: run.IsSpent, Err: os.ErrPermission}, exitUnfinished},
		{&graphcloak.UnfinishedError{RunID: "r", Spent: run.NotSpent, Err: os.ErrPermission}, exitAuth},
		{signalError{15}, exitTerminated},
	} {
		a, stdout, stderr := kit(t, "--format", "json")
		lockRun(t, a, "r")
		if got := a.finish(t.Context(), c.err); got != c.want || !strings.Contains(stdout.String(), `"retryable": false`) ||
			!strings.Contains(stdout.String(), "--resume r") {
			t.Errorf("%v: exit %d, want %d\n%s%s", c.err, got, c.want, stdout, stderr)
		}
		must.Do(t, a.drop())
	}
}

// TestRunIsKnownByItsLedger: an interrupted run is that of a store which was moved
// or is named otherwise, and not of another store.
func TestRunIsKnownByItsLedger(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	a, _, _ := kit(t)
	openAt := func(name string) graphStore {
		t.Helper()
		path := filepath.Join(dir, name)
		writeGraph(t, path, "id\na\nb\n", "source,target\na,b\n")
		s := must.Get(a.openFolder(ctx, path, ""))(t)
		t.Cleanup(func() { s.Close(context.Background()) })
		return s
	}
	first := openAt("first")
	must.Get(privacy.SetCap(ctx, first.Ledger(), "s", privacy.Budget{Epsilon: 1, Delta: 0.1}))(t)
	ledger := must.Get(first.Ledger().Identity(ctx))(t)
	kept := run.Kept{Store: first.Name(), Ledger: ledger}
	must.Do(t, first.Close(ctx))
	must.Do(t, os.Rename(filepath.Join(dir, "first"), filepath.Join(dir, "moved")))
	for name, want := range map[string]bool{"moved": true, "other": false} {
		s := openAt(name)
		if here, err := kept.IsOn(ctx, s.Name(), s.Ledger()); here != want || err != nil {
			t.Errorf("on %s: %v, %v, want %v", name, here, err, want)
		}
	}
}

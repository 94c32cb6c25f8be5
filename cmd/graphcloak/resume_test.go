// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
)

// TestResumeRelease: a release that was paid for and never written is completed
// from what was kept of it, with the same values and at no further cost.
func TestResumeRelease(t *testing.T) {
	a, stdout, _ := kit(t, "--from", "folder:g", "--source-property", "source", "--allocation", "uniform", "--mode", "write")
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	ctx := t.Context()
	writeGraph(t, "g", "id,source\na,1\nb,0\n", "source,target\na,b\n")
	s, m, p, job := planned(t, a)
	r := must.Get(m.Release(ctx, p, graphcloak.Job{Signal: job.Signal, RunID: job.RunID, Attempt: "first"}))(t)
	c := must.Get(a.callerOf(job))(t)
	lockRun(t, a, job.RunID)
	kept := &run.Kept{Store: s.Name(), Release: r, ReleaseOnly: true, Signal: job.Signal, Write: job.Write, Caller: c}
	must.Do(t, errors.Join(a.heldRun().Keep(kept), a.drop()))
	must.Do(t, a.resume(ctx, s, job.RunID))
	if conditionOf(job.RunID) != run.Unknown {
		t.Error("the kept release is still there")
	}
	written := must.Get(s.Signal(ctx, m.Graph, "gcPrivateHeat"))(t)
	for k, y := range r.Values() {
		if written[k] != y {
			t.Errorf("node %d has %v, want %v", k, written[k], y)
		}
	}
	entries := must.Get(run.Payment(ctx, s.Ledger(), r))(t)
	if len(entries) != 2 || entries[0].Kind != privacy.KindSpent || entries[1].Kind != privacy.KindWritten {
		t.Errorf("entries %+v, want spent and written", entries)
	}
	if !bytes.Contains(stdout.Bytes(), []byte(`"planDigest"`)) {
		t.Error("the release was not printed")
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
		s := must.Get(a.openFolder(ctx, path))(t)
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

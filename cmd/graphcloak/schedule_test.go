// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
)

// TestNamedRelease: a run with an id of its scheduler that died is what the same command
// line goes on with, whatever else it says; it pays once.
func TestNamedRelease(t *testing.T) {
	const id = "nightly-2026-03-29"
	named := []string{"--release-id", id}
	for _, c := range []struct {
		name  string
		die   func() string // how the first one ended
		args  []string
		exit  int
		want  string // in the ledger
		notes string
	}{
		{name: "unpaid", die: func() string { return interrupted(t, unpaid, named...) }, want: "spent written"},
		{
			name: "paid", die: func() string { return interrupted(t, unstaged, named...) }, want: "spent written",
			notes: "resumed at no further cost",
		},
		{
			name: "paid, other settings", die: func() string { return interrupted(t, unstaged, named...) }, args: []string{"--tau", "3"},
			want: "spent written", notes: "resumed",
		},
		{name: "given up", die: func() string {
			runID := interrupted(t, unstaged, named...)
			succeeds(t, onGraph("run", "--undo", runID)...)
			return runID
		}, exit: exitConflict, want: "spent void"},
		{name: "lost", die: func() string {
			runID := interrupted(t, unstaged, named...)
			must.Do(t, os.Remove(stagedPath(t, runID)))
			return runID
		}, exit: exitTransient, want: "spent"},
	} {
		graphFolder(t)
		if runID := c.die(); runID != id {
			t.Fatalf("%s: run %s, want %s", c.name, runID, id)
		}
		for range 2 {
			_, notes, err := again(t, append(named, c.args...)...)
			if c.exit == 0 && err != nil || c.exit != 0 && exitCode(err) != c.exit {
				t.Errorf("%s: %v, want exit %d", c.name, err, c.exit)
			}
			if !strings.Contains(notes, c.notes) {
				t.Errorf("%s: notes %q, want %q", c.name, notes, c.notes)
			}
			c.notes = "" // the second finds it finished
		}
		if kinds := strings.Join(ledgerKinds(t), " "); kinds != c.want {
			t.Errorf("%s: the ledger holds %s, want %s", c.name, kinds, c.want)
		}
	}
}

// TestNamedReleaseUnderWay: a second process with the id of one that lives spends nothing,
// and leaves what is kept of the first as it is.
func TestNamedReleaseUnderWay(t *testing.T) {
	graphFolder(t)
	first, s, job := prepared(t, "--release-id", "nightly")
	m := must.Get(graphcloak.Load(t.Context(), s, job.Settings, graphcloak.LoadOptions{}))(t)
	must.Do(t, first.journal(t.Context(), s.Ledger(), &job, outputSize(m.Graph), "another command"))
	keep := job.Keep
	job.Keep = func(k *run.Kept) error {
		if err := keep(k); err != nil || k.Attempt == nil {
			return err
		}
		_, _, err := again(t, "--release-id", "nightly")
		if exitCode(err) != exitTransient || !strings.Contains(err.Error(), "under way") {
			t.Errorf("the second: %v", err)
		}
		if f, err := stateFolder(); err != nil || f.State("nightly") != run.Running {
			t.Errorf("what is kept of the first: %v", err)
		}
		return nil
	}
	must.Get(m.Run(t.Context(), job))(t)
	if kinds := strings.Join(ledgerKinds(t), " "); kinds != "spent written" {
		t.Errorf("the ledger holds %s", kinds)
	}
}

// racing is a store on which another process does something just before this one pays.
type racing struct {
	graphStore
	before *func()
}

func (r racing) Ledger() privacy.Ledger { return racingLedger{r.graphStore.Ledger(), r.before} }

type racingLedger struct {
	privacy.Ledger
	before *func()
}

func (l racingLedger) Update(ctx context.Context, scope, releaseID string, rule privacy.Rule) error {
	if do := *l.before; do != nil && releaseID != "" {
		*l.before = nil
		do()
	}
	return l.Ledger.Update(ctx, scope, releaseID, rule)
}

// TestStartedTogether: of two runs that a scheduler starts together one pays. The other finds
// its work done, or that it must be asked for again while the first is at it.
func TestStartedTogether(t *testing.T) {
	for _, same := range [][]string{{"--once-per", "20h"}, {"--release-id", "nightly"}} {
		for _, unfinished := range []bool{false, true} {
			graphFolder(t)
			args := append([]string{"--mode", "stats"}, same...)
			a, s, _ := prepared(t, args...)
			stdout, stderr := new(strings.Builder), new(strings.Builder)
			a.stdout, a.console.Writer = stdout, stderr
			first := func() {
				state := os.Getenv("XDG_STATE_HOME")
				t.Setenv("XDG_STATE_HOME", t.TempDir()) // of another machine
				if unfinished {
					interrupted(t, unstaged, args...)
				} else if _, _, err := again(t, args...); err != nil {
					t.Errorf("%q: the first: %v", same, err)
				}
				t.Setenv("XDG_STATE_HOME", state)
			}
			err := a.run(t.Context(), racing{s, &first})
			want := "spent written"
			if unfinished {
				want = "spent"
				if exitCode(err) != exitTransient {
					t.Errorf("%q beside an unfinished run: %v, want exit %d", same, err, exitTransient)
				}
			} else if err != nil || !strings.Contains(stdout.String(), `"skipped": true`) {
				t.Errorf("%q: %v\n%s%s", same, err, stdout, stderr)
			}
			if kinds := strings.Join(ledgerKinds(t), " "); kinds != want {
				t.Errorf("%q, unfinished %v: the ledger holds %s, want %s", same, unfinished, kinds, want)
			}
			if _, _, err := again(t, args...); (err != nil) != unfinished || unfinished && exitCode(err) != exitTransient {
				t.Errorf("%q, unfinished %v, once more: %v", same, unfinished, err)
			}
		}
	}
}

// TestStartedLater: what began later is told by its time; ids of schedulers sort as they
// like.
func TestStartedLater(t *testing.T) {
	run := func(id, at string) jobs.Run {
		started, _ := time.Parse(time.RFC3339, at)
		return jobs.Run{RunID: id, StartedAt: started, Write: &jobs.Write{}}
	}
	for _, c := range []struct {
		r, own jobs.Run
		want   bool
	}{
		{run("0195", "2026-03-30T00:00:00Z"), run("nightly-29", "2026-03-29T00:00:00Z"), true},
		{run("nightly-28", "2026-03-28T00:00:00Z"), run("0195", "2026-03-29T00:00:00Z"), false},
		{run("0196", ""), run("0195", "2026-03-29T00:00:00Z"), true},
		{run("0194", "no time"), run("0195", "2026-03-29T00:00:00Z"), false},
	} {
		if got := startedLater([]jobs.Run{c.own, c.r}, c.r, c.own.RunID); got != c.want {
			t.Errorf("%s of %v after %s of %v: %t", c.r.RunID, c.r.StartedAt, c.own.RunID, c.own.StartedAt, got)
		}
	}
}

// TestNoNamedEscrow: under escrow randomness an id that is not drawn is refused, of the
// command and of a job: two stores with one key may have it.
func TestNoNamedEscrow(t *testing.T) {
	graphFolder(t)
	key := filepath.Join(t.TempDir(), "key")
	succeeds(t, "key", "create", key)
	escrow := []string{"--key", key, "--deployment", "acme"}
	if _, _, err := again(t, append(escrow, "--release-id", "nightly")...); exitCode(err) != exitValidation {
		t.Errorf("--release-id: %v", err)
	}
	if kinds := ledgerKinds(t); len(kinds) > 0 {
		t.Errorf("the ledger holds %q", kinds)
	}
	if _, _, err := again(t, escrow...); err != nil {
		t.Errorf("an id that is drawn: %v", err)
	}
	a, _, _ := prepared(t, escrow...)
	d := must.Get(jobs.Define(map[string]any{"name": "nightly", "schedule": "@daily"}))(t)
	if err := (jobRunner{a, nil}).Check(d); exitCode(err) != exitValidation {
		t.Errorf("a job: %v", err)
	}
}

// TestNamedDryRun: a dry run completes nothing that is paid for.
func TestNamedDryRun(t *testing.T) {
	graphFolder(t)
	id := interrupted(t, unstaged, "--release-id", "nightly")
	nodes := filepath.Join(os.Getenv("GRAPH"), "nodes.csv")
	before := must.Get(os.ReadFile(nodes))(t)
	if _, _, err := again(t, "--release-id", id, "--dry-run"); err != nil {
		t.Error(err)
	}
	after, err := os.ReadFile(nodes)
	if got := strings.Join(ledgerKinds(t), " "); err != nil || got != "spent" || string(before) != string(after) ||
		conditionOf(id) != run.Stopped {
		t.Errorf("after a dry run the ledger holds %q and nodes.csv\n%s (%v)", got, after, err)
	}
}

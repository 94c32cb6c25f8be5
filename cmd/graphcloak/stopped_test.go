// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/run"
)

// TestStoppedSaysWhatWasSpent: anyone who stops a command that spends is told whether it did, and
// how to go on where it did.
func TestStoppedSaysWhatWasSpent(t *testing.T) {
	paid := &graphcloak.UnfinishedError{RunID: "r1", Spent: run.IsSpent, Err: context.Canceled}
	late := &graphcloak.UnfinishedError{RunID: "r1", Spent: run.IsSpent, Err: context.DeadlineExceeded}
	for _, c := range []struct {
		name         string
		args         []string
		pays, begins bool
		signal       bool
		err          error
		exit         int
		want, not    string
	}{
		{"before", nil, true, false, true, context.Canceled, exitInterrupt, "interrupt; nothing was spent", "resume"},
		{
			"too late before",
			[]string{"--timeout", "1ms"},
			true, false, false, context.DeadlineExceeded, exitTransient,
			"1ms; nothing was spent", "resume",
		},
		{"of a plan", nil, false, false, true, context.Canceled, exitInterrupt, "interrupt", "spent"},
		{
			"after", nil, true, true, true, fmt.Errorf("write: %w", paid), exitInterrupt, "run r1 is unfinished, its budget is spent",
			"nothing was spent",
		},
		{
			"too late after",
			[]string{"--timeout", "1ms"},
			true, true, false, late, exitUnfinished,
			"run r1 is unfinished, its budget is spent", "nothing was spent",
		},
		{"the work goes on", nil, true, true, true, context.Canceled, exitInterrupt, "its budget may be spent", "nothing was spent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, _, stderr := kit(t, append(c.args, "--format", "table")...)
			t.Setenv("XDG_STATE_HOME", t.TempDir())
			a.pays = c.pays
			if c.begins {
				if err := a.mayPay(); err != nil {
					t.Fatal(err)
				}
				lockRun(t, a, "r1")
				defer a.drop()
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			if c.signal {
				cancel(signalError{syscall.SIGINT})
			}
			exit := a.finish(ctx, c.err)
			text := strings.Join(strings.Fields(stderr.String()), " ")
			if exit != c.exit || !strings.Contains(text, c.want) || strings.Contains(text, c.not) || c.begins &&
				!strings.Contains(text, "--resume r1") {
				t.Errorf("exit %d, want %d: %s", exit, c.exit, text)
			}
			if err := a.mayPay(); (err == nil) == (c.pays && !c.begins) {
				t.Errorf("after its end the command may pay: %v", err)
			}
		})
	}
}

// TestCommandsThatPay: the commands that spend say that they did not, and of a run that is named,
// which may be paid for, that they spent nothing more.
func TestCommandsThatPay(t *testing.T) {
	kit(t)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	writeGraph(t, "path", "id,leak\n1,0\n2,1\n3,0\n", "source,target\n1,2\n2,3\n")
	if exit, _, stderr := called(t,
		strings.Fields("plan --from folder:path --tau 1 --delta 0.01 --trials 0 -o plan.json")...); exit != exitOK {
		t.Fatal(stderr)
	}
	for args, spent := range map[string]string{
		"run --from folder:path --source-property leak --delta 0.01":                    "nothing was spent",
		"run --from folder:path --source-property leak --delta 0.01 --resume unknownid": "nothing more was spent",
		"run --from folder:path --source-property leak --delta 0.01 --undo unknownid":   "nothing more was spent",
		"release --from folder:path --source-property leak --plan plan.json":            "nothing was spent",
		"demo": "nothing was spent",
	} {
		exit, _, stderr := called(t, append(strings.Fields(args), "--timeout", "1ns")...)
		if exit != exitTransient || !strings.Contains(stderr, "not finished after 1ns; "+spent) {
			t.Errorf("%s: exit %d: %s", args, exit, stderr)
		}
	}
}

// TestStoppedBesideAPaidRun: a run that is stopped before it finds the one that it would have gone on with does not say that
// nothing was spent, for that one is paid for.
func TestStoppedBesideAPaidRun(t *testing.T) {
	graphFolder(t)
	id := interrupted(t, unstaged, "--mode", "stats")
	exit, _, stderr := called(t, "run", "--from", "folder:"+os.Getenv("GRAPH"), "--source-property", "source", "--delta", "0.01",
		"--timeout", "1ns")
	if text := strings.Join(strings.Fields(stderr), " "); exit != exitTransient ||
		!strings.Contains(text, "nothing more was spent; run "+id+", which was begun here before, may be paid for") {
		t.Errorf("exit %d: %s", exit, stderr)
	}
}

// TestJobStoppedBeforeItSpent: a job that may be tried again says that it spent nothing.
func TestJobStoppedBeforeItSpent(t *testing.T) {
	a, _, _ := kit(t)
	for spent, want := range map[bool]string{false: "nothing was spent", true: "its budget is or may be spent"} {
		end := jobs.Ending{Outcome: jobs.Outcome{ExitCode: exitInterrupt, Message: "context canceled"}, Retry: true, Spent: spent}
		if err := a.tickEnded(jobs.Claim{}, end); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

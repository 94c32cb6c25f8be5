// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/run"
)

// TestStoppedSaysWhatWasSpent: anyone who stops a command that spends is told whether it did, and
// how to go on where it did.
func TestStoppedSaysWhatWasSpent(t *testing.T) {
	paid := &graphcloak.UnfinishedError{RunID: "r1", Spent: run.IsSpent, Err: context.Canceled}
	for _, c := range []struct {
		name         string
		pays, begins bool
		err          error
		exit         int
		want, not    string
	}{
		{"before", true, false, context.Canceled, exitInterrupt, "interrupt; nothing was spent", "resume"},
		{"of a plan", false, false, context.Canceled, exitInterrupt, "interrupt", "spent"},
		{
			"after", true, true, fmt.Errorf("write: %w", paid), exitInterrupt, "run r1 is unfinished, its budget is spent",
			"nothing was spent",
		},
		{"the work goes on", true, true, context.Canceled, exitInterrupt, "its budget may be spent", "nothing was spent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, _, stderr := kit(t, "--format", "table")
			a.pays = c.pays
			if c.begins {
				lockRun(t, a, "r1")
				defer a.drop()
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			cancel(signalError{syscall.SIGINT})
			exit := a.finish(ctx, c.err)
			text := strings.Join(strings.Fields(stderr.String()), " ")
			if exit != c.exit || !strings.Contains(text, c.want) || strings.Contains(text, c.not) || c.begins &&
				!strings.Contains(text, "--resume r1") {
				t.Errorf("exit %d, want %d: %s", exit, c.exit, text)
			}
			f := must.Get(stateFolder())(t)
			if _, err := a.take(f, "r2"); (err == nil) == (c.pays && !c.begins) {
				t.Errorf("after its end the command may pay: %v", err)
			}
		})
	}
}

// stoppedAtOnce calls a command that a signal ends before it does anything.
func stoppedAtOnce(t *testing.T, args ...string) (exit int, stderr string) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(signalError{syscall.SIGINT})
	var out, err bytes.Buffer
	return execute(ctx, args, strings.NewReader(""), &out, &err), err.String()
}

// TestCommandsThatPay: the commands that spend say that they did not, and of a run that is named,
// which may be paid for, that they spent nothing more.
func TestCommandsThatPay(t *testing.T) {
	kit(t)
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
		exit, stderr := stoppedAtOnce(t, strings.Fields(args)...)
		if exit != exitInterrupt || !strings.Contains(stderr, "interrupt; "+spent) {
			t.Errorf("%s: exit %d: %s", args, exit, stderr)
		}
	}
}

// TestStoppedBesideAPaidRun: a run that is stopped before it finds the one that it would have gone on with does not say that
// nothing was spent, for that one is paid for.
func TestStoppedBesideAPaidRun(t *testing.T) {
	graphFolder(t)
	id := interrupted(t, unstaged, "--mode", "stats")
	exit, stderr := stoppedAtOnce(t, "run", "--from", "folder:"+os.Getenv("GRAPH"), "--source-property", "source", "--delta", "0.01")
	if text := strings.Join(strings.Fields(stderr), " "); exit != exitInterrupt ||
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

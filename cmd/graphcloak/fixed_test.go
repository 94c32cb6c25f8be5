// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/run"
)

// TestUnreadableAttempt: a paid run whose file cannot be read is named and not paid for
// again; --undo gives it up.
func TestUnreadableAttempt(t *testing.T) {
	spoil := func() string {
		t.Helper()
		id := interrupted(t, unstaged)
		must.Do(t, os.WriteFile(stagedPath(t, id), []byte(`{"newer": 1}`), 0o600))
		return id
	}
	graphFolder(t)
	id := spoil()
	_, _, err := again(t, "--mode", "stats")
	if f, ok := errors.AsType[*failure](err); !ok || f.exit != exitConflict || f.resourceID != id {
		t.Errorf("%v, want exit %d about %s", err, exitConflict, id)
	}
	if got := strings.Join(ledgerKinds(t), " "); got != "spent" {
		t.Errorf("the ledger holds %q", got)
	}
	a, s, _ := prepared(t)
	if err := a.undo(t.Context(), s, id); err != nil {
		t.Error(err)
	}
	if got := strings.Join(ledgerKinds(t), " "); got != "spent void" {
		t.Errorf("the ledger holds %q", got)
	}
	if left, err := stagedRuns(); err != nil || len(left) > 0 {
		t.Errorf("still kept: %q, %v", left, err)
	}
}

// TestResumeRecoversAnew: flags of recovery that are given with --resume replace the
// run's own, in its record too.
func TestResumeRecoversAnew(t *testing.T) {
	graphFolder(t)
	id := interrupted(t, unstaged, "--sources", "2")
	for _, args := range [][]string{{"--prior-property", "nowhere"}, {"--sources", "1"}} {
		a, s, _ := prepared(t, args...)
		out := new(strings.Builder)
		a.stdout = out
		err := a.resume(t.Context(), s, id)
		must.Do(t, a.drop())
		if args[0] == "--sources" && (err != nil || !strings.Contains(out.String(), `"sources": "1"`)) ||
			args[0] != "--sources" && err == nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
}

// TestUndoElsewhere: --undo on another store than the run's changes nothing.
func TestUndoElsewhere(t *testing.T) {
	graphFolder(t)
	id := interrupted(t, unstaged)
	right, state := os.Getenv("GRAPH"), os.Getenv("XDG_STATE_HOME")
	graphFolder(t)
	t.Setenv("XDG_STATE_HOME", state)
	a, s, _ := prepared(t)
	if err := a.undo(t.Context(), s, id); exitCode(err) != exitConflict {
		t.Errorf("%v, want exit %d", err, exitConflict)
	}
	if conditionOf(id) != run.Stopped {
		t.Error("what was kept of the run is gone, or held")
	}
	t.Setenv("GRAPH", right)
	a, s, _ = prepared(t)
	defer a.drop()
	if err := a.resume(t.Context(), s, id); err != nil {
		t.Error(err)
	}
}

// TestPaidBesideAnother: a paid run that meets another one is told to resume, not that it
// spent nothing.
func TestPaidBesideAnother(t *testing.T) {
	a, stdout, _ := kit(t, "--format", "json")
	lockRun(t, a, "mine")
	defer a.drop()
	met := &connector.UnfinishedError{RunID: "other", Status: "RUNNING"}
	code := a.finish(t.Context(), &graphcloak.UnfinishedError{
		RunID: "mine", Spent: run.IsSpent,
		Err: fmt.Errorf("write back: %w", met),
	})
	if text := stdout.String(); code != exitUnfinished || strings.Contains(text, "nothing was spent by") ||
		!strings.Contains(text, "--resume mine") {
		t.Errorf("exit %d: %s", code, text)
	}
}

// errPrint is a standard output that takes nothing.
var errPrint = errors.New("the printer is away")

type deaf struct{}

func (deaf) Write([]byte) (int, error) { return 0, errPrint }

// cloaked makes what the sensors of a small folder send for some releases, and returns a
// function that runs the command release on it.
func cloaked(t *testing.T, releases ...string) func(out io.Writer, args ...string) (exit int, messages string) {
	t.Helper()
	graphFolder(t)
	dir, state := os.Getenv("GRAPH"), os.Getenv("XDG_STATE_HOME")
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", state)
	do := func(in string, out io.Writer, args ...string) (int, string) {
		errs := new(bytes.Buffer)
		code := execute(t.Context(), args, strings.NewReader(in), out, errs)
		return code, errs.String()
	}
	from := []string{"--from", "folder:" + dir}
	if code, text := do("", io.Discard,
		append([]string{"plan", "--tau", "2", "--releases", "3", "-o", "plan.json", "--sensor-package-dir", "packages"},
			from...)...); code != 0 {
		t.Fatal(text)
	}
	packages, err := filepath.Glob("packages/*.json")
	if err != nil || len(packages) == 0 {
		t.Fatal(packages, err)
	}
	for _, id := range releases {
		values := new(bytes.Buffer)
		for _, p := range packages {
			if code, text := do(`{"releaseId": "`+id+`", "reading": 0.5}`, values, "cloak", "--package", p); code != 0 {
				t.Fatal(text)
			}
		}
		must.Do(t, os.WriteFile("v"+id, values.Bytes(), 0o600))
	}
	return func(out io.Writer, args ...string) (int, string) {
		return do("", out, append(append([]string{"release", "--plan", "plan.json"}, from...), args...)...)
	}
}

// TestSensorsReleaseTwice: a release of sensors that is refused as one that was written
// leaves no reservation in the way of the next.
func TestSensorsReleaseTwice(t *testing.T) {
	release := cloaked(t, "7", "8")
	for _, c := range []struct {
		values string
		exit   int
	}{{"v7", exitOK}, {"v7", exitConflict}, {"v8", exitOK}} {
		if code, text := release(io.Discard, "--from-sensors", c.values, "--mode", "write"); code != c.exit {
			t.Errorf("%s: exit %d, want %d: %s", c.values, code, c.exit, text)
		}
	}
}

// TestSensorsReleaseIsKnown: an interrupted release is not resumed in the place of
// another one; what failed after the spend says that the budget is spent.
func TestSensorsReleaseIsKnown(t *testing.T) {
	release := cloaked(t, "8", "9")
	if code, text := release(deaf{}, "--from-sensors", "v8"); code != exitUnfinished || !strings.Contains(text, "its budget is spent") {
		t.Errorf("exit %d: %s", code, text)
	}
	out := new(bytes.Buffer)
	if code, text := release(out, "--from-sensors", "v9"); code != exitConflict || !strings.Contains(text, "--resume") {
		t.Errorf("exit %d: %s%s", code, text, out)
	}
	out.Reset()
	if code, text := release(out, "--from-sensors", "v8"); code != exitOK || !strings.Contains(out.String(), `"8"`) {
		t.Errorf("exit %d: %s%s", code, text, out)
	}
}

// TestResumeFinished: a run that is finished is not called one to be given up.
func TestResumeFinished(t *testing.T) {
	kit(t)
	writeGraph(t, "path", "id,leak\n1,0\n2,1\n3,0\n", "source,target\n1,2\n2,3\n")
	exit, stdout, stderr := called(t, strings.Fields("run --from folder:path --source-property leak --tau 1 --delta 0.01 --format json")...)
	var rep struct{ RunID string }
	if err := json.Unmarshal([]byte(stdout), &rep); err != nil || exit != exitOK || rep.RunID == "" {
		t.Fatalf("exit %d, run %q, %v: %s", exit, rep.RunID, err, stderr)
	}
	exit, _, stderr = called(t, "run", "--from", "folder:path", "--resume", rep.RunID, "--format", "table")
	if exit != exitConflict || !strings.Contains(stderr, "is finished: there is nothing to resume") || strings.Contains(stderr, "--undo") {
		t.Errorf("exit %d: %s", exit, stderr)
	}
}

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
	interrupted(t, unstaged, "--mode", "stats")
	exit, stderr := stoppedAtOnce(t, "run", "--from", "folder:"+os.Getenv("GRAPH"), "--source-property", "source", "--delta", "0.01")
	if text := strings.Join(strings.Fields(stderr), " "); exit != exitInterrupt ||
		!strings.Contains(text, "nothing more was spent; a run that was begun before may be paid for") {
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

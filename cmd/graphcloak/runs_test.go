// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/connector/storetest"
	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/run"
)

// pastRuns are runs of every end.
func pastRuns() []jobs.Run {
	const refusal = `the budget would be exceeded: scope "night" has ρ = 0.02534 of its ε = 3.1, δ = 0.001 left; nothing was released`
	run := func(k int, r jobs.Run) jobs.Run {
		r.RunID, r.StartedAt = fmt.Sprintf("0195f6a0-6a%02d-7c1e-9d52-1f2b7c1b8e11", k), time.Date(2026, 3, 1, 2, k, 0, 0, time.UTC)
		r.Mode = "write"
		return r
	}
	return []jobs.Run{
		run(1, jobs.Run{Status: jobs.Finished, Answer: "5 around 119 and 120", Probability: .33, Verdict: report.Perhaps, EpsilonSpent: 4}),
		run(2, jobs.Run{JobName: "nightly", Status: jobs.WaitingForBudget, Message: refusal}),
		run(3, jobs.Run{JobName: "nightly", Status: jobs.Failed, Message: "there is no node label"}),
		run(4, jobs.Run{JobName: "nightly", Status: jobs.Failed, Message: "there is no node label"}),
		run(5, jobs.Run{JobName: "nightly", Status: jobs.Finished, Answer: report.NoSource, Verdict: report.NoSource, EpsilonSpent: 1}),
	}
}

// TestRunsFitTheScreen: the list of runs is one table on 80 columns, whatever became of them;
// what there is to say of single runs stands below, and a run without an answer has no number.
func TestRunsFitTheScreen(t *testing.T) {
	a, stdout, _ := kit(t, "--format", "table")
	a.screen, a.width = 80, 80
	must.Do(t, a.form().Write(stdout, nil, a.listed(pastRuns())...))
	text := stdout.String()
	if wide := tooWide(text, 80); len(wide) > 0 || !strings.Contains(text, "┌") {
		t.Errorf("it is no table of 80 columns: %s", text)
	}
	flat := strings.Join(strings.Fields(text), " ")
	for _, want := range []string{
		"│ 33 % │ perhaps │ 4 │", "│ nightly │ │ │ waits │ │", "│ nightly │ │ │ FAILED │ │", "│ nightly │ │ │ no source │ 1 │",
		"there is no node label", "the source is more likely in another",
	} {
		if !strings.Contains(flat, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Count(text, "the budget would be exceeded") != 1 || strings.Contains(text, "0 %") {
		t.Errorf("a refusal is told twice, or has a probability:\n%s", text)
	}
	stdout.Reset()
	if err := a.form().Write(stdout, nil, a.listed(nil)...); err != nil || stdout.String() != "There is no such run.\n" {
		t.Errorf("%v: without a run it says %q", err, stdout)
	}
}

// TestUnfinishedRunsSayWhatToDo: a run that was interrupted is told from one under way and from
// one that was started elsewhere, and has no verdict; that of a job is its job's to complete.
func TestUnfinishedRunsSayWhatToDo(t *testing.T) {
	graphFolder(t)
	id := interrupted(t, unstaged, "--mode", "stats")
	s := must.Get(folder.New(t.Context(), os.Getenv("GRAPH"), folder.Options{}))(t)
	message := func(want string) {
		t.Helper()
		all, err := allRuns(t.Context(), s, jobs.RunQuery{})
		if err != nil || len(all) != 1 || all[0].Status != jobs.Running || all[0].Verdict != "" || !strings.Contains(all[0].Message, want) {
			t.Errorf("%v: %+v, want %q", err, all, want)
		}
		if one, err := findRun(t.Context(), s, id); err != nil || !strings.Contains(one.Message, want) {
			t.Errorf("%v: %+v, want %q", err, one, want)
		}
	}
	message("it was interrupted: `graphcloak run --resume " + id + "`")
	lock := must.Get(disk.Lock(strings.TrimSuffix(stagedPath(t, id), ".json") + ".lock"))(t)
	message("it is under way")
	lock.Close()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	message("where it was started, `graphcloak run --resume " + id + "`")
}

// TestRunOfAJobIsItsJobs: the run of an open tick is completed by its job.
func TestRunOfAJobIsItsJobs(t *testing.T) {
	graphFolder(t)
	dir := must.Get(folder.New(t.Context(), os.Getenv("GRAPH"), folder.Options{}))(t)
	s := withJobs{dir, storetest.NewJobStore()}
	tick := jobs.NewTick("nightly", time.Date(2026, 3, 1, 2, 0, 0, 0, time.UTC))
	must.Get(s.Jobs().Claim(t.Context(), tick, jobs.Holder{Instance: "here", Token: "t"}, time.Minute))(t)
	all := []jobs.Run{
		{RunID: tick.ReleaseID(), Status: jobs.Running},
		{RunID: "other", Status: jobs.Running, ExitCode: 13, Message: "the disk is full"},
	}
	must.Do(t, sayHowToGoOn(t.Context(), s, all))
	var text bytes.Buffer
	fmt.Fprint(&text, all)
	if all[0].JobName != "nightly" || !strings.Contains(all[0].Message, "graphcloak job run nightly") ||
		!strings.HasPrefix(all[1].Message, "the disk is full; ") {
		t.Error(text.String())
	}
}

// TestHostileRunID: an id that the store holds neither steers the terminal beside its remark nor
// stands in a command to paste.
func TestHostileRunID(t *testing.T) {
	const id = "\x1b]0;owned\x07\x1b[2Jx; touch x"
	a, stdout, _ := kit(t, "--format", "table")
	if err := a.form().Write(stdout, nil,
		a.listed([]jobs.Run{{RunID: id, Status: "FAILED", Message: "the disk is full"}})...); err != nil {
		t.Fatal(err)
	}
	if s := stdout.String(); !strings.Contains(s, "the disk is full") || strings.ContainsAny(s, "\x1b\x07") {
		t.Errorf("%q", s)
	}
	if s := openMessage(id); strings.Contains(s, "touch") {
		t.Error(s)
	}
	if s := jobs.ShortID("äääääääää", []jobs.Run{{RunID: "äääääääää"}}); s != "äääääääää" {
		t.Errorf("%q is cut within a letter", s)
	}
}

// TestBeginningsOfIDs: the beginning of an id stands for it where it names one run, and a list shortens it as far.
func TestBeginningsOfIDs(t *testing.T) {
	runs := []jobs.Run{
		{RunID: "01a2060e-d754-71ec-82f8-c2ec5a99cf76"},
		{RunID: "01a2060e-d754-81ec-82f8-c2ec5a99cf76"},
		{RunID: "01a2060e-e754-71ec-82f8-c2ec5a99cf76"},
		{RunID: "night"},
		{RunID: "nightly"},
	}
	for start, want := range map[string]string{
		"01a2060e-e": runs[2].RunID, "01a": "01a", "nothing": "nothing", "night": "night", "nigh": "", "01a2060e-d754": "",
	} {
		if got, err := idBegunBy(start, runs); got != want || (err == nil) == (want == "") {
			t.Errorf("%q is %q, %v, want %q", start, got, err, want)
		}
	}
	if a, b := jobs.ShortID(runs[0].RunID, runs), jobs.ShortID(runs[2].RunID, runs); a != runs[0].RunID || b != "01a2060e-e754" {
		t.Errorf("shortened to %q and %q", a, b)
	}
}

// TestGivenUpInHistory: a run that stands in the history as paid for and unfinished ends
// there when it is given up.
func TestGivenUpInHistory(t *testing.T) {
	graphFolder(t)
	id := interrupted(t, unstaged, "--mode", "stats")
	_, s, job := prepared(t, "--mode", "stats")
	job.RunID = id
	if err := putRun(t.Context(), s,
		runEnded(job, "stats", nil, &graphcloak.UnfinishedError{RunID: id, Spent: run.IsSpent, Err: errDied}), 0); err != nil {
		t.Fatal(err)
	}
	succeeds(t, onGraph("run", "--undo", id)...)
	if r, err := s.History().GetRun(t.Context(), id); err != nil || r.Status != jobs.Canceled || !r.Spent || r.EndedAt.IsZero() {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestPaidAndInterrupted: a release that is in the ledger alone is a run that is paid
// for, with how to complete it, until it was written or given up.
func TestPaidAndInterrupted(t *testing.T) {
	graphFolder(t)
	s := must.Get(folder.New(t.Context(), os.Getenv("GRAPH"), folder.Options{}))(t)
	l := s.Ledger()
	for _, id := range []string{"left", "written", "void"} {
		c := privacy.Charge{
			Scope: "property=source", ReleaseID: id, Attempt: "a", Guarantee: privacy.Joint,
			Budget: privacy.Budget{Epsilon: 2, Delta: 0.1}, Cost: 1,
		}
		must.Get(privacy.Spend(t.Context(), l, c))(t)
	}
	must.Get(privacy.MarkWritten(t.Context(), l, "property=source", "written", privacy.Digest{1}))(t)
	must.Get(privacy.MarkVoid(t.Context(), l, "property=source", "void"))(t)
	exit, output := command(t, "runs", "list")
	if exit != 0 || !strings.Contains(output, "run --resume left") || !strings.Contains(output, `"epsilonSpent": 2`) ||
		strings.Contains(output, `"written"`) || strings.Contains(output, `"void"`) {
		t.Errorf("exit %d, %s", exit, output)
	}
	if exit, output := command(t, "runs", "show", "left"); exit != 0 || !strings.Contains(output, `"status": "RUNNING"`) {
		t.Errorf("exit %d, %s", exit, output)
	}
	if exit, output := command(t, "runs", "prune", "--older-than", "2100-01-01T00:00:00Z"); exit != 0 ||
		!strings.Contains(output, `"pruned": 0`) {
		t.Errorf("exit %d, %s", exit, output)
	}
}

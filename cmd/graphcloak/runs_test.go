// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
)

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
	if exit, output := command(t, "run", "--undo", id); exit != 0 {
		t.Fatal(output)
	}
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

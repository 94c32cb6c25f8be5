// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/jobs"
)

// TestServedPages: the server's page of a run has its command, and the one that draws its map.
func TestServedPages(t *testing.T) {
	graph, settings := hall(t, `
from: folder:HALL
delta: 1e-6
epsilon: 0.4
spendAtChance: true
jobs:
  - name: first
    schedule: "@daily"
    sourceProperty: source
  - name: second
    schedule: "@daily"
    sourceProperty: source
    mode: stats
`)
	kept := must.Get(os.ReadFile(settings))(t)
	text := strings.ReplaceAll(string(kept), "HALL", graph)
	write(t, settings, text, 0o600)
	for _, job := range []string{"first", "second"} {
		succeeds(t, "job", "run", job, "--config", settings)
	}
	a, _, _ := kit(t, "--from", "folder:"+graph)
	s, engine, err := a.openJobs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	runs, err := engine.Store.ListRuns(t.Context(), jobs.RunQuery{})
	if err != nil || len(runs) != 2 {
		t.Fatalf("%d runs in the history: %v", len(runs), err)
	}
	for _, listed := range runs {
		own := must.Get(engine.Store.GetRun(t.Context(), listed.RunID))(t)
		var b bytes.Buffer
		must.Do(t, a.reportPage(s)(t.Context(), &b, own.Report))
		want := []string{
			"graphcloak run ", "--source-property=source", "--epsilon=0.4", "is left",
			"graphcloak report RUNID", "What a neighbour would have given",
		}
		for _, text := range want {
			if !strings.Contains(b.String(), text) {
				t.Errorf("the page of the run in mode %s lacks %q", own.Mode, text)
			}
		}
	}
}

// TestPageOfAnOlderRun: a run whose values a later one wrote over has its page still, with the map of its own values, which the
// history keeps. On another graph it is refused.
func TestPageOfAnOlderRun(t *testing.T) {
	a, _, _ := kit(t, "--from", "folder:hall")
	writeGraph(t, "hall", "id,wing,source\n1,a,1\n2,a,0\n3,a,0\n4,b,0\n5,b,0\n6,b,0\n",
		"source,target\n1,2\n2,3\n3,1\n3,4\n4,5\n5,6\n6,4\n")
	run := func() {
		t.Helper()
		code, said := obey(t, "run", "--from", "folder:hall", "--source-property", "source", "--community-property", "wing", "--epsilon",
			"400", "--tau", "1", "--allocation", "uniform", "--mode", "write")
		if code != exitOK {
			t.Fatalf("exit %d: %s", code, said)
		}
	}
	s := must.Get(a.openReading(t.Context()))(t)
	defer s.Close(t.Context())
	page := func(runID string) string {
		t.Helper()
		path := filepath.Join(t.TempDir(), "page.html")
		succeeds(t, "report", runID, "--from", "folder:hall", "--report", path)
		text := must.Get(os.ReadFile(path))(t)
		if !strings.Contains(string(text), "h-rank") || !strings.Contains(string(text), runID) {
			t.Errorf("the page of run %s has no ranking, or is of another", runID)
		}
		return string(text)
	}
	titles := regexp.MustCompile(`<title>[^<]*</title>`)
	drawn := func(runID string) string { return strings.Join(titles.FindAllString(page(runID), -1), "\n") }
	run()
	runs, err := s.History().ListRuns(t.Context(), jobs.RunQuery{})
	if err != nil || len(runs) != 1 {
		t.Fatalf("%d runs: %v", len(runs), err)
	}
	id := runs[0].RunID
	before := drawn(id)
	writeGraph(t, "hall", "id,wing,source\n1,a,0\n2,a,0\n3,a,0\n4,b,0\n5,b,1\n6,b,0\n",
		"source,target\n1,2\n2,3\n3,1\n3,4\n4,5\n5,6\n6,4\n")
	run()
	if after := drawn(id); !strings.Contains(before, "σ") || after != before {
		t.Errorf("nodes on the map of the run before and after a later one:\n%s\n%s", before, after)
	}
	if runs, err = s.History().ListRuns(t.Context(), jobs.RunQuery{}); err != nil || drawn(runs[0].RunID) == before {
		t.Errorf("both runs have the same map: %v", err)
	}
	writeGraph(t, "hall", "id,wing,source\n1,a,1\n2,a,0\n3,a,0\n4,b,0\n5,b,0\n6,b,0\n", "source,target\n1,2\n2,3\n3,4\n4,5\n5,6\n6,4\n")
	if code, said := obey(t, "report", id, "--from", "folder:hall", "--report", "other.html"); code != exitConflict {
		t.Errorf("a map on another graph: exit %d: %s", code, said)
	}
}

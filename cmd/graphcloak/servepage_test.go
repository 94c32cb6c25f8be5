// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/privacy"
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

// TestMetricsAreTheStores: a server that ran nothing tells how the runs of another ended,
// each job with its status, one that cannot run too, and one value for one ledger.
func TestMetricsAreTheStores(t *testing.T) {
	w := newTickWorld(t)
	store := jobsOf(w.s)
	job := func(name, schedule string) map[string]any {
		return map[string]any{"name": name, "schedule": schedule, "sourceProperty": "source"}
	}
	e := jobs.New(jobs.Options{
		Store: store, Runner: w.jobRunner,
		Settings: []map[string]any{job("a", "@daily"), job("b", "@daily"), job("bad", "at night")},
	})
	must.Get(privacy.SetCap(t.Context(), w.s.Ledger(), "property=source", privacy.Budget{Epsilon: 2, Delta: 1e-5}))(t)
	var success time.Time
	for i, end := range []jobs.Outcome{
		{Status: jobs.Finished},
		{Status: jobs.Failed, ExitCode: 4},
		{Status: jobs.WaitingForBudget, ExitCode: 9, RenewsAt: time.Unix(1900000000, 0)},
	} {
		for _, name := range []string{"a", "b"}[:min(i+1, 2)] {
			at := jobs.NewTick(name, time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC))
			c, err := store.Claim(t.Context(), at, jobs.Holder{Instance: "another", Token: name}, time.Minute)
			if err == nil {
				err = store.Finish(t.Context(), c.Tick, c.Token, end)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if i == 0 {
			ticks := must.Get(store.Ticks(t.Context(), jobs.TickQuery{JobName: "a"}))(t)
			success = ticks[0].EndedAt
		}
	}
	answer := httptest.NewRecorder()
	w.app.metricsOf(w.s, e).ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	body := answer.Body.String()
	for _, want := range []string{
		`graphcloak_run_last_success_timestamp_seconds{name="a"} ` +
			strconv.FormatFloat(float64(success.UnixMilli())/1e3, 'g', -1, 64) + "\n",
		`graphcloak_run_last_exit_code{name="a"} 9`, `graphcloak_run_waiting_for_budget{name="b"} 1`,
		`graphcloak_budget_free_timestamp_seconds{ledger="property=source",name="a"} 1.9e+09`,
		`graphcloak_job_status{name="bad",status="INVALID"} 1`, `graphcloak_job_status{name="a",status="WAITING_FOR_BUDGET"} 1`,
		`graphcloak_job_missed_times{name="a"} `, `graphcloak_epsilon_limit{delta="1e-05",ledger="property=source",name="serve"} 2`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is missing in\n%s", want, body)
		}
	}
	if n := strings.Count(body, "graphcloak_epsilon_counted{"); n != 1 {
		t.Errorf("one ledger has %d values", n)
	}
	if strings.Contains(body, `graphcloak_run_last_success_timestamp_seconds{name="b"}`) {
		t.Error("a job that never succeeded has a time of it")
	}
}

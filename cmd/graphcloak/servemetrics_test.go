// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/privacy"
)

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

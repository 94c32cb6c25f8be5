// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/graphcloak/graphcloak/connector/storetest"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/privacy"
)

// hostile is a name from outside that would break out of a label.
const hostile = "a\"b\\c\n# TYPE \xff"

// TestMetricsAreTheStores: a server that ran nothing tells how the runs of another ended,
// each job with its status, one that cannot run too, and one value for one ledger. An ε without bound is +Inf. The answer has the
// form that the client asks for.
func TestMetricsAreTheStores(t *testing.T) {
	store := storetest.NewJobStore()
	e := jobs.New(jobs.Options{Store: store, Runner: &runner{}, Settings: []map[string]any{
		{"name": "a", "schedule": "@daily"}, {"name": "b", "schedule": "@daily"}, {"name": "bad", "schedule": "at night"},
	}})
	var success time.Time
	for i, end := range []jobs.Outcome{
		{Status: jobs.Finished},
		{Status: jobs.Failed, ExitCode: 4},
		{Status: jobs.WaitingForBudget, ExitCode: 9, RenewsAt: time.Unix(1900000000, 0)},
	} {
		for _, name := range []string{"a", "b"}[:min(i+1, 2)] {
			at := jobs.NewTick(name, time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC))
			c := must.Get(store.Claim(t.Context(), at, jobs.Holder{Instance: "another", Token: name}, time.Minute))(t)
			must.Do(t, store.Finish(t.Context(), c.Tick, c.Token, end))
		}
		if i == 0 {
			success = must.Get(store.Ticks(t.Context(), jobs.TickQuery{JobName: "a"}))(t)[0].EndedAt
		}
	}
	spent, limit := 2.5, 8.0
	s := New(Options{
		Engine: e, Store: store, Version: hostile, Token: testToken,
		Cost: func(jobs.Definition) (Cost, bool) { return Cost{Scope: hostile}, true },
		Budgets: func(context.Context) ([]privacy.Balance, error) {
			return []privacy.Balance{{Scope: hostile, Delta: 1e-6, CapEpsilon: &limit}, {Scope: "open", Delta: .01, Epsilon: &spent}}, nil
		},
	})
	ask := func(accept string) (kind, body string) {
		r, w := httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil), httptest.NewRecorder()
		r.Header.Set("Authorization", "Bearer "+testToken)
		r.Header.Set("Accept", accept)
		s.Handler.ServeHTTP(w, r)
		return w.Header().Get("Content-Type"), w.Body.String()
	}
	kind, body := ask("")
	parser := expfmt.NewTextParser(model.LegacyValidation)
	if _, err := parser.TextToMetricFamilies(strings.NewReader(body)); err != nil || !strings.HasPrefix(kind, "text/plain; version=0.0.4") {
		t.Fatalf("%s: %v\n%s", kind, err, body)
	}
	const clean = `a\"b\\c\n# TYPE ` + "\uFFFD"
	for _, want := range []string{
		`graphcloak_run_last_success_timestamp_seconds{name="a"} ` +
			strconv.FormatFloat(float64(success.UnixMilli())/1e3, 'g', -1, 64) + "\n",
		`graphcloak_run_last_exit_code{name="a"} 9`, `graphcloak_run_waiting_for_budget{name="b"} 1`,
		`graphcloak_run_duration_seconds{name="a"} 1`, `graphcloak_run_last_end_timestamp_seconds{name="b"} `,
		`graphcloak_budget_free_timestamp_seconds{ledger="` + clean + `",name="a"} 1.9e+09`,
		`graphcloak_job_status{name="bad",status="INVALID"} 1`, `graphcloak_job_status{name="a",status="WAITING_FOR_BUDGET"} 1`,
		`graphcloak_job_missed_times{name="a"} `, `graphcloak_epsilon_spent{delta="0.01",ledger="open",name="serve"} 2.5`,
		`graphcloak_epsilon_limit{delta="1e-06",ledger="` + clean + `",name="serve"} 8`,
		`graphcloak_epsilon_counted{delta="1e-06",ledger="` + clean + `",name="serve"} +Inf`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is missing in\n%s", want, body)
		}
	}
	if strings.Count(body, "graphcloak_epsilon_counted{") != 1 || strings.Count(body, "graphcloak_epsilon_limit{") != 1 {
		t.Errorf("a scope without a cap has a limit:\n%s", body)
	}
	if strings.Contains(body, `graphcloak_run_last_success_timestamp_seconds{name="b"}`) {
		t.Error("a job that never succeeded has a time of it")
	}
	kind, _ = ask("application/openmetrics-text;version=1.0.0")
	if !strings.HasPrefix(kind, "application/openmetrics-text; version=1.0.0") {
		t.Errorf("OpenMetrics was asked for, and %s is given", kind)
	}
}

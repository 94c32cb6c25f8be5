// SPDX-License-Identifier: Apache-2.0

package metrics_test

import (
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/graphcloak/graphcloak/internal/metrics"
	"github.com/graphcloak/graphcloak/internal/must"
)

// scrape asks for metrics in some form.
func scrape(t *testing.T, s *metrics.Set, accept string) (kind, body string) {
	t.Helper()
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil))(t)
	req.Header.Set("Accept", accept)
	resp := must.Get(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	text := must.Get(io.ReadAll(resp.Body))(t)
	return resp.Header.Get("Content-Type"), string(text)
}

// sample is the value of the one series with these label values.
func sample(t *testing.T, families map[string]*dto.MetricFamily, metric string, labels ...string) float64 {
	t.Helper()
	for _, m := range families[metric].GetMetric() {
		var values []string
		for _, l := range m.GetLabel() {
			values = append(values, l.GetValue())
		}
		if slices.Equal(values, labels) {
			return m.GetGauge().GetValue()
		}
	}
	t.Fatalf("no series %s%q", metric, labels)
	return 0
}

// Names from outside cannot break out of a label, and an ε without bound is +Inf.
func TestHostileNames(t *testing.T) {
	name, at := "a\"b\\c\n# TYPE \xff", time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)
	s := metrics.New(name, name)
	s.Job(name, metrics.Job{Last: metrics.Run{End: at, Took: 2 * time.Second, ExitCode: 9, Waits: true}, Scope: name, Free: at})
	s.Account(name, metrics.Account{Scope: name, Delta: 1e-6, Spent: math.NaN(), Counted: math.NaN(), Limit: 8})
	s.Account(name, metrics.Account{Scope: "open", Delta: 0.01, Spent: 2.5})
	_, text := scrape(t, s, "")
	parser := expfmt.NewTextParser(model.LegacyValidation)
	got, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	clean := strings.ToValidUTF8(name, "\uFFFD")
	for _, want := range []struct {
		metric string
		value  float64
		labels []string
	}{
		{"epsilon_spent", math.Inf(1), []string{"1e-06", clean, clean}},
		{"epsilon_counted", math.Inf(1), []string{"1e-06", clean, clean}},
		{"epsilon_spent", 2.5, []string{"0.01", "open", clean}},
		{"run_duration_seconds", 2, []string{clean}},
		{"run_waiting_for_budget", 1, []string{clean}},
		{"run_last_end_timestamp_seconds", float64(at.Unix()), []string{clean}},
		{"budget_free_timestamp_seconds", float64(at.Unix()), []string{clean, clean}},
	} {
		if x := sample(t, got, "graphcloak_"+want.metric, want.labels...); x != want.value {
			t.Errorf("%s%q is %v, want %v", want.metric, want.labels, x, want.value)
		}
	}
	if n := len(got["graphcloak_epsilon_limit"].GetMetric()); n != 1 {
		t.Errorf("%d limits, want the one that there is", n)
	}
}

// A scrape is answered in the form that the client asks for.
func TestHandler(t *testing.T) {
	s := metrics.New("serve", "v1")
	s.Job("nightly", metrics.Job{Status: "INVALID", Missed: 3})
	for accept, want := range map[string]string{
		"": "text/plain; version=0.0.4", "application/openmetrics-text;version=1.0.0": "application/openmetrics-text; version=1.0.0",
	} {
		kind, body := scrape(t, s, accept)
		if !strings.HasPrefix(kind, want) || !strings.Contains(body, `graphcloak_job_status{name="nightly",status="INVALID"} 1`) {
			t.Errorf("%q: %s\n%s", accept, kind, body)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package metrics_test

import (
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/internal/metrics"
)

var night = time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)

func ended(status string, at time.Time) metrics.Run {
	return metrics.Run{
		Status: status, End: at, Nodes: 34,
		Phases: map[string]time.Duration{"read": 1500 * time.Millisecond, "recovery": 2 * time.Second},
	}
}

// parse reads a file with Prometheus' own parser of the text format.
func parse(t *testing.T, path string) map[string]*dto.MetricFamily {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := expfmt.NewTextParser(model.LegacyValidation)
	families, err := p.TextToMetricFamilies(f)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return families
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
			return m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	t.Fatalf("no series %s%q", metric, labels)
	return 0
}

func write(t *testing.T, s *metrics.Set, path string) {
	t.Helper()
	if err := s.WriteFile(path); err != nil {
		t.Fatal(err)
	}
}

// Night after night each program continues the file of the one before: a run that
// fails leaves the time of the last success, and counters only grow.
func TestContinue(t *testing.T) {
	path := filepath.Join(t.TempDir(), "risk.prom")
	name := metrics.NameOf(path)
	for i, status := range []string{metrics.Success, metrics.Failure, metrics.Budget} {
		at := night.AddDate(0, 0, i)
		s := metrics.New(name, "v1")
		if err := s.Continue(path, name, at); err != nil {
			t.Fatal(err)
		}
		s.Ended(name, ended(status, at))
		write(t, s, path)
	}
	got := parse(t, path)
	if x := sample(t, got, "graphcloak_run_last_success_timestamp_seconds", name); x != float64(night.Unix()) {
		t.Errorf("last success %v, want %v", x, night.Unix())
	}
	if x := sample(t, got, "graphcloak_run_last_end_timestamp_seconds", name); x != float64(night.AddDate(0, 0, 2).Unix()) {
		t.Errorf("last end %v", x)
	}
	for _, status := range metrics.Statuses() {
		want := 1.0
		if status == metrics.Unfinished || status == metrics.Skipped {
			want = 0
		}
		if x := sample(t, got, "graphcloak_runs_total", name, status); x != want {
			t.Errorf("%s: %v runs, want %v", status, x, want)
		}
	}
	if x := sample(t, got, "graphcloak_run_waiting_for_budget", name); x != 1 {
		t.Errorf("waiting for budget: %v", x)
	}
	if x := sample(t, got, "graphcloak_run_duration_seconds", name, "read"); x != 1.5 {
		t.Errorf("read took %v", x)
	}
}

// The OpenMetrics form continues itself, though the parser of the text form knows its
// counters by their samples only.
func TestContinueOpenMetrics(t *testing.T) {
	path := filepath.Join(t.TempDir(), "risk.om")
	for i := range 3 {
		s := metrics.New("risk", "v1")
		if err := s.Continue(path, "risk", night); err != nil {
			t.Fatal(err)
		}
		s.Ended("risk", ended(metrics.Success, night))
		write(t, s, path)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := `graphcloak_runs_total{name="risk",status="success"} ` + []string{"1.0", "2.0", "3.0"}[i]
		if !strings.Contains(string(data), want+"\n") || !strings.HasSuffix(string(data), "# EOF\n") {
			t.Errorf("no line %q or no end in\n%s", want, data)
		}
	}
}

// A file that somebody else wrote is said to be so, nothing of it is taken over, and it
// is replaced all the same.
func TestHostileFile(t *testing.T) {
	good := "graphcloak_runs_total{name=\"risk\",status=\"success\"} "
	for what, content := range map[string]string{
		"no text":             "\x00\xff{{{",
		"a negative count":    good + "-1\n",
		"a fraction":          good + "1.5\n",
		"no number":           good + "NaN\n",
		"an endless count":    good + "+Inf\n",
		"an unknown status":   "graphcloak_runs_total{name=\"risk\",status=\"\\n# TYPE\"} 1\n",
		"another job":         "graphcloak_runs_total{name=\"other\",status=\"success\"} 1\n",
		"a future success":    "graphcloak_run_last_success_timestamp_seconds{name=\"risk\"} 9e18\n",
		"a success that is ∞": "graphcloak_run_last_success_timestamp_seconds{name=\"risk\"} +Inf\n",
		"too large":           strings.Repeat("# \n", 1<<18),
	} {
		path := filepath.Join(t.TempDir(), "risk.prom")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		s := metrics.New("risk", "v1")
		if err := s.Continue(path, "risk", night); !errors.Is(err, metrics.ErrFile) {
			t.Errorf("%s: %v, want ErrFile", what, err)
		}
		s.Ended("risk", ended(metrics.Failure, night))
		write(t, s, path)
		got := parse(t, path)
		if x := sample(t, got, "graphcloak_runs_total", "risk", metrics.Failure); x != 1 {
			t.Errorf("%s: %v failures", what, x)
		}
		if got["graphcloak_run_last_success_timestamp_seconds"] != nil {
			t.Errorf("%s: a success was taken over", what)
		}
	}
	folder := t.TempDir()
	if err := metrics.New("x", "v1").Continue(folder, "x", night); !errors.Is(err, metrics.ErrFile) {
		t.Errorf("a folder: %v, want ErrFile", err)
	}
}

// Names from outside cannot break out of a label, and an ε without bound is +Inf.
func TestHostileNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.prom")
	name := "a\"b\\c\n# TYPE \xff"
	s := metrics.New(name, name)
	s.Ended(name, ended(metrics.Success, night))
	s.Account(name, metrics.Account{Scope: name, Delta: 1e-6, Spent: math.NaN(), Counted: math.NaN(), Limit: 8, Free: night})
	s.Account(name, metrics.Account{Scope: "open", Delta: 1e-5, Spent: 2})
	s.Account(name, metrics.Account{Scope: "open", Delta: 0.01, Spent: 2.5}) // the series at another δ is gone
	write(t, s, path)
	got := parse(t, path)
	clean := strings.ToValidUTF8(name, "\uFFFD")
	if x := sample(t, got, "graphcloak_epsilon_spent", "1e-06", clean, clean); !math.IsInf(x, 1) {
		t.Errorf("spent %v", x)
	}
	if x := sample(t, got, "graphcloak_epsilon_counted", "1e-06", clean, clean); !math.IsInf(x, 1) {
		t.Errorf("counted %v", x)
	}
	if x := sample(t, got, "graphcloak_epsilon_spent", "0.01", "open", clean); x != 2.5 {
		t.Errorf("spent %v", x)
	}
	if n := len(got["graphcloak_epsilon_spent"].GetMetric()); n != 2 {
		t.Errorf("%d series of what is spent, want one a scope", n)
	}
	if n := len(got["graphcloak_epsilon_limit"].GetMetric()); n != 1 {
		t.Errorf("%d limits, want the one that there is", n)
	}
	if n := len(got["graphcloak_budget_free_timestamp_seconds"].GetMetric()); n != 1 {
		t.Errorf("%d times", n)
	}
	s.Account(name, metrics.Account{Scope: name, Spent: 1}) // the cap is gone, and nothing is refused
	write(t, s, path)
	got = parse(t, path)
	for _, gone := range []string{"graphcloak_epsilon_limit", "graphcloak_epsilon_counted", "graphcloak_budget_free_timestamp_seconds"} {
		if got[gone] != nil {
			t.Errorf("%s stays", gone)
		}
	}
}

// A scrape is answered in the form that the client asks for.
func TestHandler(t *testing.T) {
	s := metrics.New("serve", "v1")
	s.Job("nightly", metrics.Job{Status: "INVALID", Missed: 3})
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	for accept, want := range map[string]string{
		"": "text/plain; version=0.0.4", "application/openmetrics-text;version=1.0.0": "application/openmetrics-text; version=1.0.0",
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", accept)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !strings.HasPrefix(resp.Header.Get("Content-Type"), want) ||
			!strings.Contains(string(body), `graphcloak_job_status{name="nightly",status="INVALID"} 1`) {
			t.Errorf("%q: %s %v\n%s", accept, resp.Header.Get("Content-Type"), err, body)
		}
	}
}

// What cannot be written is known beforehand, and the file that was there stays.
func TestUnwritable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "f.prom")
	if metrics.CheckFile(path) == nil || metrics.New("f", "v1").WriteFile(path) == nil {
		t.Error("a folder that is not there")
	}
	if err := metrics.CheckFile(filepath.Join(t.TempDir(), "f.prom")); err != nil {
		t.Error(err)
	}
}

// What is no file of metrics is not put in its place: neither a folder or a socket, nor
// a file that somebody wants to keep.
func TestCheckFile(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := metrics.CheckFile(dir); !errors.Is(err, disk.ErrRefused) {
		t.Errorf("a folder: %v", err)
	}
	socket, err := net.Listen("unix", path("s"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if err := metrics.CheckFile(path("s")); !errors.Is(err, disk.ErrRefused) {
		t.Errorf("a socket: %v", err)
	}
	if err := metrics.New("s", "v1").WriteFile(path("s")); !errors.Is(err, disk.ErrRefused) {
		t.Errorf("a socket is replaced: %v", err)
	}
	if err := os.WriteFile(path("notes"), []byte("id,name\n1,one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := metrics.CheckFile(path("notes")); !errors.Is(err, metrics.ErrFile) {
		t.Errorf("notes: %v", err)
	}
	for _, name := range []string{"f.prom", "f.om"} {
		write(t, metrics.New("f", "v1"), path(name))
		if err := metrics.CheckFile(path(name)); err != nil {
			t.Error(err)
		}
	}
}

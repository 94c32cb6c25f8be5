// SPDX-License-Identifier: Apache-2.0

package check

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/storage"
)

// TestForms reads both forms of a file with Prometheus' own parsers, those of a scrape.
func TestForms(t *testing.T) {
	program := build(t)
	const scope = `a "scope" \ of`
	for file, kind := range map[string]string{"risk.prom": "text/plain", "risk.om": "application/openmetrics-text"} {
		path, state := filepath.Join(t.TempDir(), file), t.TempDir()
		for _, args := range [][]string{
			{"budget", "set", "--budget-scope", scope, "--properties", "source", "--create", "--epsilon", "9", "--delta", "1e-5"},
			{"run", "--source-property", "source", "--mode", "stats", "--metrics-file", path},
		} {
			run := exec.Command(program, append(args, "--from", "example:karate")...)
			run.Env = []string{"XDG_STATE_HOME=" + state}
			if out, err := run.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		types, samples := scraped(t, data, kind)
		for name, want := range map[string]model.MetricType{
			"graphcloak_run_last_success_timestamp_seconds": model.MetricTypeGauge,
			"graphcloak_epsilon_spent":                      model.MetricTypeGauge,
		} {
			if types[name] != want {
				t.Errorf("%s: %s is a %q, want a %q", file, name, types[name], want)
			}
		}
		counter := map[string]string{"risk.prom": "graphcloak_runs_total", "risk.om": "graphcloak_runs"}[file]
		if types[counter] != model.MetricTypeCounter {
			t.Errorf("%s: %s is a %q", file, counter, types[counter])
		}
		if got := samples[`{__name__="graphcloak_runs_total", name="risk", status="success"}`]; got != 1 {
			t.Errorf("%s: %v runs, want 1 of %v", file, got, samples)
		}
		if got := samples[`{__name__="graphcloak_epsilon_spent", delta="1e-05", ledger="a \"scope\" \\ of", name="risk"}`]; !(got > 0) {
			t.Errorf("%s: spent %v of %v", file, got, samples)
		}
	}
}

// scraped parses a scrape to its end.
func scraped(t *testing.T, data []byte, kind string) (types map[string]model.MetricType, samples map[string]float64) {
	t.Helper()
	p, err := textparse.New(data, kind, labels.NewSymbolTable(), textparse.ParserOptions{})
	if err != nil {
		t.Fatal(err)
	}
	types, samples = make(map[string]model.MetricType), make(map[string]float64)
	for {
		entry, err := p.Next()
		if errors.Is(err, io.EOF) {
			return types, samples
		}
		if err != nil {
			t.Fatalf("%s: %v\n%s", kind, err, data)
		}
		switch entry {
		case textparse.EntryType:
			name, of := p.Type()
			types[string(name)] = of
		case textparse.EntrySeries:
			_, _, value := p.Series()
			var series labels.Labels
			p.Labels(&series)
			samples[series.String()] = value
		}
	}
}

// alerts reads the rules as Prometheus does.
func alerts(t *testing.T) map[string]rulefmt.Rule {
	t.Helper()
	groups, errs := rulefmt.ParseFile(filepath.Join("..", "prometheus", "graphcloak.rules.yml"), false, model.LegacyValidation,
		parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	if len(errs) > 0 {
		t.Fatal(errors.Join(errs...))
	}
	rules := make(map[string]rulefmt.Rule)
	for _, g := range groups.Groups {
		for _, r := range g.Rules {
			rules[r.Alert] = r
		}
	}
	return rules
}

// TestAlerts plays nights and wants the alerts that they deserve, and no other.
func TestAlerts(t *testing.T) {
	rules := alerts(t)
	const hour = 3600
	for _, night := range []struct {
		name   string
		series string // at two days
		want   string
	}{
		{"all is well", series(47*hour, 47*hour, 0, 0, 1, 8, 0), ""},
		{"three failures", series(2*hour, 47*hour, 8, 0, 1, 8, 0), "GraphCloakNoSuccess"},
		{"never a success", series(0, 47*hour, 3, 0, 1, 8, 0), "GraphCloakNeverSucceeded"},
		{"the timer is gone", series(2*hour, 2*hour, 0, 0, 1, 8, 0), "GraphCloakNoSuccess GraphCloakSilent"},
		{"paid for and unfinished", series(40*hour, 47*hour, 13, 0, 1, 8, 0), "GraphCloakUnfinished"},
		{"a ledger went back", series(40*hour, 47*hour, 5, 0, 1, 8, 0), "GraphCloakConflict"},
		{"the budget is low", series(47*hour, 47*hour, 0, 0, 7, 8, 0), "GraphCloakBudgetLow"},
		{"it waits for a sliding cap", series(2*hour, 47*hour, 9, 1, 7.9, 8, 60*hour), ""},
		{"it waits for ever", series(2*hour, 47*hour, 9, 1, 7.9, 8, 0), "GraphCloakBudgetSpent"},
		{
			"it cannot run", series(47*hour, 47*hour, 0, 0, 1, 8, 0) + "  graphcloak_job_status{name=\"risk\",status=\"INVALID\"} 1+0x72\n",
			"GraphCloakJobInvalid",
		},
		{
			"nobody ran it", series(47*hour, 47*hour, 0, 0, 1, 8, 0) + "  graphcloak_job_missed_times{name=\"risk\"} 2+0x72\n",
			"GraphCloakMissed",
		},
	} {
		loaded := promqltest.LoadedStorage(t, night.series)
		engine := promqltest.NewTestEngine(t, false, 0, 1e6)
		var fired []string
		for name := range rules {
			if fires(t, engine, loaded, rules[name].Expr) {
				fired = append(fired, name)
			}
		}
		if got := sorted(fired); got != night.want {
			t.Errorf("%s: %q, want %q", night.name, got, night.want)
		}
	}
}

// series are the metrics of one job two days after the epoch.
func series(success, end, exit, waiting int, spent, limit float64, free int) string {
	var b strings.Builder
	b.WriteString("load 1h\n")
	add := func(name string, value float64) { fmt.Fprintf(&b, "  graphcloak_%s %v+0x72\n", name, value) }
	if success > 0 {
		add(`run_last_success_timestamp_seconds{name="risk"}`, float64(success))
	}
	add(`run_last_end_timestamp_seconds{name="risk"}`, float64(end))
	add(`run_last_exit_code{name="risk"}`, float64(exit))
	add(`run_waiting_for_budget{name="risk"}`, float64(waiting))
	add(`epsilon_spent{name="risk",ledger="property=risk",delta="1e-05"}`, 10*spent) // of many windows
	add(`epsilon_counted{name="risk",ledger="property=risk",delta="1e-05"}`, spent)
	add(`epsilon_limit{name="risk",ledger="property=risk",delta="1e-05"}`, limit)
	if free > 0 {
		add(`budget_free_timestamp_seconds{name="risk",ledger="property=risk"}`, float64(free))
	}
	return b.String()
}

func fires(t *testing.T, engine *promql.Engine, series storage.Queryable, expr string) bool {
	t.Helper()
	query, err := engine.NewInstantQuery(t.Context(), series, nil, expr, time.Unix(48*3600, 0))
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	defer query.Close()
	result := query.Exec(t.Context())
	if result.Err != nil {
		t.Fatalf("%s: %v", expr, result.Err)
	}
	vector, err := result.Vector()
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	return len(vector) > 0
}

func sorted(names []string) string {
	slices.Sort(names)
	return strings.Join(names, " ")
}

// SPDX-License-Identifier: Apache-2.0

package check

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/storage"
)

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

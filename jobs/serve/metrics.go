// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"math"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/graphcloak/graphcloak/jobs"
)

// metrics answers a scrape with what the store says then: so every server reports the
// same, whichever ran a job, and one whose store is away reports nothing.
func (s *server) metrics(w http.ResponseWriter, r *http.Request) {
	registry, err := s.readMetrics(r.Context())
	if err != nil {
		s.Log.Warn("the metrics cannot be read from the store", "error", err)
		http.Error(w, "the store cannot be read", http.StatusServiceUnavailable)
		return
	}
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}).ServeHTTP(w, r)
}

// gauges are the series of one scrape, by their names. Every series has the label name, which tells one job from another. Units are
// base units; no label names a node or a value of a private property.
type gauges map[string]*prometheus.GaugeVec

func newGauges(registry *prometheus.Registry) gauges {
	g := gauges{}
	for _, m := range []struct {
		name, help string
		labels     []string
	}{
		{"run_duration_seconds", "Time that the last run took.", nil},
		{"run_last_success_timestamp_seconds", "When a run last succeeded, in Unix time.", nil},
		{"run_last_end_timestamp_seconds", "When a run last ended, however it did, in Unix time.", nil},
		{"run_last_exit_code", "Exit code of the last run.", nil},
		{"run_waiting_for_budget", "1 where the budget refused the last run, else 0.", nil},
		{
			"epsilon_spent", "Privacy loss of all releases of a budget scope together, at the delta of its cap or else of its last " +
				"release.", []string{"ledger", "delta"},
		},
		{
			"epsilon_counted", "Privacy loss of the releases that count against the cap of a budget scope: all, or where it slides those " +
				"of its window.", []string{"ledger", "delta"},
		},
		{"epsilon_limit", "Cap of a budget scope.", []string{"ledger", "delta"}},
		{"budget_free_timestamp_seconds", "When the release that the budget refused can be paid, in Unix time.", []string{"ledger"}},
		{"job_status", "1, labelled with the status of a job.", []string{"status"}},
		{"job_missed_times", "Times of a job since its last run at which nobody ran it, up to 100.", nil},
		{"build_info", "1, labelled with the version of the program and of Go.", []string{"version", "goversion"}},
	} {
		v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "graphcloak", Name: m.name, Help: m.help},
			append([]string{"name"}, m.labels...))
		registry.MustRegister(v)
		g[m.name] = v
	}
	return g
}

// set shows a value under labels, which must be UTF-8.
func (g gauges) set(name string, x float64, labels ...string) {
	for k := range labels {
		labels[k] = strings.ToValidUTF8(labels[k], "\uFFFD")
	}
	g[name].WithLabelValues(labels...).Set(x)
}

// setTime shows a time that is known.
func (g gauges) setTime(name string, t time.Time, labels ...string) {
	if !t.IsZero() {
		g.set(name, float64(t.UnixMilli())/1e3, labels...)
	}
}

func (s *server) readMetrics(ctx context.Context) (*prometheus.Registry, error) {
	all, _, err := s.Engine.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	ended, err := s.latestTicks(ctx, jobs.TickQuery{Ended: true, Latest: true})
	if err != nil {
		return nil, err
	}
	finished, err := s.latestTicks(ctx, jobs.TickQuery{Status: jobs.Finished, Latest: true})
	if err != nil {
		return nil, err
	}
	spent, err := s.Budgets(ctx)
	if err != nil {
		return nil, err
	}
	registry := prometheus.NewPedanticRegistry()
	g := newGauges(registry)
	const own = "serve" // the label of what a server reports beside its jobs
	g.set("build_info", 1, own, s.Version, runtime.Version())
	for _, j := range all {
		g.set("job_status", 1, j.Name, string(j.Summary().Status))
		g.set("job_missed_times", float64(j.Missed), j.Name)
		g.setTime("run_last_success_timestamp_seconds", finished[j.Name].EndedAt, j.Name)
		if last := ended[j.Name]; !last.EndedAt.IsZero() {
			waits := 0. // its budget refused it, and nothing was released: no incident
			if last.Status == jobs.WaitingForBudget || last.Status == jobs.OverBudget {
				waits = 1
			}
			g.setTime("run_last_end_timestamp_seconds", last.EndedAt, j.Name)
			g.set("run_last_exit_code", float64(last.ExitCode), j.Name)
			g.set("run_waiting_for_budget", waits, j.Name)
			g.set("run_duration_seconds", max(time.Second, last.EndedAt.Sub(last.ClaimedAt).Round(time.Second)).Seconds(), j.Name)
		}
		if cost, ok := s.Cost(j.Definition); ok && j.Last.Status == jobs.WaitingForBudget {
			g.setTime("budget_free_timestamp_seconds", j.Last.RenewsAt, j.Name, cost.Scope)
		}
	}
	for _, b := range spent {
		delta := strconv.FormatFloat(b.Delta, 'g', -1, 64)
		g.set("epsilon_spent", orInf(b.Epsilon), own, b.Scope, delta)
		if b.CapEpsilon == nil {
			continue
		}
		counted := b.Epsilon
		if b.CapPerSeconds > 0 {
			counted = b.RecentEpsilon
		}
		g.set("epsilon_counted", orInf(counted), own, b.Scope, delta)
		g.set("epsilon_limit", *b.CapEpsilon, own, b.Scope, delta)
	}
	return registry, nil
}

// orInf is an ε, +Inf beyond conversion: nothing is promised there.
func orInf(epsilon *float64) float64 {
	if epsilon == nil {
		return math.Inf(1)
	}
	return *epsilon
}

// latestTicks returns a tick of each job, by its name.
func (s *server) latestTicks(ctx context.Context, q jobs.TickQuery) (map[string]jobs.Claim, error) {
	list, err := s.Store.Ticks(ctx, q)
	byName := make(map[string]jobs.Claim, len(list))
	for _, c := range list {
		byName[c.JobName] = c
	}
	return byName, err
}

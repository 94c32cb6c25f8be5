// SPDX-License-Identifier: Apache-2.0

// Package metrics shows Prometheus over HTTP how the runs of jobs ended and what of their budget is left.
//
// Every series has the label name, which tells one job from another. Units are base units; no label names a node or a
// value of a private property.
package metrics

import (
	"math"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Run is how the last run of a job ended.
type Run struct {
	ExitCode int
	Waits    bool // its budget refused it, and nothing was released: no incident
	End      time.Time
	Took     time.Duration
}

// Job is a job of a scheduler.
type Job struct {
	Status  string // of the job
	Missed  int    // times since its last run at which nobody ran it
	Success time.Time
	Last    Run       // that has ended; the zero End: none has
	Scope   string    // that it spends from
	Free    time.Time // when the release that was refused can be paid; zero: not known, or not refused
}

// Account is what a budget scope has spent. Each ε holds at Delta, which is a label of its series.
type Account struct {
	Scope   string
	Delta   float64 // of the cap; without one, of the last release
	Spent   float64 // ε of all releases together, however old
	Counted float64 // ε of those that count against the cap
	Limit   float64 // ε of the cap; 0: there is none
}

// Set holds the series of one program, in a registry of its own.
type Set struct {
	registry *prometheus.Registry

	duration, success, end, exit, waiting *prometheus.GaugeVec
	spent, counted, limit, free, info     *prometheus.GaugeVec
	status, missed                        *prometheus.GaugeVec
}

const (
	nameLabel   = "name"
	ledgerLabel = "ledger"
	deltaLabel  = "delta"
	statusLabel = "status"
)

// New returns a set with the version of the program and no run.
func New(name, version string) *Set {
	s := &Set{registry: prometheus.NewPedanticRegistry()}
	gauge := func(metric, help string, labels ...string) *prometheus.GaugeVec {
		v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "graphcloak", Name: metric, Help: help},
			append([]string{nameLabel}, labels...))
		s.registry.MustRegister(v)
		return v
	}
	s.duration = gauge("run_duration_seconds", "Time that the last run took.")
	s.success = gauge("run_last_success_timestamp_seconds", "When a run last succeeded, in Unix time.")
	s.end = gauge("run_last_end_timestamp_seconds", "When a run last ended, however it did, in Unix time.")
	s.exit = gauge("run_last_exit_code", "Exit code of the last run.")
	s.waiting = gauge("run_waiting_for_budget", "1 where the budget refused the last run, else 0.")
	s.spent = gauge("epsilon_spent", "Privacy loss of all releases of a budget scope together, at the delta of its cap or else of its "+
		"last release.", ledgerLabel, deltaLabel)
	s.counted = gauge("epsilon_counted", "Privacy loss of the releases that count against the cap of a budget scope: all, or where it "+
		"slides those of its window.", ledgerLabel, deltaLabel)
	s.limit = gauge("epsilon_limit", "Cap of a budget scope.", ledgerLabel, deltaLabel)
	s.free = gauge("budget_free_timestamp_seconds", "When the release that the budget refused can be paid, in Unix time.", ledgerLabel)
	s.status = gauge("job_status", "1, labelled with the status of a job.", statusLabel)
	s.missed = gauge("job_missed_times", "Times of a job since its last run at which nobody ran it, up to 100.")
	s.info = gauge("build_info", "1, labelled with the version of the program and of Go.", "version", "goversion")
	s.info.WithLabelValues(text(name), text(version), runtime.Version()).Set(1)
	return s
}

// Handler answers a scrape, in the form that the client asks for.
func (s *Set) Handler() http.Handler {
	return promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
}

// Job shows a job as its store has it.
func (s *Set) Job(name string, j Job) {
	name = text(name)
	s.status.WithLabelValues(name, text(j.Status)).Set(1)
	s.missed.WithLabelValues(name).Set(float64(j.Missed))
	if !j.Success.IsZero() {
		s.success.WithLabelValues(name).Set(unix(j.Success))
	}
	if !j.Last.End.IsZero() {
		s.last(name, j.Last)
	}
	if !j.Free.IsZero() {
		s.free.WithLabelValues(name, text(j.Scope)).Set(unix(j.Free))
	}
}

// last shows how the last run of a job ended.
func (s *Set) last(name string, r Run) {
	s.end.WithLabelValues(name).Set(unix(r.End))
	s.exit.WithLabelValues(name).Set(float64(r.ExitCode))
	s.waiting.WithLabelValues(name).Set(0)
	if r.Waits {
		s.waiting.WithLabelValues(name).Set(1)
	}
	s.duration.WithLabelValues(name).Set(r.Took.Seconds())
}

// Account shows the budget scope that a job spends from. An ε that is no number is
// shown as +Inf: nothing is promised there.
func (s *Set) Account(name string, a Account) {
	name, scope := text(name), text(a.Scope)
	for _, epsilon := range []*float64{&a.Spent, &a.Counted} {
		if math.IsNaN(*epsilon) {
			*epsilon = math.Inf(1)
		}
	}
	delta := strconv.FormatFloat(a.Delta, 'g', -1, 64)
	s.spent.WithLabelValues(name, scope, delta).Set(a.Spent)
	if a.Limit > 0 {
		s.counted.WithLabelValues(name, scope, delta).Set(a.Counted)
		s.limit.WithLabelValues(name, scope, delta).Set(a.Limit)
	}
}

// text is a label's value, which must be UTF-8.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func unix(t time.Time) float64 { return float64(t.UnixMilli()) / 1e3 }

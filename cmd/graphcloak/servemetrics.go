// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"math"
	"net/http"
	"time"

	"github.com/graphcloak/graphcloak/internal/metrics"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/privacy"
)

// serverName is the label of what a server reports beside its jobs.
const serverName = "serve"

// metricsOf answers a scrape with what the store says then: so every server reports the
// same, whichever ran a job, and one whose store is away reports nothing.
func (a *app) metricsOf(s graphStore, e *jobs.Engine) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		set, err := a.readMetrics(r.Context(), s, e)
		if err != nil {
			a.log.Warn("the metrics cannot be read from the store", "error", err)
			http.Error(w, "the store cannot be read", http.StatusServiceUnavailable)
			return
		}
		set.Handler().ServeHTTP(w, r)
	})
}

func (a *app) readMetrics(ctx context.Context, s graphStore, e *jobs.Engine) (*metrics.Set, error) {
	all, _, err := e.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	ended, err := latestTicks(ctx, e.Store, jobs.TickQuery{Ended: true, Latest: true})
	if err != nil {
		return nil, err
	}
	finished, err := latestTicks(ctx, e.Store, jobs.TickQuery{Status: jobs.Finished, Latest: true})
	if err != nil {
		return nil, err
	}
	set := metrics.New(serverName, readBuild().Version)
	for _, j := range all {
		m := metrics.Job{
			Status: string(j.Summary().Status), Missed: j.Missed, Success: finished[j.Name].EndedAt,
			Last: runOfTick(ended[j.Name]),
		}
		if own, err := (jobRunner{a, s}).of(j.Definition); err == nil && j.Last.Status == jobs.WaitingForBudget {
			m.Scope, m.Free = scopeOf(own.config), j.Last.RenewsAt
		}
		set.Job(j.Name, m)
	}
	spent, err := balances(ctx, s.Ledger())
	if err != nil {
		return nil, err
	}
	for _, b := range spent {
		set.Account(serverName, accountMetrics(b))
	}
	return set, nil
}

// latestTicks returns a tick of each job, by its name.
func latestTicks(ctx context.Context, s jobs.Store, q jobs.TickQuery) (map[string]jobs.Claim, error) {
	list, err := s.Ticks(ctx, q)
	byName := make(map[string]jobs.Claim, len(list))
	for _, c := range list {
		byName[c.JobName] = c
	}
	return byName, err
}

// runOfTick is what metrics report of a tick that has ended.
func runOfTick(c jobs.Claim) metrics.Run {
	return metrics.Run{
		ExitCode: int(c.ExitCode), End: c.EndedAt, Waits: c.Status == jobs.WaitingForBudget || c.Status == jobs.OverBudget,
		Took: max(time.Second, c.EndedAt.Sub(c.ClaimedAt).Round(time.Second)),
	}
}

// accountMetrics returns what a scope has spent; an ε beyond conversion is NaN.
func accountMetrics(b privacy.Balance) metrics.Account {
	orNaN := func(x *float64) float64 {
		if x == nil {
			return math.NaN()
		}
		return *x
	}
	shown := metrics.Account{Scope: b.Scope, Delta: b.Delta, Spent: orNaN(b.Epsilon), Counted: orNaN(b.Epsilon)}
	if b.CapEpsilon != nil {
		shown.Limit = *b.CapEpsilon
	}
	if b.CapPerSeconds > 0 {
		shown.Counted = orNaN(b.RecentEpsilon)
	}
	return shown
}

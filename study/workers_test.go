// SPDX-License-Identifier: Apache-2.0

package study_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"runtime"
	"testing"
	"testing/cryptotest"
	"time"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/connector/memory"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/run"
	"github.com/graphcloak/graphcloak/study"
)

var allWorkers = flag.Bool("all-workers", false, "compare the results at every number of workers on every family, not at one number on "+
	"three; takes a minute")

// The plan, the release under a given key, what is recovered from it and the evaluation have
// the same bits at any number of workers, on graphs that are large enough to be split.
func TestWorkers(t *testing.T) {
	for _, c := range []struct {
		name    string
		workers int // 0: only with -all-workers
		make    func() (*graph.Graph, error)
	}{
		{"block model", 16, func() (*graph.Graph, error) { g, _, err := graph.SBM(1100, 4, .04, .001, 1); return g, err }},
		{"Barabási–Albert", 7, func() (*graph.Graph, error) { return graph.BarabasiAlbert(1050, 4, 1) }},
		{"R-MAT", 0, func() (*graph.Graph, error) { return graph.RMAT(1100, 5000, graph.Quadrants{}, 1) }},
		{"road-like", 3, func() (*graph.Graph, error) { g, _, err := graph.RoadLike(1300, 1); return g, err }},
		{"nearest neighbours", 0, func() (*graph.Graph, error) { g, _, err := graph.KNN(1050, 6, 1); return g, err }},
		{"grid", 0, func() (*graph.Graph, error) { return graph.Grid(40, 30) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.workers == 0 && !*allWorkers {
				t.Skip("with -all-workers")
			}
			g, err := c.make()
			if err != nil {
				t.Fatal(err)
			}
			counts, falseAlarm := []int{c.workers}, 1.
			if *allWorkers {
				counts, falseAlarm = []int{2, 3, 7, 16}, 0 // with the test for a source, which takes most of the time
			}
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			one := results(t, g, falseAlarm)
			for _, workers := range counts {
				runtime.GOMAXPROCS(workers)
				got := results(t, g, falseAlarm)
				for k, what := range []string{"plan", "release", "report", "evaluation"} {
					if got[k] != one[k] {
						t.Errorf("another %s with %d workers than with one", what, workers)
					}
				}
			}
		})
	}
}

// results returns digests of a plan, a release, a report and an evaluation.
func results(t *testing.T, g *graph.Graph, falseAlarm float64) (digests [4][32]byte) {
	t.Helper()
	cryptotest.SetGlobalRandom(t, 1) // of the plan's seed
	store := memory.FromGraph(g)
	if err := store.Set("source", map[graph.ID]any{g.ID(7): 1}); err != nil {
		t.Fatal(err)
	}
	m, p := testkit.Planned(t, store, run.Job{
		Settings: plan.Settings{Tau: 1},
		Plan: plan.Options{
			Budget: privacy.Budget{Epsilon: 8, Delta: 1e-5}, Alpha: 1, Randomness: privacy.EscrowRandomness,
			Allocation: plan.Allocation{Uniform: true},
		},
	})
	escrow, err := privacy.NewEscrow(bytes.Repeat([]byte{1}, privacy.KeySize), "workers", 1)
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Release(t.Context(), p, run.Job{
		Signal: plan.Signal{SourceProperty: "source"}, RunID: "r", Attempt: "a", Noise: escrow,
	})
	if err != nil {
		t.Fatal(err)
	}
	rep, err := m.Recover(t.Context(), r, analyst.Options{FalseAlarm: falseAlarm})
	if err != nil {
		t.Fatal(err)
	}
	e, err := study.Evaluate(t.Context(), m.Model, p, study.Options{Trials: 2, Seed: 1, Recover: analyst.Options{FalseAlarm: falseAlarm}})
	if err != nil {
		t.Fatal(err)
	}
	rep.Millis, rep.StartedAt = report.Millis{}, time.Time{} // all that a clock tells
	for k, v := range []any{p, r, rep, e} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		digests[k] = sha256.Sum256(text)
	}
	return digests
}

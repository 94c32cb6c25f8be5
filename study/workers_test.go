// SPDX-License-Identifier: Apache-2.0

package study_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"runtime"
	"testing"
	"testing/cryptotest"
	"time"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/connector/memory"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/run"
	"github.com/graphcloak/graphcloak/study"
	"github.com/graphcloak/graphcloak/study/simulate"
)

// The plan, the release under a given key, what is recovered from it and the evaluation have
// the same bits at any number of workers, on graphs that are large enough to be split.
func TestWorkers(t *testing.T) {
	for workers, generate := range map[int]func() (*graph.Graph, error){
		16: func() (*graph.Graph, error) { g, _, err := graph.SBM(1100, 4, .04, .001, 1); return g, err },
		7:  func() (*graph.Graph, error) { return graph.BarabasiAlbert(1050, 4, 1) },
		3:  func() (*graph.Graph, error) { g, _, err := graph.RoadLike(1300, 1); return g, err },
	} {
		g := must.Get(generate())(t)
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		one := results(t, g)
		runtime.GOMAXPROCS(workers)
		got := results(t, g)
		for k, what := range []string{"plan", "release", "report", "evaluation"} {
			if got[k] != one[k] {
				t.Errorf("another %s with %d workers than with one", what, workers)
			}
		}
	}
}

// results returns digests of a plan, a release, a report and an evaluation, without the test for a source, which takes longest.
func results(t *testing.T, g *graph.Graph) (digests [4][32]byte) {
	t.Helper()
	cryptotest.SetGlobalRandom(t, 1) // of the plan's seed
	store := memory.FromGraph(g)
	must.Do(t, store.Set("source", map[graph.ID]any{g.ID(7): 1}))
	m, p := testkit.Planned(t, store, run.Job{
		Settings: plan.Settings{Tau: tau.At(1)},
		Plan: plan.Options{
			Budget: privacy.Budget{Epsilon: 8, Delta: 1e-5}, Alpha: 1, Randomness: privacy.EscrowRandomness,
			Allocation: plan.Allocation{Uniform: true},
		},
	})
	escrow := must.Get(privacy.NewEscrow(bytes.Repeat([]byte{1}, privacy.KeySize), "workers", 1))(t)
	r := must.Get(m.Release(t.Context(), p, run.Job{
		Signal: plan.Signal{SourceProperty: "source"}, RunID: "r", Attempt: "a", Noise: escrow,
	}))(t)
	rep := must.Get(m.Recover(t.Context(), r, analyst.Options{FalseAlarm: 1}))(t)
	o := options(2, simulate.Options{Seed: 1, Recover: analyst.Options{FalseAlarm: 1}})
	e := must.Get(study.Evaluate(t.Context(), m.Model, p, o))(t)
	rep.Millis, rep.StartedAt = report.Millis{}, time.Time{} // all that a clock tells
	for k, v := range []any{p, r, rep, e} {
		text := must.Get(json.Marshal(v))(t)
		digests[k] = sha256.Sum256(text)
	}
	return digests
}

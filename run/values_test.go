// SPDX-License-Identifier: Apache-2.0

package run_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/connector/memory"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
)

// TestSignalValues: values that the caller has are released as those of a store are, to the
// same bits, and the release does not hold them.
func TestSignalValues(t *testing.T) {
	ring := must.Get(graph.Cycle(8))(t)
	key := must.Get(privacy.NewEscrow(bytes.Repeat([]byte{7}, privacy.KeySize), "test", 1))(t)
	heard := make([]float64, 8)
	heard[3] = .90625
	var plan *graphcloak.Plan
	made := map[bool]string{}
	for _, given := range []bool{false, true} {
		store, s := memory.FromGraph(ring), graphcloak.Signal{SourceProperty: "heard"}
		if given {
			s.Values = heard
		} else if err := store.Set("heard", map[graph.ID]any{ring.ID(3): heard[3]}); err != nil {
			t.Fatal(err)
		}
		m := must.Get(graphcloak.Load(t.Context(), store, graphcloak.Settings{Tau: tau.At(1)}, graphcloak.LoadOptions{}))(t)
		if plan == nil {
			opts := graphcloak.PlanOptions{Budget: privacy.Budget{Epsilon: 2, Delta: 1e-5}, Randomness: privacy.EscrowRandomness}
			plan = must.Get(m.Plan(t.Context(), opts))(t)
		}
		short := s
		short.Values = heard[:7]
		if _, err := m.Release(t.Context(), plan, run.Job{Signal: short, Noise: key}); !errors.Is(err, run.ErrBadSignal) {
			t.Errorf("seven values for eight nodes: %v", err)
		}
		r := must.Get(m.Release(t.Context(), plan, run.Job{Signal: s, RunID: "one", Noise: key}))(t)
		text, err := json.Marshal(r)
		if err != nil || bytes.Contains(text, []byte(".90625")) || r.Signal.Values != nil {
			t.Errorf("the release holds the values: %v", err)
		}
		made[given] = string(text)
	}
	if made[true] != made[false] {
		t.Error("values of the caller are released to other bits than those of a store")
	}
}

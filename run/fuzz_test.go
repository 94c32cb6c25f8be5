// SPDX-License-Identifier: Apache-2.0

package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
)

// public is a store that has a graph and nothing else.
type publicStore struct {
	graphcloak.Store
	g *graph.Graph
}

func (s publicStore) Graph(context.Context, graph.Selection) (*graph.Graph, error) { return s.g, nil }

func (s publicStore) Sensors(context.Context, *graph.Graph, graph.SensorSelection) ([]int, error) {
	nodes := make([]int, s.g.Order())
	for i := range nodes {
		nodes[i] = i
	}
	return nodes, nil
}

func (s publicStore) Name() string { return "fuzz" }

// fuzzModel is a path of ten nodes, that of the corpora.
func fuzzModel(f *testing.F) *graphcloak.Model {
	g := must.Get(graph.Path(10))(f)
	return must.Get(graphcloak.Load(f.Context(), publicStore{g: g}, graphcloak.Settings{Tau: tau.At(2)}, graphcloak.LoadOptions{}))(f)
}

// restated fails where a document that was taken does not say again what it said.
func restated(t *testing.T, data []byte, v any) {
	again, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("what was read cannot be written: %v", err)
	}
	if err := strictjson.Compare(data, again, ""); err != nil {
		t.Fatalf("what was read says something else: %v", err)
	}
}

// FuzzPlan: whatever a plan file holds, it is refused with an error, or it says what
// was read, and is held against a graph without a panic.
func FuzzPlan(f *testing.F) {
	m := fuzzModel(f)
	p, err := m.Plan(f.Context(), graphcloak.PlanOptions{
		Budget: privacy.Budget{Epsilon: 4, Delta: .1}, Alpha: 1,
		Allocation: graphcloak.Allocation{Uniform: true},
	})
	if err != nil {
		f.Fatal(err)
	}
	good := must.Get(json.Marshal(p))(f)
	f.Add(good)
	f.Fuzz(func(t *testing.T, data []byte) {
		var p graphcloak.Plan
		if err := strictjson.Unmarshal(data, &p); err != nil {
			if !errors.Is(err, strictjson.ErrInvalid) {
				t.Fatalf("error %v, want ErrInvalid", err)
			}
			return
		}
		restated(t, data, &p)
		if m.Matches(p.Plan) == nil && string(data) == string(good) {
			if err := m.Certify(t.Context(), p.Plan); err != nil {
				t.Fatalf("a good plan: %v", err)
			}
		}
	})
}

// FuzzRelease is FuzzPlan for release files.
func FuzzRelease(f *testing.F) {
	m := fuzzModel(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		var r graphcloak.Release
		if err := strictjson.Unmarshal(data, &r); err != nil {
			if !errors.Is(err, strictjson.ErrInvalid) && !errors.Is(err, plan.ErrNoSignal) &&
				!errors.Is(err, plan.ErrSignalPublic) {
				t.Fatalf("error %v, want ErrInvalid", err)
			}
			return
		}
		restated(t, data, &r)
		_ = m.Matches(r.Plan()) // no panic
		_ = privacy.Verify(r.Release, r.Plan())
	})
}

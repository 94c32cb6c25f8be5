// SPDX-License-Identifier: Apache-2.0

package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
)

// TestForgedPlans: a plan file that is consistent and wrong on the graph spends
// nothing, whatever is released under it, and a release under it does not verify.
func TestForgedPlans(t *testing.T) {
	scaled := func(s *privacy.Spec) { s.Sensitivity.Lower /= 16; s.Sensitivity.Upper /= 16 }
	nowhere := func(s *privacy.Spec) { s.Sensitivity.Edge, s.Sensitivity.Lower = [2]graph.ID{}, 0 }
	forgeries := map[string]func(*privacy.Spec){
		"scaled down": scaled,
		"scaled down, without an edge": func(s *privacy.Spec) {
			scaled(s)
			nowhere(s)
		},
		"a little too low, without an edge": func(s *privacy.Spec) {
			s.Sensitivity.Upper *= 1 - 1e-6
			nowhere(s)
		},
		"no such edge":         func(s *privacy.Spec) { s.Sensitivity.Edge = [2]graph.ID{"0", "nowhere"} },
		"no relationship":      func(s *privacy.Spec) { s.Sensitivity.Edge = [2]graph.ID{"0", "33"} },
		"a lower end too high": func(s *privacy.Spec) { s.Sensitivity.Lower *= 1.01; s.Sensitivity.Upper *= 1.02 },
		"copies of a sensor": func(s *privacy.Spec) {
			for i := range s.Sensors {
				s.Sensors[i].Node = 16
			}
		},
		"node -1":         func(s *privacy.Spec) { s.Sensors[0].Node = -1 },
		"node 99":         func(s *privacy.Spec) { s.Sensors[len(s.Sensors)-1].Node = 99 },
		"ids exchanged":   func(s *privacy.Spec) { s.Sensors[0].ID, s.Sensors[1].ID = s.Sensors[1].ID, s.Sensors[0].ID },
		"sensors swapped": func(s *privacy.Spec) { s.Sensors[0], s.Sensors[1] = s.Sensors[1], s.Sensors[0] },
		"a sensor less": func(s *privacy.Spec) {
			s.Sensors, s.Weights = s.Sensors[1:], s.Weights[1:]
			if s.PerSensor != nil {
				s.PerSensor = s.PerSensor[1:]
			}
		},
		"alpha":                   func(s *privacy.Spec) { s.Alpha = 1e30 },
		"alpha, a little":         func(s *privacy.Spec) { s.Alpha *= 1.01 },
		"another computing error": func(s *privacy.Spec) { s.NormError /= 16 },
	}
	for name, guarantee := range map[string]privacy.Guarantee{"joint": privacy.Joint, "perSensor": privacy.PerSensor} {
		store, _ := testkit.Example(t, "karate")
		job := testkit.PaperJob()
		job.Plan.Guarantee = guarantee
		m, p := testkit.Planned(t, store, job)
		spend := run.Job{Signal: job.Signal, RunID: "1", Attempt: "a"}
		for what, change := range forgeries {
			q := testkit.Forge(t, p, change)
			_, err := m.Release(t.Context(), q, spend)
			if !errors.Is(err, plan.ErrPlan) && !errors.Is(err, plan.ErrGraphChanged) {
				t.Errorf("%s, %s: %v, want ErrPlan", name, what, err)
			}
		}
		if scopes, err := store.Ledger().Scopes(t.Context()); err != nil || len(scopes) > 0 {
			t.Errorf("%s: forged plans opened %q (%v)", name, scopes, err)
		}
		if guarantee == privacy.PerSensor {
			q := testkit.Forge(t, p, func(s *privacy.Spec) { s.PerSensor[3] /= 16 })
			if _, err := m.Release(t.Context(), q, spend); !errors.Is(err, plan.ErrPlan) {
				t.Errorf("a sensor's bound scaled down: %v, want ErrPlan", err)
			}
		}
		q := testkit.Forge(t, p, func(*privacy.Spec) {})
		r, err := m.Release(t.Context(), q, spend)
		if err != nil {
			t.Fatalf("%s, the true plan read from its file: %v", name, err)
		}
		if err := m.CertifyRelease(t.Context(), r); err != nil {
			t.Errorf("%s: a true release: %v", name, err)
		}
		low := testkit.Forge(t, p, scaled)
		x := must.Get(low.Perturb(make([]float64, len(low.Sensors)), "2", nil))(t)
		if err := m.CertifyRelease(t.Context(), &graphcloak.Release{Release: x, Model: p.Model}); !errors.Is(err, plan.ErrPlan) ||
			strings.Contains(err.Error(), "NaN") {
			t.Errorf("%s: a release with a sixteenth of the noise: %v, want ErrPlan", name, err)
		}
	}
}

// TestPlansOfOtherSensors: a plan with a sensor that is not selected is refused, wherever it stands: what
// it measures was to stay unmeasured.
func TestPlansOfOtherSensors(t *testing.T) {
	store, _ := testkit.Graph(t,
		"id,meter,source\n1,0,1\n2,1,0\n3,0,0\n4,1,0\n5,0,0\n6,1,0\n7,0,0\n",
		"source,target\n1,2\n2,3\n3,4\n4,5\n5,6\n6,7\n")
	for _, guarantee := range []privacy.Guarantee{privacy.Joint, privacy.PerSensor} {
		job := testkit.PaperJob()
		job.Settings = graphcloak.Settings{Tau: tau.At(1), Public: graphcloak.Public{Sensors: graph.SensorSelection{Property: "meter"}}}
		job.Plan.Guarantee = guarantee
		m, p := testkit.Planned(t, store, job)
		if err := m.Matches(testkit.Forge(t, p, func(*privacy.Spec) {}).Plan); err != nil || len(p.Sensors) != 3 {
			t.Fatalf("%d sensors, %v", len(p.Sensors), err)
		}
		for k, selected := range []int{1, 3, 5} {
			for _, node := range []int{selected - 1, selected + 1} {
				q := testkit.Forge(t, p, func(s *privacy.Spec) {
					s.Sensors[k] = privacy.Sensor{Node: node, ID: m.Graph.ID(node)}
					s.Sensitivity.Lower = 0
					s.Sensitivity.Upper = 1
				})
				if err := m.Matches(q.Plan); !errors.Is(err, plan.ErrPlan) || !strings.Contains(err.Error(), "selected") {
					t.Errorf("%v, node %d in place of sensor %d: %v, want ErrPlan", guarantee, node, selected, err)
				}
			}
		}
		more := testkit.Forge(t, p, func(s *privacy.Spec) {
			s.Sensors = append(s.Sensors, privacy.Sensor{Node: 6, ID: m.Graph.ID(6)})
			s.Weights = append(s.Weights, 1)
			if s.PerSensor != nil {
				s.PerSensor = append(s.PerSensor, 1)
			}
			s.Sensitivity.Lower, s.Sensitivity.Upper = 0, 1
		})
		if err := m.Matches(more.Plan); !errors.Is(err, plan.ErrPlan) || !strings.Contains(err.Error(), "selected") {
			t.Errorf("%v, a sensor more: %v, want ErrPlan", guarantee, err)
		}
	}
}

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

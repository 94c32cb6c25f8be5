// SPDX-License-Identifier: Apache-2.0

package graphcloak_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/study"
)

// untouched fails the test where a graph or a property is read.
type untouched struct {
	graphcloak.Store
	t *testing.T
}

func (s untouched) Graph(context.Context, graph.Selection) (*graph.Graph, error) {
	s.t.Error("the graph was read")
	return nil, errors.New("read")
}

// reads counts the properties that are read.
type reads struct {
	graphcloak.Store
	names []string
}

func (s *reads) Signal(ctx context.Context, g *graph.Graph, property string) ([]float64, error) {
	s.names = append(s.names, property)
	return s.Store.Signal(ctx, g, property)
}

func (s *reads) Labels(ctx context.Context, g *graph.Graph, property string) ([]string, error) {
	s.names = append(s.names, property)
	return s.Store.Labels(ctx, g, property)
}

// declared are the settings that can name a public property.
func declared(name string) map[string]func(*graphcloak.Job) {
	return map[string]func(*graphcloak.Job){
		"sensors":               func(j *graphcloak.Job) { j.Sensors.Property = name },
		"node key":              func(j *graphcloak.Job) { j.Selection.NodeKey = name },
		"weight":                func(j *graphcloak.Job) { j.Selection.RelationshipWeightProperty = name },
		"length":                func(j *graphcloak.Job) { j.Selection.LengthProperty = name },
		"communities":           func(j *graphcloak.Job) { j.Recover.Communities.Property = name },
		"prior":                 func(j *graphcloak.Job) { j.Recover.PriorProperty = name },
		"allocated communities": func(j *graphcloak.Job) { j.Plan.Allocation.Communities.Property = name },
		"allocated prior":       func(j *graphcloak.Job) { j.Plan.Allocation.PriorProperty = name },
	}
}

// TestNoPublicSettingIsTheSignal: in one job, before anything is read.
func TestNoPublicSettingIsTheSignal(t *testing.T) {
	s, _ := open(t, "karate")
	for what, declare := range declared("source") {
		for _, signal := range []graphcloak.Signal{{SourceProperty: "source"}, {MeasurementProperty: "source"}} {
			job := paperJob()
			job.Signal = signal
			declare(&job)
			_, err := graphcloak.Run(t.Context(), untouched{s, t}, job, graphcloak.LoadOptions{})
			if !errors.Is(err, graphcloak.ErrSignalPublic) {
				t.Errorf("%s = the signal %+v: %v, want ErrSignalPublic", what, signal, err)
			}
		}
	}
	for what, declare := range declared("Source") { // names are compared exactly
		job := paperJob()
		declare(&job)
		if err := job.CheckSignal(); err != nil {
			t.Errorf("%s = another property: %v", what, err)
		}
	}
	if scopes, err := s.Ledger().Scopes(t.Context()); err != nil || len(scopes) > 0 {
		t.Errorf("the ledger has %v (%v), want nothing", scopes, err)
	}
}

// TestPlanRemembersWhatIsPublic: a release under it refuses such a signal unread.
func TestPlanRemembersWhatIsPublic(t *testing.T) {
	store, _ := open(t, "karate")
	s := &reads{Store: store}
	m, err := graphcloak.Load(t.Context(), s, graphcloak.Settings{Tau: 2}, graphcloak.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	opts := paperJob().Plan
	for what, change := range map[string]func(*graphcloak.PlanOptions, *graphcloak.RecoverOptions){
		"communities": func(o *graphcloak.PlanOptions, _ *graphcloak.RecoverOptions) {
			o.Allocation.Communities.Property = "source"
		},
		"prior":             func(o *graphcloak.PlanOptions, _ *graphcloak.RecoverOptions) { o.Allocation.PriorProperty = "source" },
		"expected accuracy": func(_ *graphcloak.PlanOptions, r *graphcloak.RecoverOptions) { r.PriorProperty = "source" },
	} {
		o, r := opts, graphcloak.RecoverOptions{}
		change(&o, &r)
		made, err := m.Plan(t.Context(), o)
		if err == nil {
			err = study.Expect(t.Context(), m, made, r, 2)
		}
		if err != nil {
			t.Fatal(err)
		}
		p := through(t, made)
		if !slices.Equal(p.PublicProperties, []string{"source"}) {
			t.Errorf("%s: the plan file lists %q, want source", what, p.PublicProperties)
		}
		s.names = nil
		_, err = m.Release(t.Context(), p, graphcloak.Signal{SourceProperty: "source"}, graphcloak.Spend{ReleaseID: what})
		if !errors.Is(err, graphcloak.ErrSignalPublic) || s.names != nil {
			t.Errorf("%s: %v after reading %q, want ErrSignalPublic and nothing read", what, err, s.names)
		}
		job := paperJob()
		job.Recover = graphcloak.RecoverOptions{}
		if err := m.CheckRelease(t.Context(), p, job); !errors.Is(err, graphcloak.ErrSignalPublic) {
			t.Errorf("%s: CheckRelease says %v, want ErrSignalPublic", what, err)
		}
		if _, err := m.Execute(t.Context(), p, job); !errors.Is(err, graphcloak.ErrSignalPublic) {
			t.Errorf("%s: Execute says %v, want ErrSignalPublic", what, err)
		}
	}
	if scopes, err := store.Ledger().Scopes(t.Context()); err != nil || len(scopes) > 0 {
		t.Errorf("the ledger has %v (%v), want nothing", scopes, err)
	}
	data, err := json.Marshal(plan(t, store, paperJob()))
	if err != nil {
		t.Fatal(err)
	}
	var old map[string]any
	if err := json.Unmarshal(data, &old); err != nil {
		t.Fatal(err)
	}
	delete(old, "publicProperties")
	if data, err = json.Marshal(old); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, new(graphcloak.Plan)); err == nil || !strings.Contains(err.Error(), "publicProperties") {
		t.Errorf("a plan that does not say what is public: %v, want an error", err)
	}
}

// through writes a plan file and reads it.
func through(t *testing.T, p *graphcloak.Plan) *graphcloak.Plan {
	t.Helper()
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	q := new(graphcloak.Plan)
	if err := json.Unmarshal(data, q); err != nil {
		t.Fatal(err)
	}
	return q
}

// TestReleaseRemembersItsSignal: recovery from it refuses the signal as public.
func TestReleaseRemembersItsSignal(t *testing.T) {
	store, _ := open(t, "karate")
	s := &reads{Store: store}
	m, p := studied(t, s, paperJob())
	made, err := m.Release(t.Context(), p, graphcloak.Signal{SourceProperty: "source"}, graphcloak.Spend{ReleaseID: "1", Attempt: privacy.NewAttempt()})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(made)
	if err != nil {
		t.Fatal(err)
	}
	var r graphcloak.Release
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	if r.Signal != made.Signal || r.Signal.SourceProperty != "source" {
		t.Errorf("the file says that %+v was released, want the property source", r.Signal)
	}
	for _, opts := range []graphcloak.RecoverOptions{
		{PriorProperty: "source"}, {Communities: community.Options{Property: "source"}},
	} {
		s.names = nil
		_, err := m.Recover(t.Context(), &r, opts)
		if !errors.Is(err, graphcloak.ErrSignalPublic) || s.names != nil {
			t.Errorf("%+v: %v after reading %q, want ErrSignalPublic and nothing read", opts, err, s.names)
		}
		if _, err := m.Complete(t.Context(), &r, graphcloak.Job{Recover: opts}); !errors.Is(err, graphcloak.ErrSignalPublic) {
			t.Errorf("Complete with %+v: %v, want ErrSignalPublic", opts, err)
		}
	}
	for what, change := range map[string]func(map[string]any){
		"no signal":            func(d map[string]any) { delete(d, "signal") },
		"an empty one":         func(d map[string]any) { d["signal"] = map[string]any{} },
		"two":                  func(d map[string]any) { d["signal"].(map[string]any)["cloaked"] = true },
		"its own sensors":      func(d map[string]any) { d["model"].(map[string]any)["sensors"] = map[string]any{"property": "source"} },
		"a number as its name": func(d map[string]any) { d["signal"] = map[string]any{"sourceProperty": 1} },
	} {
		var d map[string]any
		if err := json.Unmarshal(data, &d); err != nil {
			t.Fatal(err)
		}
		change(d)
		changed, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(changed, new(graphcloak.Release)); err == nil {
			t.Errorf("a release with %s was read", what)
		}
	}
}

// TestZeroSignal: sources of no mass are refused before the spend, readings of zero
// are not, for which readings are zero may be what is to be hidden.
func TestZeroSignal(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "nodes.csv", "id,none,zero,some\na,,0,\nb,,0,0.5\nc,,,0\n")
	write(t, dir, "relationships.csv", "source,target\na,b\nb,c\n")
	s, err := folder.New(t.Context(), dir, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	job := paperJob()
	job.Recover, job.Write = graphcloak.RecoverOptions{}, graphcloak.WriteOptions{}
	for property, refused := range map[string]bool{"none": true, "zero": true, "some": false} {
		job.Signal = graphcloak.Signal{SourceProperty: property}
		_, err := graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{})
		if refused != errors.Is(err, graphcloak.ErrZeroSignal) || !refused && err != nil {
			t.Errorf("sources %s: %v, want ErrZeroSignal: %v", property, err, refused)
		}
		if scopes, err := s.Ledger().Scopes(t.Context()); refused && (err != nil || slices.Contains(scopes, graphcloak.Scope(job.Signal))) {
			t.Errorf("sources %s: the ledger has %q (%v)", property, scopes, err)
		}
		job.Signal.AllowZero = true
		if _, err := graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{}); err != nil {
			t.Errorf("sources %s, allowed: %v", property, err)
		}
	}
	job.Settings.Sensors, job.Plan.Measured = graph.SensorSelection{}, true
	write(t, dir, "nodes.csv", "id,none,zero,some\na,,0,\nb,,0,0.5\nc,,0,0\n")
	job.Signal = graphcloak.Signal{MeasurementProperty: "zero"}
	if _, err := graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{}); err != nil {
		t.Errorf("readings of zero: %v", err)
	}
}

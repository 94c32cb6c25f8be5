// SPDX-License-Identifier: Apache-2.0

package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
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
		"sensors":     func(j *graphcloak.Job) { j.Sensors.Property = name },
		"node key":    func(j *graphcloak.Job) { j.Selection.NodeKey = name },
		"weight":      func(j *graphcloak.Job) { j.Selection.RelationshipWeightProperty = name },
		"length":      func(j *graphcloak.Job) { j.Selection.LengthProperty = name },
		"communities": func(j *graphcloak.Job) { j.Communities.Property = name },
		"prior":       func(j *graphcloak.Job) { j.PriorProperty = name },
	}
}

// TestNoPublicSettingIsTheSignal: in one job, before anything is read.
func TestNoPublicSettingIsTheSignal(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	for what, declare := range declared("source") {
		for _, signal := range []graphcloak.Signal{{SourceProperty: "source"}, {MeasurementProperty: "source"}} {
			job := testkit.PaperJob()
			job.Signal = signal
			declare(&job)
			_, err := graphcloak.Run(t.Context(), untouched{s, t}, job, graphcloak.LoadOptions{})
			if !errors.Is(err, plan.ErrSignalPublic) {
				t.Errorf("%s = the signal %+v: %v, want ErrSignalPublic", what, signal, err)
			}
		}
	}
	for what, declare := range declared("Source") { // names are compared exactly
		job := testkit.PaperJob()
		declare(&job)
		if err := job.CheckSignal(); err != nil {
			t.Errorf("%s = another property: %v", what, err)
		}
	}
	unspent(t, s.Ledger())
}

// TestPlanRemembersWhatIsPublic: a release under it refuses such a signal unread, by a
// model that reads less than the plan's did.
func TestPlanRemembersWhatIsPublic(t *testing.T) {
	store, _ := testkit.Example(t, "karate")
	s := &reads{Store: store}
	bare := must.Get(graphcloak.Load(t.Context(), s, graphcloak.Settings{Tau: tau.At(2)}, graphcloak.LoadOptions{}))(t)
	for what, public := range map[string]graphcloak.Public{
		"communities": {Communities: community.Options{Property: "source"}},
		"prior":       {PriorProperty: "source"},
	} {
		job := testkit.PaperJob()
		job.Public = public
		m, made := testkit.Planned(t, s, job)
		must.Do(t, study.Expect(t.Context(), m.Model, made, job.Recover, study.Sample{Trials: 2}))
		p := through(t, made)
		if !slices.Equal(p.PublicProperties, []string{"source"}) {
			t.Errorf("%s: the plan file lists %q, want source", what, p.PublicProperties)
		}
		s.names = nil
		_, err := bare.Release(t.Context(), p, run.Job{Signal: job.Signal, RunID: what})
		if !errors.Is(err, plan.ErrSignalPublic) || s.names != nil {
			t.Errorf("%s: %v after reading %q, want ErrSignalPublic and nothing read", what, err, s.names)
		}
		job.Public = graphcloak.Public{}
		if err := bare.Check(t.Context(), p, job); !errors.Is(err, plan.ErrSignalPublic) {
			t.Errorf("%s: CheckRelease says %v, want ErrSignalPublic", what, err)
		}
		if _, err := m.Run(t.Context(), job); !errors.Is(err, plan.ErrSignalPublic) || s.names != nil {
			t.Errorf("%s: a run says %v after reading %q, want ErrSignalPublic and nothing read", what, err, s.names)
		}
	}
	unspent(t, store.Ledger())
	data := must.Get(json.Marshal(planOf(t, store, testkit.PaperJob())))(t)
	var old map[string]any
	must.Do(t, json.Unmarshal(data, &old))
	delete(old, "publicProperties")
	data = must.Get(json.Marshal(old))(t)
	if err := json.Unmarshal(data, new(graphcloak.Plan)); err == nil || !strings.Contains(err.Error(), "publicProperties") {
		t.Errorf("a plan that does not say what is public: %v, want an error", err)
	}
}

// through writes a plan file and reads it.
func through(t *testing.T, p *graphcloak.Plan) *graphcloak.Plan {
	t.Helper()
	data := must.Get(json.Marshal(p))(t)
	q := new(graphcloak.Plan)
	must.Do(t, json.Unmarshal(data, q))
	return q
}

// TestReleaseRemembersItsSignal: recovery from it refuses the signal as public.
func TestReleaseRemembersItsSignal(t *testing.T) {
	store, _ := testkit.Example(t, "karate")
	s := &reads{Store: store}
	m, p := testkit.Planned(t, s, testkit.PaperJob())
	made := must.Get(m.Release(t.Context(), p, graphcloak.Job{Signal: graphcloak.Signal{SourceProperty: "source"}, RunID: "1"}))(t)
	data := must.Get(json.Marshal(made))(t)
	var r graphcloak.Release
	must.Do(t, json.Unmarshal(data, &r))
	if !reflect.DeepEqual(r.Signal, made.Signal) || r.Signal.SourceProperty != "source" {
		t.Errorf("the file says that %+v was released, want the property source", r.Signal)
	}
	for _, public := range []graphcloak.Public{
		{PriorProperty: "source"}, {Communities: community.Options{Property: "source"}},
	} {
		set := r.Model
		set.Public = public
		reader := must.Get(graphcloak.Load(t.Context(), s, set, graphcloak.LoadOptions{}))(t)
		s.names = nil
		_, err := reader.Recover(t.Context(), &r, analyst.Options{})
		if !errors.Is(err, plan.ErrSignalPublic) || s.names != nil {
			t.Errorf("%+v: %v after reading %q, want ErrSignalPublic and nothing read", public, err, s.names)
		}
		if _, err := reader.Complete(t.Context(), &r, graphcloak.Job{}); !errors.Is(err, plan.ErrSignalPublic) {
			t.Errorf("Complete with %+v: %v, want ErrSignalPublic", public, err)
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
		must.Do(t, json.Unmarshal(data, &d))
		change(d)
		changed := must.Get(json.Marshal(d))(t)
		if err := json.Unmarshal(changed, new(graphcloak.Release)); err == nil {
			t.Errorf("a release with %s was read", what)
		}
	}
}

// TestMissingSignal: a property that no selected node has is refused before the spend; sources and readings
// that are all zero are not, for that may be what is to be hidden.
func TestMissingSignal(t *testing.T) {
	s, dir := testkit.Graph(t, "id,none,zero,some\na,,0,\nb,,0,0.5\nc,,,0\n", "source,target\na,b\nb,c\n")
	job := testkit.PaperJob()
	job.Public, job.Write = graphcloak.Public{}, graphcloak.WriteOptions{}
	for property, refused := range map[string]bool{"none": true, "zero": false, "some": false} {
		job.Signal = graphcloak.Signal{SourceProperty: property}
		_, err := graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{})
		if refused != errors.Is(err, run.ErrMissingSignal) || !refused && err != nil {
			t.Errorf("sources %s: %v, want ErrMissingSignal: %v", property, err, refused)
		}
		if scopes, err := s.Ledger().Scopes(t.Context()); refused && (err != nil || slices.Contains(scopes, run.Scope(job.Signal))) {
			t.Errorf("sources %s: the ledger has %q (%v)", property, scopes, err)
		}
	}
	job.Plan.Measured = true
	testkit.Write(t, dir, "nodes.csv", "id,none,zero,some\na,,0,\nb,,0,0.5\nc,,0,0\n")
	job.Signal = graphcloak.Signal{MeasurementProperty: "zero"}
	if _, err := graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{}); err != nil {
		t.Errorf("readings of zero: %v", err)
	}
}

// counted is a detector that counts.
type counted struct {
	community.Detector
	times *int
}

func (d counted) Detect(ctx context.Context, g *graph.Graph) (community.Partition, error) {
	*d.times++
	time.Sleep(20 * time.Millisecond)
	return d.Detector.Detect(ctx, g)
}

// TestPublicIsResolvedOnce: a run with allocated noise reads communities and prior once,
// or detects once, and accounts for the time of it.
func TestPublicIsResolvedOnce(t *testing.T) {
	store, dir := testkit.Example(t, "karate")
	nodes := must.Get(os.ReadFile(filepath.Join(dir, "nodes.csv")))(t)
	lines := strings.Split(strings.TrimSpace(string(nodes)), "\n")
	for i := range lines {
		lines[i] += map[bool]string{true: ",risk", false: ",2"}[i == 0]
	}
	testkit.Write(t, dir, "nodes.csv", strings.Join(lines, "\n")+"\n")
	s, job, detected := &reads{Store: store}, testkit.PaperJob(), 0
	job.Plan.Allocation.Uniform, job.PriorProperty = false, "risk"
	must.Get(graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{}))(t)
	if slices.Sort(s.names); !slices.Equal(s.names, []string{"club", "risk", "source"}) {
		t.Errorf("read %q, want each property once", s.names)
	}
	job.Communities = community.Options{Detector: counted{community.Leiden{}, &detected}}
	rep, err := graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{})
	if err != nil || detected != 1 {
		t.Fatalf("detected %d times (%v), want once", detected, err)
	}
	if rep.PreProcessingMillis < 20 { // of sleep, however slow the machine
		t.Errorf("detection took 20 ms: %+v", rep.Millis)
	}
}

// TestPublishedStaysPublic: a property that an earlier release read without noise is no signal, by
// whatever store the ledger is reached.
func TestPublishedStaysPublic(t *testing.T) {
	store, dir := testkit.Example(t, "karate")
	job := testkit.PaperJob()
	job.Communities.Caption = ""
	job.Communities.Property = "club"
	must.Get(graphcloak.Run(t.Context(), store, job, graphcloak.LoadOptions{}))(t)
	job.Communities.Property = ""
	job.Signal = graphcloak.Signal{MeasurementProperty: "club"}
	job.Settings.Tau = tau.At(2)
	for _, s := range []graphcloak.Store{store, testkit.Folder(t, dir)} {
		if _, err := graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{}); !errors.Is(err, plan.ErrSignalPublic) {
			t.Errorf("%v, want ErrSignalPublic", err)
		}
		if scopes, err := s.Ledger().Scopes(t.Context()); err != nil || len(scopes) != 1 {
			t.Errorf("scopes %q, %v: the refusal spent", scopes, err)
		}
	}
}

// asked is a store that notes whether it was asked for a graph.
type asked struct {
	graphcloak.Store
	selections []graph.Selection
}

var errAsked = errors.New("the store was asked")

func (a *asked) Graph(_ context.Context, sel graph.Selection) (*graph.Graph, error) {
	a.selections = append(a.selections, sel)
	return nil, errAsked
}

func (a *asked) Ledger() privacy.Ledger { return nil }

// A query in settings from a file reaches no store, by whatever way, until the very
// same query is given; settings that a program fills in itself are its own.
func TestForeignQueries(t *testing.T) {
	const nodes, relationships = "MATCH (n) RETURN elementId(n) AS id", "MATCH (a)-->(b) RETURN a, b"
	own := graphcloak.Settings{Selection: graph.Selection{NodeQuery: nodes, RelationshipQuery: relationships}, Tau: tau.At(1)}
	text := must.Get(json.Marshal(own))(t)
	read := func() (s graphcloak.Settings) {
		must.Do(t, json.Unmarshal(text, &s))
		return s
	}
	ways := map[string]func(s graphcloak.Store, set graphcloak.Settings) error{
		"Load": func(s graphcloak.Store, set graphcloak.Settings) error {
			_, err := graphcloak.Load(t.Context(), s, set, graphcloak.LoadOptions{})
			return err
		},
		"Run": func(s graphcloak.Store, set graphcloak.Settings) error {
			job := testkit.PaperJob()
			job.Settings = set
			_, err := graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{})
			return err
		},
	}
	for name, way := range ways {
		for given, ok := range map[[2]string]bool{
			{"", ""}:                         false,
			{nodes, ""}:                      false,
			{"", relationships}:              false,
			{nodes + " ", relationships}:     false,
			{relationships, nodes}:           false,
			{nodes, relationships}:           true,
			{strings.ToLower(nodes), "\x00"}: false,
		} {
			set, s := read(), new(asked)
			set.Agree(given[0], given[1])
			copied := set // the mark goes with the value
			err := way(s, copied)
			switch {
			case ok && !errors.Is(err, errAsked):
				t.Errorf("%s with the same queries: %v, want the store to be asked", name, err)
			case !ok && (!errors.Is(err, plan.ErrForeignQuery) || len(s.selections) > 0):
				t.Errorf("%s with %q: %v and %d questions to the store, want ErrForeignQuery and none", name, given, err, len(s.selections))
			case !ok && (!strings.Contains(err.Error(), nodes) || !strings.Contains(err.Error(), relationships)):
				t.Errorf("%s: the message does not show the queries: %v", name, err)
			}
		}
		if err := way(new(asked), own); !errors.Is(err, errAsked) {
			t.Errorf("%s with the program's own settings: %v, want the store to be asked", name, err)
		}
	}
}

// The message shows the query without what steers a terminal or hides an end.
func TestForeignQueryIsShownPlainly(t *testing.T) {
	query := "MATCH (n)\x1b[2K\r\n\tDETACH \u202eDELETE\u009b n //" + strings.Repeat(" x", 5000)
	text := must.Get(json.Marshal(graphcloak.Settings{Selection: graph.Selection{NodeQuery: query}}))(t)
	var set graphcloak.Settings
	must.Do(t, json.Unmarshal(text, &set))
	_, err := graphcloak.Load(t.Context(), new(asked), set, graphcloak.LoadOptions{})
	if err == nil || !strings.Contains(err.Error(), "MATCH (n)[2K DETACH DELETE n //") ||
		strings.ContainsAny(err.Error(), "\x1b\r\n\u202e\u009b") || len(err.Error()) > 3000 {
		t.Errorf("the message is %q", err)
	}
}

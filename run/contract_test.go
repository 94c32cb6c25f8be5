// SPDX-License-Identifier: Apache-2.0

package run_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/connector/memory"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/run"
)

// Measurements that are not one value, of noise above 0, at each of some distinct nodes
// of the graph in ascending order are refused: a posterior would come out flat, or of
// other sensors.
func TestRecoverFromRefuses(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	m := must.Get(graphcloak.Load(t.Context(), s, graphcloak.Settings{Tau: tau.At(1)}, graphcloak.LoadOptions{}))(t)
	n := m.Graph.Order()
	of := func(nodes []int, sigma float64) analyst.Measurements {
		in := analyst.Measurements{Nodes: nodes}
		for range nodes {
			in.Values, in.Sigmas = append(in.Values, .5), append(in.Sigmas, sigma)
		}
		return in
	}
	if _, err := m.RecoverFrom(t.Context(), of([]int{0, n - 1}, .1), analyst.Options{}); err != nil {
		t.Errorf("the first and the last node: %v", err)
	}
	for name, in := range map[string]analyst.Measurements{
		"node n":            of([]int{0, n}, .1),
		"node −1":           of([]int{-1, 0}, .1),
		"a node twice":      of([]int{3, 3}, .1),
		"descending nodes":  of([]int{3, 2}, .1),
		"no noise":          of([]int{0, 1}, 0),
		"negative noise":    of([]int{0, 1}, -.1),
		"infinite noise":    of([]int{0, 1}, math.Inf(1)),
		"noise of no value": of([]int{0, 1}, math.NaN()),
	} {
		if rep, err := m.RecoverFrom(t.Context(), in, analyst.Options{}); !errors.Is(err, recovery.ErrInvalid) {
			t.Errorf("%s: %v with %+v, want ErrInvalid", name, err, rep)
		}
	}
}

// What a caller hands in as a number of a node is held against the graph.
func TestNodesOutOfRange(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	job := testkit.PaperJob()
	m, p := testkit.Planned(t, s, job)
	n := m.Graph.Order()
	for _, node := range []int{n, -1} {
		strange := *p.Plan
		strange.Sensors = slices.Clone(p.Sensors)
		strange.Sensors[0].Node = node
		if _, _, ok := m.WorstReadings(&strange); ok {
			t.Errorf("readings of a plan with a sensor at node %d", node)
		}
	}
	if got := run.Spent(7).String(); got == "" {
		t.Error("an unknown Spent has no name")
	}
}

// TestBadSourcesBeforeTheSearch: sources that no release can be made of are refused before τ
// is chosen and a plan is made, and the message names neither a node nor a value.
func TestBadSourcesBeforeTheSearch(t *testing.T) {
	s, _ := testkit.Graph(t, "id,hot,cold\nann,1.5,\nbob,0,\ncyd,0,\n", "source,target\nann,bob\nbob,cyd\n")
	for property, want := range map[string]error{"hot": run.ErrBadSignal, "cold": run.ErrMissingSignal} {
		searched, planned := false, false
		job := graphcloak.Job{
			Signal:  graphcloak.Signal{SourceProperty: property},
			Planned: func(*graphcloak.Plan) error { planned = true; return nil },
		}
		job.Plan.Epsilon, job.Plan.Delta = 1, 0.01
		_, err := graphcloak.Run(t.Context(), s, job,
			graphcloak.LoadOptions{Progress: func(stage string, _, _ int64) { searched = searched || stage == "choose tau" }})
		if !errors.Is(err, want) || searched || planned {
			t.Errorf("%s: %v; searched %v, planned %v", property, err, searched, planned)
		}
		if err != nil && (strings.Contains(err.Error(), "ann") || strings.Contains(err.Error(), "1.5")) {
			t.Errorf("%s: the message says more than how many: %v", property, err)
		}
	}
}

// A source of five methods is spent from a ledger that the job names, and takes no
// results; one that names no ledger is refused.
func TestBareSource(t *testing.T) {
	g := must.Get(graph.Path(12))(t)
	s := memory.FromGraph(g)
	must.Do(t, s.Set("source", map[graph.ID]any{g.ID(3): 1}))
	bare := struct{ graphcloak.Source }{s}
	job := testkit.PaperJob()
	job.Public, job.Write = graphcloak.Public{}, graphcloak.WriteOptions{}
	do := func() error {
		_, err := graphcloak.Run(t.Context(), bare, job, graphcloak.LoadOptions{})
		return err
	}
	if err := do(); !errors.Is(err, run.ErrNoLedger) {
		t.Errorf("without a ledger: %v, want ErrNoLedger", err)
	}
	var l privacy.MemoryLedger
	job.Ledger = &l
	job.Write.Enabled = true
	if err := do(); !errors.Is(err, run.ErrNoSink) {
		t.Errorf("without a sink: %v, want ErrNoSink", err)
	}
	unspent(t, &l)
	other := memory.FromGraph(g)
	job.Write.To = other
	if err := do(); err == nil {
		t.Error("a sink took results on a graph of another store")
	}
	job.Write.Enabled = false
	must.Do(t, do())
	if a, err := privacy.VerifyLedger(t.Context(), &l, run.Scope(job.Signal)); err != nil || a.Releases != 1 {
		t.Errorf("the ledger holds %d releases, %v, want 1", a.Releases, err)
	}
	unspent(t, s.Ledger())
}

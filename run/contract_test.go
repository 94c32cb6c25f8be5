// SPDX-License-Identifier: Apache-2.0

package run_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
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
	m := must.Get(graphcloak.Load(t.Context(), s, graphcloak.Settings{Tau: 1}, graphcloak.LoadOptions{}))(t)
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
	for _, nodes := range [][]int{{n}, {-1, 0}, {2, 2}, {}} {
		if _, err := m.WithSensors(nodes); !errors.Is(err, privacy.ErrInput) {
			t.Errorf("sensors at %v: %v, want ErrInput", nodes, err)
		}
	}
	other, err := m.WithSensors([]int{n - 1, 0})
	if err != nil || !slices.Equal(other.Sensors, []int{0, n - 1}) || len(m.Sensors) != n {
		t.Errorf("sensors at the ends: %v, %v", other.Sensors, err)
	}
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

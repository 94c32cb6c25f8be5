// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/report"
)

func ring(t *testing.T, n int) *graph.Graph {
	t.Helper()
	return must.Get(graph.Cycle(n))(t)
}

// TestKeptValues: what the history keeps of the nodes comes back bit by bit on the same graph, and nothing else is taken for it.
func TestKeptValues(t *testing.T) {
	g := ring(t, 5)
	nodes := report.Nodes{
		Graph: g, PrivateHeat: []float64{7, 8}, NodeValues: report.NodeValues{
			Source: []float64{0, 0.1, 0, 0, 1e-17}, Probability: []float64{0.2, 0.3, 0.1, 0.2, 0.2}, Community: []int{0, 0, 1, 1, 1},
			Sensors: []int{1, 4}, Sigma: []float64{0.5, 0.25}, Answering: []int{0, 2}, Yes: []bool{true, false},
		},
	}
	var rep report.Report
	rep.SetNodes(nodes)
	kept := rep.Keep()
	if rep.NodeValues != nil {
		t.Error("the report of the run itself carries the values of its nodes")
	}
	data := must.Get(json.Marshal(kept))(t)
	read := func() *report.Report {
		r := new(report.Report)
		must.Do(t, json.Unmarshal(data, r))
		return r
	}
	r := read()
	must.Do(t, r.Restore(g))
	if n := r.Nodes(); n.Graph != g || !slices.Equal(n.Source, nodes.Source) || !slices.Equal(n.Probability, nodes.Probability) ||
		!slices.Equal(n.Community, nodes.Community) || !slices.Equal(n.Sensors, nodes.Sensors) || !slices.Equal(n.Sigma, nodes.Sigma) ||
		!slices.Equal(n.Answering, nodes.Answering) || !slices.Equal(n.Yes, nodes.Yes) {
		t.Errorf("came back as %+v", n)
	}
	for name, spoil := range map[string]func(*report.NodeValues){
		"a node too few":          func(v *report.NodeValues) { v.Source = v.Source[1:] },
		"no community of a node":  func(v *report.NodeValues) { v.Community = v.Community[1:] },
		"a probability above one": func(v *report.NodeValues) { v.Probability[2] = 1.5 },
		"mass that is no number":  func(v *report.NodeValues) { v.Source[1] = math.NaN() },
		"mass without end":        func(v *report.NodeValues) { v.Source[1] = math.Inf(1) },
		"a sensor without noise":  func(v *report.NodeValues) { v.Sigma[1] = 0 },
		"a sensor too many":       func(v *report.NodeValues) { v.Sensors = append(v.Sensors, 4) },
		"a sensor twice":          func(v *report.NodeValues) { v.Sensors[0] = 4 },
		"a sensor below zero":     func(v *report.NodeValues) { v.Sensors[0] = -1 },
		"one that is no node":     func(v *report.NodeValues) { v.Sensors[1] = 5 },
		"an answer too few":       func(v *report.NodeValues) { v.Yes = v.Yes[1:] },
		"a person twice":          func(v *report.NodeValues) { v.Answering[1] = 0 },
		"a person that is none":   func(v *report.NodeValues) { v.Answering[1] = 5 },
		"a negative one":          func(v *report.NodeValues) { v.Probability[2] = -0.1 },
		"a community below zero":  func(v *report.NodeValues) { v.Community[0] = -1 },
		"one beyond the nodes":    func(v *report.NodeValues) { v.Community[0] = 5 },
	} {
		r := read()
		spoil(r.NodeValues)
		if err := r.Restore(g); !errors.Is(err, report.ErrValues) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := new(report.Report).Restore(g); !errors.Is(err, report.ErrValues) {
		t.Errorf("a report that keeps none: %v", err)
	}
	large := report.Nodes{Graph: ring(t, 4001)}
	large.Source, large.Probability, large.Community = make([]float64, 4001), make([]float64, 4001), make([]int, 4001)
	rep.SetNodes(large)
	if rep.Keep().NodeValues != nil {
		t.Error("the values of 4,001 nodes are kept")
	}
}

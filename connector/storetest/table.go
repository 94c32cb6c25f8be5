// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

// prefix of the properties that the tests write.
const prefix = "st"

// Table returns what a run with these sensors writes (none: every node is one).
// The private values are those of a release, new at every call.
func Table(t testing.TB, g *graph.Graph, runID, prefix string, sensors ...int) report.Table {
	t.Helper()
	return TableOf(t, g, Release(t, g, runID, sensors...), prefix)
}

// Release returns a release of zero readings by these sensors (none: every node
// is one).
func Release(t testing.TB, g *graph.Graph, id string, sensors ...int) *privacy.Release {
	t.Helper()
	if sensors == nil {
		for i := range g.Order() {
			sensors = append(sensors, i)
		}
	}
	spec := privacy.Spec{
		Public: privacy.Public{
			GraphDigest: g.Digest(), NodeCount: g.Order(), RelationshipCount: g.Size(), ComponentCount: 1, Tau: 1,
			Laplacian: "combinatorial", Metric: "hops", Alpha: 1,
		},
		Budget: privacy.Budget{Epsilon: 1, Delta: 1e-5}, Sensitivity: privacy.Sensitivity{Lower: 0.5, Upper: 0.5},
	}
	for _, i := range sensors {
		spec.Sensors = append(spec.Sensors, privacy.Sensor{Node: i, ID: g.ID(i)})
	}
	plan, err := privacy.NewPlan(spec)
	if err != nil {
		t.Fatal(err)
	}
	release, err := plan.Perturb(make([]float64, len(sensors)), id, nil)
	if err != nil {
		t.Fatal(err)
	}
	return release
}

// TableOf returns what the run of a release writes.
func TableOf(t testing.TB, g *graph.Graph, release *privacy.Release, prefix string) report.Table {
	t.Helper()
	r := &report.Report{RunID: release.ID(), ReleaseID: release.ID(), NodeCount: g.Order()}
	nodes := report.Nodes{
		Graph: g, PrivateHeat: release.Values(), NodeValues: report.NodeValues{
			Source: make([]float64, g.Order()), Probability: make([]float64, g.Order()), Community: make([]int, g.Order()),
			Sensors: release.Nodes(), Sigma: release.Sigmas(),
		},
	}
	for i := range g.Order() {
		nodes.Source[i], nodes.Probability[i], nodes.Community[i] = float64(i%7)/7, 1/float64(i+1), i%3
	}
	r.SetNodes(nodes)
	table, err := report.NewTable(release, release.Nodes(), r, prefix)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

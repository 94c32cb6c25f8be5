// SPDX-License-Identifier: Apache-2.0

package report

import (
	"errors"
	"math"

	"github.com/graphcloak/graphcloak/graph"
)

// ErrValues says that what a report keeps of its nodes is not of the graph, or no result of a run.
var ErrValues = errors.New("report: the values that were kept are not of this graph")

// maxKept is the number of nodes up to which the values are kept: 210 kB a run with a sensor on each node. Maps of larger graphs
// draw communities.
const maxKept = 4000

// Keep returns the report with the values of its nodes, or as it is where it has none or more than 4,000.
func (r *Report) Keep() *Report {
	n := r.nodes
	if n.Graph == nil || n.Graph.Order() > maxKept || len(n.Probability) != n.Graph.Order() {
		return r
	}
	kept := *r
	kept.NodeValues = &n.NodeValues
	return &kept
}

// Restore attaches the values that were kept, which the private values are not among. It returns [ErrValues] where there are none,
// or they cannot be a run's on g.
func (r *Report) Restore(g *graph.Graph) error {
	v := r.NodeValues
	if v == nil || len(v.Source) != g.Order() || len(v.Probability) != g.Order() || len(v.Community) != g.Order() {
		return ErrValues
	}
	for i, p := range v.Probability {
		if f, c := v.Source[i], v.Community[i]; !(p >= 0 && p <= 1) || c < 0 || c >= g.Order() || math.IsNaN(f) || math.IsInf(f, 0) {
			return ErrValues
		}
	}
	if len(v.Sigma) != len(v.Sensors) {
		return ErrValues
	}
	if !ascending(v.Answering, g.Order()) || len(v.Yes) != len(v.Answering) || !ascending(v.Sensors, g.Order()) {
		return ErrValues
	}
	for _, s := range v.Sigma {
		if !(s > 0 && s <= math.MaxFloat64) {
			return ErrValues
		}
	}
	r.SetNodes(Nodes{Graph: g, NodeValues: *v})
	return nil
}

// ascending reports whether nodes of a graph of this order are listed once each, in order.
func ascending(nodes []int, order int) bool {
	last := -1
	for _, v := range nodes {
		if v <= last || v >= order {
			return false
		}
		last = v
	}
	return true
}

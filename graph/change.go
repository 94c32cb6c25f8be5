// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"errors"
	"fmt"
	"math"
)

// Change is what one relationship is in another graph with the same nodes.
type Change struct {
	Source ID      `json:"source"`
	Target ID      `json:"target"`
	Weight float64 `json:"weight"` // 0: it is not there
}

// ErrChange says that a change is none: it takes away what is not there, joins a node to itself, or
// speaks of a relationship that another change spoke of.
var ErrChange = errors.New("graph: no such change")

// Changed returns the graph with relationships that have other weights, that are absent, or that are
// there in addition, of length 1. It returns [ErrUnknownNode], [ErrBadWeight] for what is negative
// or not finite, and [ErrChange], also for a relationship that is given twice instead of [ErrParallel].
func (g *Graph) Changed(changes []Change) (*Graph, error) {
	weights := make(map[[2]int]float64, len(changes))
	for _, c := range changes {
		at, err := g.place(c)
		if err != nil {
			return nil, err
		}
		if _, twice := weights[at]; twice {
			return nil, fmt.Errorf("%w: %q–%q is given twice", ErrChange, clip(c.Source), clip(c.Target))
		}
		weights[at] = c.Weight
	}
	b := Builder{Aggregation: None, ids: IDs{list: g.ids}}
	for e := range g.Edges() {
		at := [2]int{e.U, e.V}
		weight, changed := weights[at]
		if delete(weights, at); !changed {
			weight = e.Weight
		}
		if weight > 0 {
			b.add(e.U, e.V, weight, e.Length)
		}
	}
	for at, weight := range weights { // the builder sorts them
		b.add(at[0], at[1], weight, 1)
	}
	return b.Graph()
}

// place returns the nodes of a change in ascending order.
func (g *Graph) place(c Change) (at [2]int, err error) {
	u, knownU := g.Index(c.Source)
	v, knownV := g.Index(c.Target)
	switch {
	case !knownU:
		return at, fmt.Errorf("%w: %q", ErrUnknownNode, clip(c.Source))
	case !knownV:
		return at, fmt.Errorf("%w: %q", ErrUnknownNode, clip(c.Target))
	case u == v:
		return at, fmt.Errorf("%w: %q–%q joins a node to itself", ErrChange, clip(c.Source), clip(c.Target))
	case !(c.Weight >= 0 && c.Weight <= math.MaxFloat64):
		return at, fmt.Errorf("%w: %q–%q has %v, want a finite number ≥ 0", ErrBadWeight, clip(c.Source), clip(c.Target), c.Weight)
	}
	at = [2]int{min(u, v), max(u, v)}
	if _, there := g.Edge(u, v); !there && c.Weight == 0 {
		return at, fmt.Errorf("%w: %q–%q is to be absent, and the graph has no such relationship", ErrChange, clip(c.Source),
			clip(c.Target))
	}
	return at, nil
}

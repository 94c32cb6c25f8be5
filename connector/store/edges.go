// SPDX-License-Identifier: Apache-2.0

package store

import "github.com/graphcloak/graphcloak/graph"

// Edges takes relationships as they are read and gives the good ones to the
// builder. The other fields start at zero.
type Edges struct {
	Selection graph.Selection
	Builder   *graph.Builder

	bad Offenders
}

// Add connects the handles u and v, named a and b, with the values of the weight
// and the length property; nil is a property that is missing or not asked for.
func (e *Edges) Add(u, v int, a, b graph.ID, weight, length any) error {
	w, l := 1.0, 1.0
	var wrong string
	if property := e.Selection.RelationshipWeightProperty; property != "" {
		if weight == nil && e.Selection.DefaultWeight != 0 {
			weight = e.Selection.DefaultWeight
		}
		if w, wrong = Positive(weight); wrong != "" {
			e.bad.Add("%q–%q: %s %s", a, b, property, wrong)
			return nil
		}
	}
	if property := e.Selection.LengthProperty; property != "" {
		if l, wrong = Positive(length); wrong != "" {
			e.bad.Add("%q–%q: %s %s", a, b, property, wrong)
			return nil
		}
	}
	return e.Builder.Connect(u, v, w, l)
}

// Finish settles the relationships whose weight or length is bad: an [ErrInput]
// that names the first, or, where the selection leaves them out, a notice with
// their number.
func (e *Edges) Finish(notice func(string)) error {
	const what = "relationships have a bad weight or length"
	if !e.Selection.DropBadWeight {
		return e.bad.Err(what, "mend them, select fewer relationships with --relationship-types, or leave them out with --on-bad-weight drop")
	}
	if e.bad.Count() > 0 {
		notice("left out " + e.bad.list(what))
	}
	return nil
}

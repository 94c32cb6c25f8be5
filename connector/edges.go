// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"errors"
	"fmt"

	"github.com/graphcloak/graphcloak/graph"
)

// Edges takes relationships as they are read and gives the good ones to the
// builder. The other fields start at zero.
type Edges struct {
	Selection graph.Selection
	Builder   *graph.Builder

	bad Offenders
}

// Add connects the handles u and v with the values of the weight
// and the length property; nil is a property that is missing or not asked for. What a
// property cannot be is counted among the offenders; the errors are those of
// [graph.Builder.Connect].
func (e *Edges) Add(u, v int, weight, length any) error {
	w, l, wrong := e.Values(weight, length)
	if wrong != "" {
		e.Refuse(u, v, wrong)
		return nil
	}
	return e.Builder.Connect(u, v, w, l)
}

// Values reads the values of a relationship; wrong says which is bad, and how.
func (e *Edges) Values(weight, length any) (w, l float64, wrong string) {
	w, l = 1, 1
	if property := e.Selection.RelationshipWeightProperty; property != "" {
		if w, wrong = Positive(weight); wrong != "" {
			return 0, 0, property + " " + wrong
		}
	}
	if property := e.Selection.LengthProperty; property != "" {
		if l, wrong = Positive(length); wrong != "" {
			return 0, 0, property + " " + wrong
		}
	}
	return w, l, ""
}

// Refuse notes that the relationship between the handles u and v has a bad value.
func (e *Edges) Refuse(u, v int, wrong string) {
	e.bad.Add("%q–%q: %s", e.Builder.ID(u), e.Builder.ID(v), wrong)
}

// Finish returns an [ErrInput] that counts the relationships whose weight or length is bad and names the first.
func (e *Edges) Finish() error {
	return e.bad.Err("relationships have a bad weight or length", badRelationships)
}

// Build builds the graph. What makes none is an [ErrInput]; a lack of memory is an error of its own.
func Build(b *graph.Builder) (*graph.Graph, error) {
	g, err := b.Graph()
	if errors.Is(err, graph.ErrParallel) || errors.Is(err, graph.ErrBadWeight) {
		return nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	return g, err
}

const badRelationships = "fix them in the store or the CSV file, select fewer by --relationship-types, or read them by " +
	"--relationship-query, which can leave them out or put coalesce(r.weight, 1) in their place"

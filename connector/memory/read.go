// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
)

// Graph returns the graph, with the weights and lengths that a selection names, and without isolated nodes where it drops
// them. It selects nothing else: a label, a type, a key or a query is a [connector.ErrInput].
func (s *Store) Graph(ctx context.Context, sel graph.Selection) (*graph.Graph, error) {
	if len(sel.NodeLabels)+len(sel.RelationshipTypes) > 0 || sel.NodeKey+sel.NodeQuery+sel.RelationshipQuery != "" {
		return nil, fmt.Errorf("%w: a graph in memory is taken whole; build the part that is wanted", connector.ErrInput)
	}
	for name, has := range map[string]string{sel.RelationshipWeightProperty: WeightProperty, sel.LengthProperty: LengthProperty} {
		if name != "" && name != has {
			return nil, connector.NotFound("property", name, []string{has})
		}
	}
	b := &graph.Builder{Aggregation: sel.Aggregation, DropIsolated: sel.Isolated == graph.DropIsolated}
	for i := range s.built.Order() {
		if _, err := b.AddNode(s.built.ID(i)); err != nil {
			return nil, err
		}
	}
	for e := range s.built.Edges() {
		if sel.RelationshipWeightProperty == "" {
			e.Weight = 1
		}
		if sel.LengthProperty == "" {
			e.Length = 1
		}
		if err := b.Connect(e.U, e.V, e.Weight, e.Length); err != nil {
			return nil, err
		}
	}
	g, err := connector.Build(b)
	if err != nil {
		return nil, err
	}
	rows := make([]int, g.Order())
	for i := range rows {
		rows[i], _ = s.built.Index(g.ID(i))
	}
	s.rows.Put(g, rows)
	return g, ctx.Err()
}

// each hands over a property of every node of the graph, nil where a node has none.
func (s *Store) each(g *graph.Graph, property string, take func(i int, value any)) error {
	rows, err := s.rows.Get(g)
	if err != nil {
		return err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	known := slices.DeleteFunc(slices.Sorted(maps.Keys(s.properties)), func(name string) bool {
		return !slices.ContainsFunc(s.properties[name], func(v any) bool { return v != nil })
	})
	if !slices.Contains(known, property) {
		return connector.NotFound("property", property, known)
	}
	for i, row := range rows {
		take(i, s.properties[property][row])
	}
	return nil
}

// Signal reads a numeric property of every node, NaN where a node has none. What is
// no finite number is a [connector.ErrInput] with their number.
func (s *Store) Signal(ctx context.Context, g *graph.Graph, property string) ([]float64, error) {
	return s.Series(ctx, g, property, 1)
}

// Series is [Store.Signal] for a property that lists so many numbers: those of node i are from i·times on.
func (s *Store) Series(_ context.Context, g *graph.Graph, property string, times int) ([]float64, error) {
	r := connector.NewReadings(g, property, times)
	if err := s.each(g, property, r.Add); err != nil {
		return nil, err
	}
	return r.Result()
}

// Labels reads a property that names a category, "" where a node has none.
func (s *Store) Labels(_ context.Context, g *graph.Graph, property string) ([]string, error) {
	c := connector.NewCategories(g, property)
	if err := s.each(g, property, c.Add); err != nil {
		return nil, err
	}
	return c.Result()
}

// Sensors returns, in ascending order, the nodes that carry a sensor: those with a
// property that is true or a number other than 0.
func (s *Store) Sensors(_ context.Context, g *graph.Graph, sel graph.SensorSelection) ([]int, error) {
	return connector.Sensors(g, sel, func(property string, take func(i int, v any)) error { return s.each(g, property, take) })
}

// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
)

// Graph reads the selected part. NodeKey "" is the node's id; a query is a
// [connector.ErrInput], for a program has no query language.
func (s *Store) Graph(ctx context.Context, sel graph.Selection) (*graph.Graph, error) {
	if sel.NodeQuery != "" || sel.RelationshipQuery != "" {
		return nil, fmt.Errorf("%w: a graph in memory takes no Cypher; select by labels and types", connector.ErrInput)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.knows(sel); err != nil {
		return nil, err
	}
	b := &graph.Builder{Aggregation: sel.Aggregation, DropIsolated: sel.Isolated == graph.DropIsolated}
	chosen, err := s.choose(sel, b)
	if err != nil {
		return nil, err
	}
	if err := s.connect(sel, chosen, b); err != nil {
		return nil, err
	}
	g, err := b.Graph()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", connector.ErrInput, err)
	}
	rows := make([]int, g.Order())
	for _, n := range chosen {
		if i, ok := g.Index(n.key); ok {
			rows[i] = n.row
		}
	}
	s.rows.Put(g, rows)
	return g, nil
}

// knows refuses a label, a type or a property that nothing has.
func (s *Store) knows(sel graph.Selection) error {
	for _, l := range sel.NodeLabels {
		if err := s.knowsLabel(l); err != nil {
			return err
		}
	}
	if err := s.knowsProperty(sel.NodeKey); err != nil {
		return err
	}
	types, properties := map[string]bool{}, map[string]bool{}
	for _, r := range s.relationships {
		types[r.Type] = r.Type != ""
		for name := range r.Properties {
			properties[name] = true
		}
	}
	for _, t := range sel.RelationshipTypes {
		if err := known("relationship type", t, types); err != nil {
			return err
		}
	}
	for _, p := range []string{sel.RelationshipWeightProperty, sel.LengthProperty} {
		if err := known("property", p, properties); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) knowsLabel(label string) error {
	labels := map[string]bool{}
	for _, n := range s.nodes {
		for _, l := range n.Labels {
			labels[l] = true
		}
	}
	return known("node label", label, labels)
}

func (s *Store) knowsProperty(property string) error {
	properties := map[string]bool{}
	for _, n := range s.nodes {
		for name := range n.Properties {
			properties[name] = true
		}
	}
	return known("property", property, properties)
}

// known refuses a name that is not among those that there are; "" asks for none.
func known(kind, name string, have map[string]bool) error {
	if name == "" || have[name] {
		return nil
	}
	var names []string
	for h, is := range have {
		if is {
			names = append(names, h)
		}
	}
	slices.Sort(names)
	return connector.NotFound(kind, name, names)
}

// chosen is a node of the selection.
type chosen struct {
	row, handle int
	key         graph.ID
}

// choose adds the selected nodes, and returns them by id.
func (s *Store) choose(sel graph.Selection, b *graph.Builder) (map[graph.ID]chosen, error) {
	nodes := make(map[graph.ID]chosen)
	var bad, twice connector.Offenders
	for row, n := range s.nodes {
		if !overlap(sel.NodeLabels, n.Labels) {
			continue
		}
		c := chosen{row: row, key: n.ID}
		if sel.NodeKey != "" {
			var wrong string
			if c.key, wrong = connector.Key(n.Properties[sel.NodeKey]); wrong != "" {
				bad.Add("node %q: %s %s", n.ID, sel.NodeKey, wrong)
				continue
			}
		}
		var err error
		if c.handle, err = b.AddNode(c.key); err != nil {
			twice.Add("%s %q", sel.NodeKey, c.key)
			continue
		}
		nodes[n.ID] = c
	}
	if err := bad.Err("nodes have no usable key", "fill in the property, or choose another node key"); err != nil {
		return nil, err
	}
	return nodes, twice.Err("nodes share their key", "make the property unique, or choose another node key")
}

// overlap reports whether nothing is wanted, or one of the names is.
func overlap(wanted, names []string) bool {
	return len(wanted) == 0 || slices.ContainsFunc(names, func(n string) bool { return slices.Contains(wanted, n) })
}

// connect adds the relationships between the chosen nodes.
func (s *Store) connect(sel graph.Selection, nodes map[graph.ID]chosen, b *graph.Builder) error {
	e := connector.Edges{Selection: sel, Builder: b}
	for _, r := range s.relationships {
		u, okU := nodes[r.Source]
		v, okV := nodes[r.Target]
		if !okU || !okV || !overlap(sel.RelationshipTypes, []string{r.Type}) {
			continue
		}
		err := e.Add(u.handle, v.handle, u.key, v.key, r.Properties[sel.RelationshipWeightProperty], r.Properties[sel.LengthProperty])
		if err != nil {
			return err
		}
	}
	return e.Finish()
}

// each hands over a property of every node of the graph, nil where a node has none.
func (s *Store) each(g *graph.Graph, property string, take func(i int, value any)) error {
	rows, err := s.rows.Get(g)
	if err != nil {
		return err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.knowsProperty(property); err != nil {
		return err
	}
	for i, row := range rows {
		take(i, s.nodes[row].Properties[property])
	}
	return nil
}

// Signal reads a numeric property of every node, NaN where a node has none. What is
// no finite number is a [connector.ErrInput] with their number.
func (s *Store) Signal(_ context.Context, g *graph.Graph, property string) ([]float64, error) {
	r := connector.NewReadings(g, property)
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
	keep := slices.Repeat([]bool{true}, g.Order())
	var bad connector.Offenders
	if sel.Property != "" {
		err := s.each(g, sel.Property, func(i int, value any) {
			marked, wrong := connector.Flag(value)
			if wrong != "" {
				bad.Add("node %q: %s %s", g.ID(i), sel.Property, wrong)
			}
			keep[i] = marked
		})
		if err != nil {
			return nil, err
		}
	}
	if err := bad.Err("nodes have no usable sensor mark", "want true, false or a number"); err != nil {
		return nil, err
	}
	return connector.Sensors(keep, sel)
}

// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
)

// Graph reads the selected part. NodeKey "" is the column id; a query is an ErrInput, for
// a folder has no query language. It returns the errors of [CSV.Columns], and
// [graph.ErrDuplicateNode], [graph.ErrParallel], [graph.ErrTooLarge] and those of
// [graph.Builder.Connect] for what makes no graph; of a snapshot those of package snapshot and, where its nodes are others,
// [connector.ErrConflict].
func (c *CSV) Graph(ctx context.Context, sel graph.Selection) (*graph.Graph, error) {
	if sel.NodeQuery != "" || sel.RelationshipQuery != "" {
		return nil, fmt.Errorf("%w: a folder takes no Cypher; select by labels and types", connector.ErrInput)
	}
	if c.snapshot != "" {
		return c.mapped(ctx, sel)
	}
	r := reading{key: keyColumn(sel), builder: &graph.Builder{
		Aggregation: sel.Aggregation, DropIsolated: sel.Isolated == graph.DropIsolated, Memory: c.memory,
	}}
	if err := c.eachNode(ctx, sel, r.add); err != nil {
		return nil, err
	}
	if err := c.relationships(ctx, sel, &r); err != nil {
		return nil, err
	}
	keys := r.keys()
	g, err := connector.Build(r.builder)
	if err != nil {
		return nil, err
	}
	c.ids.Put(g, r.numbered(g, keys))
	return g, nil
}

// reading is the state of a reader of nodes and relationships.
type reading struct {
	builder *graph.Builder
	key     string  // the column of keys
	others  numbers // of the ids that are no keys in the builder
}

// handle returns the handle of the node with this id, or unselected; and whether nodes.csv has it.
func (r *reading) handle(id string) (handle int, known bool) {
	if r.key == idColumn {
		if h, ok := r.builder.Handle(graph.ID(id)); ok {
			return h, true
		}
	}
	k, known := r.others.ids.Index(graph.ID(id))
	if !known {
		return unselected, false
	}
	return int(r.others.nodes[k]), true
}

// add takes a row of nodes.csv, see [CSV.eachNode].
func (r *reading) add(id, key string, chosen bool) (twice string) {
	if _, known := r.handle(id); known {
		return idColumn
	}
	handle := unselected
	if chosen {
		var err error
		if handle, err = r.builder.AddNode(graph.ID(key)); err != nil {
			return r.key
		}
	}
	if !chosen || r.key != idColumn {
		r.others.add(id, handle)
	}
	return ""
}

// keys are the keys of the handles, where they are another column than the ids.
func (r *reading) keys() (keys []graph.ID) {
	if r.key == idColumn {
		return nil
	}
	for _, h := range r.others.nodes {
		if h != unselected {
			keys = append(keys, r.builder.ID(int(h))) // handles ascend
		}
	}
	return keys
}

// numbered returns the numbers in the graph of all ids, nil where the graph finds them itself.
func (r *reading) numbered(g *graph.Graph, keys []graph.ID) *numbers {
	if r.key == idColumn {
		return nil
	}
	for k, h := range r.others.nodes {
		if h == unselected {
			continue
		}
		r.others.nodes[k] = unselected
		if i, ok := g.Index(keys[h]); ok {
			r.others.nodes[k] = int32(i)
		}
	}
	return &r.others
}

// relationships connects the selected nodes.
func (c *CSV) relationships(ctx context.Context, sel graph.Selection, r *reading) error {
	t, err := c.open(relationshipsFile, sourceColumn, targetColumn, sel.RelationshipWeightProperty, sel.LengthProperty)
	if err != nil {
		return err
	}
	c.noteWeight(t, sel)
	e := connector.Edges{Selection: sel, Builder: r.builder}
	source, target, types := t.column(sourceColumn), t.column(targetColumn), -1
	if len(sel.RelationshipTypes) > 0 {
		types = t.column(typeColumn)
	}
	weight, length := t.column(sel.RelationshipWeightProperty), t.column(sel.LengthProperty)
	t.only = []int{source, target, types, weight, length}
	seen := make(map[string]bool)
	var strangers connector.Offenders
	var last string // source, which rows mostly share with the one before
	var u int
	var okU bool
	err = t.each(ctx, c.Progress, func(line int, fields []string) error {
		if from := fields[source]; from != last || !okU {
			u, okU = r.handle(from)
			last = from
		}
		v, okV := r.handle(fields[target])
		if !okU || !okV {
			strangers.Add("%s %d: %q–%q", t.place(), line, fields[source], fields[target])
			return nil
		}
		if !selected(fields, types, sel.RelationshipTypes, seen) || u == unselected || v == unselected {
			return nil
		}
		return e.Add(u, v, field(fields, weight), field(fields, length))
	})
	if err != nil {
		return err
	}
	if err := known("relationship type", sel.RelationshipTypes, seen); err != nil {
		return err
	}
	if err := strangers.Err("relationships have an end that is not in nodes.csv", "add the node or remove the "+t.place()); err != nil {
		return err
	}
	return e.Finish()
}

// property hands over a column of nodes.csv for every node of the graph; the text
// is valid during the call only.
func (c *CSV) property(ctx context.Context, g *graph.Graph, property string, take func(i int, text string)) error {
	ids, err := c.ids.Get(g)
	if err != nil {
		return err
	}
	t, err := c.open(nodesFile, idColumn, property)
	if err != nil {
		return err
	}
	id, column, seen := t.column(idColumn), t.column(property), 0
	err = t.each(ctx, nil, func(_ int, fields []string) error {
		if i, ok := ids.of(g, fields[id]); ok {
			take(i, fields[column])
			seen++
		}
		return nil
	})
	if err == nil && seen != g.Order() {
		err = fmt.Errorf("%w: nodes.csv changed since the graph was read; run again", connector.ErrConflict)
	}
	return err
}

// noteWeight notes a column that is named weight and not used.
func (c *CSV) noteWeight(t *table, sel graph.Selection) {
	k := slices.IndexFunc(t.header, func(name string) bool { return strings.EqualFold(name, "weight") })
	if k < 0 || c.generated || sel.RelationshipWeightProperty != "" || sel.LengthProperty == t.header[k] {
		return
	}
	hint := fmt.Sprintf(weightHint, t.header[k], t.name)
	c.unused.Store(&hint)
}

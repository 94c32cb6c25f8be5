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
	b := &graph.Builder{Aggregation: sel.Aggregation, DropIsolated: sel.Isolated == graph.DropIsolated}
	nodes, keys, err := c.readNodes(ctx, sel, b)
	if err != nil {
		return nil, err
	}
	if err := c.relationships(ctx, sel, nodes, keys, b); err != nil {
		return nil, err
	}
	g, err := b.Graph()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", connector.ErrInput, err)
	}
	c.ids.Put(g, numbered(g, sel, nodes, keys))
	return g, nil
}

// numbered makes the handles of nodes their numbers in the graph, where it does not find them itself.
func numbered(g *graph.Graph, sel graph.Selection, nodes numbers, keys []graph.ID) numbers {
	if keyColumn(sel) == idColumn {
		return nil
	}
	places := make([]int32, len(keys)) // in the graph, of the handles
	for h, key := range keys {         // in the order of the file: ids that are alike are found in the cache
		places[h] = unselected
		if i, ok := g.Index(key); ok {
			places[h] = int32(i)
		}
	}
	for id, h := range nodes {
		if h != unselected {
			nodes[id] = places[h]
		}
	}
	return nodes
}

// readNodes adds the selected nodes. The map has an entry for every id, its handle, and keys
// are the ids of the handles in the graph.
func (c *CSV) readNodes(ctx context.Context, sel graph.Selection, b *graph.Builder) (nodes numbers, keys []graph.ID, err error) {
	nodes = make(numbers)
	err = c.eachNode(ctx, sel, func(id, key string, chosen bool) (twice string) {
		if _, ok := nodes[id]; ok {
			return idColumn
		}
		own := strings.Clone(id)
		if !chosen {
			nodes[own] = unselected
			return ""
		}
		name := graph.ID(own)
		if key != id {
			name = graph.ID(strings.Clone(key))
		}
		handle, err := b.AddNode(name)
		nodes[own] = int32(handle)
		if err != nil {
			return keyColumn(sel)
		}
		keys = append(keys, name)
		return ""
	})
	return nodes, keys, err
}

// relationships connects the selected nodes.
func (c *CSV) relationships(ctx context.Context, sel graph.Selection, nodes numbers, keys []graph.ID, b *graph.Builder) error {
	t, err := c.open(relationshipsFile, sourceColumn, targetColumn, sel.RelationshipWeightProperty, sel.LengthProperty)
	if err != nil {
		return err
	}
	c.noteWeight(t, sel)
	e := connector.Edges{Selection: sel, Builder: b}
	source, target, types := t.column(sourceColumn), t.column(targetColumn), t.column(typeColumn)
	weight, length := t.column(sel.RelationshipWeightProperty), t.column(sel.LengthProperty)
	seen := make(map[string]bool)
	var strangers connector.Offenders
	var last string // source, which rows mostly share with the one before
	var u int32
	var okU bool
	err = t.each(ctx, c.Progress, func(line int, fields []string) error {
		if from := fields[source]; from != last || !okU {
			u, okU = nodes[from]
			last = from
		}
		v, okV := nodes[fields[target]]
		if !okU || !okV {
			strangers.Add("line %d: %q–%q", line, fields[source], fields[target])
			return nil
		}
		if !selected(fields, types, sel.RelationshipTypes, seen) || u == unselected || v == unselected {
			return nil
		}
		return e.Add(int(u), int(v), keys[u], keys[v], field(fields, weight), field(fields, length))
	})
	if err != nil {
		return err
	}
	if err := known("relationship type", sel.RelationshipTypes, seen); err != nil {
		return err
	}
	if err := strangers.Err("relationships have an end that is not in nodes.csv", "add the node or remove the line"); err != nil {
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
	hint := fmt.Sprintf(weightHint, t.header[k])
	c.unused.Store(&hint)
}

// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/graph/snapshot"
)

// Graph reads the selected part. NodeKey "" is the column id; a query is an ErrInput, for
// a folder has no query language. It returns the errors of [CSV.Columns], and
// [graph.ErrDuplicateNode], [graph.ErrParallel], [graph.ErrTooLarge] and those of
// [graph.Builder.Connect] for what makes no graph; of a snapshot those of [snapshot.Open] and, where its nodes are others,
// [connector.ErrConflict].
func (c *CSV) Graph(ctx context.Context, sel graph.Selection) (*graph.Graph, error) {
	if sel.NodeQuery != "" || sel.RelationshipQuery != "" {
		return nil, fmt.Errorf("%w: a folder takes no Cypher; select by labels and types", connector.ErrInput)
	}
	b := &graph.Builder{Aggregation: sel.Aggregation, DropIsolated: sel.Isolated == graph.DropIsolated}
	nodes, keys, err := c.readNodes(ctx, sel, b)
	if err != nil {
		return nil, err
	}
	if c.snapshot != "" {
		g, err := snapshot.Open(c.snapshot, sel)
		if err != nil {
			return nil, err
		}
		if c.keep(g, nodes, keys) != g.Order() || len(keys) != g.Order()+g.Dropped().Isolated {
			return nil, fmt.Errorf("%w: %s has other nodes than %s; make the snapshot again", connector.ErrConflict, c.snapshot, nodesFile)
		}
		return g, nil
	}
	if err := c.relationships(ctx, sel, nodes, keys, b); err != nil {
		return nil, err
	}
	g, err := b.Graph()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", connector.ErrInput, err)
	}
	c.keep(g, nodes, keys)
	return g, nil
}

// keep remembers the number of each node in the graph, and returns how many nodes the graph has of them.
func (c *CSV) keep(g *graph.Graph, nodes map[string]int32, keys []graph.ID) int {
	numbers := make([]int32, len(keys)) // in the graph, of the handles
	for h, key := range keys {          // in the order of the file: ids that are alike are found in the cache
		if i, ok := g.Index(key); ok {
			numbers[h] = int32(i)
		} else {
			numbers[h] = unselected
		}
	}
	for id, h := range nodes {
		if h != unselected {
			h = numbers[h]
		}
		if nodes[id] = h; h == unselected {
			delete(nodes, id)
		}
	}
	c.nodes.Put(g, nodes)
	return len(nodes)
}

// unselected stands for the handle of a node that is not part of the graph.
const unselected = -1

// readNodes adds the selected nodes. The map has an entry for every id, its handle, and keys
// are the ids of the handles in the graph.
func (c *CSV) readNodes(ctx context.Context, sel graph.Selection, b *graph.Builder) (nodes map[string]int32, keys []graph.ID, err error) {
	t, err := c.open(nodesFile, idColumn, sel.NodeKey)
	if err != nil {
		return nil, nil, err
	}
	id, labels := t.column(idColumn), t.column(labelsColumn)
	named := id
	if sel.NodeKey != "" {
		named = t.column(sel.NodeKey)
	}
	nodes = make(map[string]int32)
	seen := make(map[string]bool) // labels
	var bad, twice connector.Offenders
	err = t.each(ctx, c.Progress, func(line int, fields []string) error {
		if _, ok := nodes[fields[id]]; ok {
			twice.Add("id %q", fields[id])
			return nil
		}
		own := strings.Clone(fields[id])
		if !selected(fields, labels, sel.NodeLabels, seen) {
			nodes[own] = unselected
			return nil
		}
		key := graph.ID(own)
		if named != id {
			key = graph.ID(strings.Clone(fields[named]))
		}
		if key == "" {
			bad.Add("line %d: %s is missing", line, t.header[named])
			return nil
		}
		handle, err := b.AddNode(key)
		if err != nil {
			twice.Add("%s %q", t.header[named], key)
		} else {
			keys = append(keys, key)
		}
		nodes[own] = int32(handle)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if len(nodes) == 0 {
		return nil, nil, errNoRows
	}
	if err := known("node label", sel.NodeLabels, seen); err != nil {
		return nil, nil, err
	}
	if err := bad.Err("nodes have no usable key", "fill in the column, or choose another --node-key"); err != nil {
		return nil, nil, err
	}
	return nodes, keys, twice.Err("nodes share their key", "make the column unique, or choose another --node-key")
}

// selected looks for one of the wanted names in a column of names, and notes
// every name that it sees. No wanted name selects all.
func selected(fields []string, column int, wanted []string, seen map[string]bool) bool {
	if len(wanted) == 0 {
		return true
	}
	if column < 0 {
		return false
	}
	chosen := false
	for name := range strings.SplitSeq(fields[column], ";") {
		chosen = chosen || slices.Contains(wanted, name)
		if name != "" && !seen[name] {
			seen[strings.Clone(name)] = true
		}
	}
	return chosen
}

func known(kind string, wanted []string, seen map[string]bool) error {
	for _, w := range wanted {
		if !seen[w] {
			return connector.NotFound(kind, w, slices.Sorted(maps.Keys(seen)))
		}
	}
	return nil
}

// relationships connects the selected nodes.
func (c *CSV) relationships(ctx context.Context, sel graph.Selection, nodes map[string]int32, keys []graph.ID, b *graph.Builder) error {
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
	numbers, err := c.nodes.Get(g)
	if err != nil {
		return err
	}
	t, err := c.open(nodesFile, idColumn, property)
	if err != nil {
		return err
	}
	id, column, seen := t.column(idColumn), t.column(property), 0
	err = t.each(ctx, nil, func(_ int, fields []string) error {
		if i, ok := numbers[fields[id]]; ok {
			take(int(i), fields[column])
			seen++
		}
		return nil
	})
	if err == nil && seen != len(numbers) {
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

// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
)

// numbers find nodes by the column id.
type numbers struct {
	ids   graph.IDs
	nodes []int32 // of each id: the handle of its node, later its number in the graph, or unselected
}

// add notes an id and its node, and says whether it is new.
func (n *numbers) add(id string, node int) bool {
	_, added := n.ids.Add(graph.ID(id))
	if added {
		n.nodes = append(n.nodes, int32(node))
	}
	return added
}

// of returns the node of an id in the graph; nil numbers are those of ids that are the keys, which the graph finds.
func (n *numbers) of(g *graph.Graph, id string) (int, bool) {
	if n == nil {
		return g.Index(graph.ID(id))
	}
	k, ok := n.ids.Index(graph.ID(id))
	if !ok || n.nodes[k] == unselected {
		return 0, false
	}
	return int(n.nodes[k]), true
}

// unselected stands for the handle of a node that is not part of the graph.
const unselected = -1

// keyColumn is the column whose fields name the nodes of the graph.
func keyColumn(sel graph.Selection) string { return cmp.Or(sel.NodeKey, idColumn) }

// eachNode hands over the rows of nodes.csv, the keys of those that are selected, none of them empty. The strings are valid during
// the call only, which returns the column whose field was there before, "" where none was.
func (c *CSV) eachNode(ctx context.Context, sel graph.Selection, add func(id, key string, chosen bool) (twice string)) error {
	t, err := c.open(nodesFile, idColumn, sel.NodeKey)
	if err != nil {
		return err
	}
	id, labels, key := t.column(idColumn), t.column(labelsColumn), t.column(keyColumn(sel))
	seen := make(map[string]bool) // labels
	rows := 0
	var bad, twice connector.Offenders
	err = t.each(ctx, c.Progress, func(line int, fields []string) error {
		rows++
		chosen := selected(fields, labels, sel.NodeLabels, seen)
		if chosen && fields[key] == "" {
			bad.Add("line %d: %s is missing", line, t.header[key])
		} else if column := add(fields[id], fields[key], chosen); column != "" {
			twice.Add("%s %q", column, fields[t.column(column)])
		}
		return nil
	})
	if err != nil {
		return err
	}
	if rows == 0 {
		return errNoRows
	}
	if err := known("node label", sel.NodeLabels, seen); err != nil {
		return err
	}
	if err := bad.Err("nodes have no usable key", "fill in the column, or choose another --node-key"); err != nil {
		return err
	}
	return twice.Err("nodes share their key", "make the column unique, or choose another --node-key")
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

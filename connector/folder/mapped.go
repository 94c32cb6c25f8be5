// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"context"
	"fmt"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/graph/snapshot"
)

// mapped returns the graph of the snapshot, whose nodes are those of nodes.csv.
func (c *CSV) mapped(ctx context.Context, sel graph.Selection) (*graph.Graph, error) {
	g, err := snapshot.Open(c.snapshot, sel)
	if err != nil {
		return nil, err
	}
	m := matcher{graph: g, key: keyColumn(sel), met: make([]bool, g.Order())}
	if m.key != idColumn {
		m.ids = &numbers{}
	}
	if err := c.eachNode(ctx, sel, m.add); err != nil {
		return nil, err
	}
	if m.found != g.Order() || m.chosen != g.Order()+g.Dropped().Isolated {
		return nil, fmt.Errorf("%w: %s has other nodes than %s; make the snapshot again", connector.ErrConflict, c.snapshot, nodesFile)
	}
	c.ids.Put(g, m.ids)
	return g, nil
}

// matcher looks rows of nodes.csv up in a graph. It holds no id that the graph holds, unless keys are of another column.
type matcher struct {
	graph         *graph.Graph
	key           string    // the column of keys
	met           []bool    // nodes of the graph
	others        graph.IDs // keys that it lacks
	ids           *numbers  // nil where ids are the keys
	found, chosen int       // selected rows: in the graph, and all
}

func (m *matcher) add(id, key string, chosen bool) (twice string) {
	if m.ids != nil && !m.ids.add(id, unselected) {
		return idColumn
	}
	if m.ids != nil && !chosen {
		return ""
	}
	i, in := m.graph.Index(graph.ID(key))
	if in && m.met[i] {
		return m.key
	}
	if chosen {
		m.chosen++
	}
	if !in {
		if _, added := m.others.Add(graph.ID(key)); !added {
			return m.key
		}
		return ""
	}
	m.met[i] = true
	if chosen {
		m.found++
	}
	if m.ids != nil {
		m.ids.nodes[len(m.ids.nodes)-1] = int32(i)
	}
	return ""
}

// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"context"
	"fmt"
	"time"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/graph/snapshot"
	"github.com/graphcloak/graphcloak/report"
)

// Graph reads the selected part of the database as an undirected graph: nodes first, then
// the relationships that leave each of them for another selected node. A selected name
// that does not exist is a [connector.ErrNotFound] with a suggestion; bad weights, lengths
// and keys are a [connector.ErrInput] that names the first of them. A graph whose size changes while it is read is a
// [connector.ErrConflict]; other changes meanwhile are not seen. What makes no graph is
// [graph.ErrDuplicateNode], [graph.ErrParallel], [graph.ErrTooLarge] or an error of
// [graph.Builder.Connect]; what the server says, one of [New].
func (s *Store) Graph(ctx context.Context, sel graph.Selection) (*graph.Graph, error) {
	start := time.Now()
	if err := s.checkSelection(ctx, sel); err != nil {
		return nil, err
	}
	before, err := s.size(ctx, sel)
	if err != nil {
		return nil, err
	}
	if err := before.check(); err != nil && sel.NodeQuery == "" {
		return nil, err
	}
	nodes, err := s.readNodes(ctx, sel, before.nodes)
	if err != nil {
		return nil, fmt.Errorf("read nodes: %w", err)
	}
	var g *graph.Graph
	if s.options.Snapshot != "" {
		g, err = snapshot.Open(s.options.Snapshot, sel)
	} else {
		g, err = s.readGraph(ctx, sel, nodes)
	}
	if err != nil {
		return nil, err
	}
	after, err := s.size(ctx, sel)
	if err != nil {
		return nil, err
	}
	if after != before || sel.NodeQuery == "" && len(nodes.ids) != int(before.nodes) {
		return nil, fmt.Errorf("%w: the graph changed while it was read (%s and %s before, %d and %d after); run again",
			connector.ErrConflict, report.Count(before.nodes, "node"), report.Count(before.relationships, "relationship"), after.nodes,
			after.relationships)
	}
	read := len(nodes.ids)
	if nodes.keep(g); len(nodes.ids) != g.Order() || read != g.Order()+g.Dropped().Isolated {
		return nil, fmt.Errorf("%w: %s has other nodes than the database; make the snapshot again", connector.ErrConflict,
			s.options.Snapshot)
	}
	s.nodes.Put(g, nodes)
	s.options.Logger.InfoContext(ctx, "graph read", "nodeCount", g.Order(), "relationshipCount", g.Size(),
		"durationMillis", time.Since(start).Milliseconds())
	return g, nil
}

// readGraph reads the relationships between nodes.
func (s *Store) readGraph(ctx context.Context, sel graph.Selection, nodes *nodeSet) (*graph.Graph, error) {
	b := &graph.Builder{
		Aggregation: sel.Aggregation, DropIsolated: sel.Isolated == graph.DropIsolated, Memory: s.options.Memory,
	}
	for _, id := range nodes.ids {
		if _, err := b.AddNode(id); err != nil {
			return nil, fmt.Errorf("%w: %w", connector.ErrInput, err)
		}
	}
	if err := s.readRelationships(ctx, sel, nodes, b); err != nil {
		return nil, fmt.Errorf("read relationships: %w", err)
	}
	return connector.Build(b)
}

// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"context"
	"fmt"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/graphcloak/graphcloak/connector/store"
	"github.com/graphcloak/graphcloak/graph"
)

// edges also knows the nodes, and the ends of a query's relationships that are not
// among them.
type edges struct {
	store.Edges
	nodes     *nodeSet
	strangers store.Offenders
}

func (e *edges) add(u, v int, weight, length any) error {
	return e.Add(u, v, e.nodes.ids[u], e.nodes.ids[v], weight, length)
}

func (e *edges) finish(s *Store) error {
	if err := e.strangers.Err("relationships of the query have an end outside the selected nodes", "select those nodes too"); err != nil {
		return err
	}
	return e.Finish(s.notices.Add)
}

// readRelationships reads what leaves each selected node for another.
func (s *Store) readRelationships(ctx context.Context, sel graph.Selection, nodes *nodeSet, b *graph.Builder) error {
	e := &edges{Edges: store.Edges{Selection: sel, Builder: b}, nodes: nodes}
	handle := make(map[int64]int, len(nodes.internal))
	for k, id := range nodes.internal {
		handle[id] = k
	}
	if sel.RelationshipQuery != "" {
		if err := s.queryRelationships(ctx, e, handle); err != nil {
			return err
		}
		return e.finish(s)
	}
	// The subquery keeps the planner from scanning all relationships for every node,
	// which looks cheap to it while the database is small.
	cypher := "UNWIND range(0, size($ids) - 1) AS i MATCH (a) WHERE id(a) = $ids[i] " +
		"CALL (a) { MATCH (a)-[r" + quoteAll(sel.RelationshipTypes) + "]->(b) RETURN id(b) AS b, " +
		column(sel.RelationshipWeightProperty) + " AS weight, " + column(sel.LengthProperty) + " AS length } " +
		"RETURN collect(i), collect(b), collect(weight), collect(length)"
	err := inChunks(ctx, s, "relationships", len(nodes.internal), s.options.BatchSize, func(ctx context.Context, at span) (*neo4j.Record, error) {
		return s.readOne(ctx, "relationships", cypher, map[string]any{"ids": nodes.internal[at.lo:at.hi]})
	}, func(at span, r *neo4j.Record) error {
		sources, targets, weights, lengths := list(r, 0), list(r, 1), list(r, 2), list(r, 3)
		for k := range sources {
			i, _ := sources[k].(int64)
			id, _ := targets[k].(int64)
			if v, ok := handle[id]; ok {
				if err := e.add(at.lo+int(i), v, entry(weights, k), entry(lengths, k)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return e.finish(s)
}

// column reads a property of r; where none is asked for it is null, of which
// collect() makes the empty list.
func column(property string) string {
	if property == "" {
		return "null"
	}
	return "coalesce(r." + quote(property) + ", " + missing + ")"
}

func entry(column []any, k int) any {
	if len(column) == 0 {
		return nil
	}
	return value(column[k])
}

// queryRelationships reads the user's query row by row; its columns are source,
// target, and weight and length where those properties are asked for.
func (s *Store) queryRelationships(ctx context.Context, e *edges, handle map[int64]int) error {
	byElement := make(map[string]int, len(e.nodes.elements))
	for k, element := range e.nodes.elements {
		byElement[element] = k
	}
	find := func(r *neo4j.Record, column string) (int, bool, error) {
		v, ok := r.Get(column)
		if !ok {
			return 0, false, fmt.Errorf("%w: the relationship query returns the columns %v, want source, target, weight, length", store.ErrInput, r.Keys)
		}
		ref, err := reference(v)
		if id, isInt := ref.(int64); isInt {
			k, ok := handle[id]
			return k, ok, err
		}
		element, _ := ref.(string)
		k, ok := byElement[element]
		return k, ok, err
	}
	type row struct {
		u, v           int
		weight, length any
	}
	var rows []row
	err := s.read(ctx, "relationshipQuery", func(tx *transaction) error {
		rows = rows[:0]
		e.strangers.Reset()
		_, err := tx.rows(e.Selection.RelationshipQuery, nil, func(r *neo4j.Record) error {
			u, okU, err := find(r, "source")
			if err != nil {
				return err
			}
			v, okV, err := find(r, "target")
			if err != nil {
				return err
			}
			if !okU || !okV {
				e.strangers.Add("%v–%v", r.Values[0], r.Values[1])
				return nil
			}
			weight, _ := r.Get("weight")
			length, _ := r.Get("length")
			rows = append(rows, row{u, v, weight, length})
			if len(rows)%s.options.BatchSize == 0 {
				s.options.Progress("relationships", int64(len(rows)), 0)
			}
			return nil
		})
		return err
	})
	if err != nil {
		return queryError(err)
	}
	for _, r := range rows {
		if err := e.add(r.u, r.v, r.weight, r.length); err != nil {
			return err
		}
	}
	return nil
}

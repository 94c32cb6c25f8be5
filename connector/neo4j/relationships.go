// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"context"
	"fmt"
	"slices"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
)

// edges also knows the nodes, and the ends of a query's relationships that are not
// among them.
type edges struct {
	connector.Edges
	nodes      *nodeSet
	places     *places
	unselected connector.Offenders
}

// links are the relationships of a record whose ends are both selected, by the
// numbers of the nodes.
type links struct {
	u, v           []int32
	weight, length []float64
	wrong          map[int]string // what is wrong with the values of some of them
}

// unpack finds the ends and reads the values; the first ends are counted from the first node of the chunk.
func (e *edges) unpack(r *neo4j.Record) (l links) {
	from, to := list(r, 0), e.places.numbers(list(r, 1))
	weights, lengths := list(r, 2), list(r, 3)
	l.u, l.v = make([]int32, 0, len(to)), make([]int32, 0, len(to))
	l.weight, l.length = make([]float64, 0, len(to)), make([]float64, 0, len(to))
	for k, v := range to {
		if i, _ := from[k].(int64); v >= 0 {
			l.add(int32(i), v, e.Values, entry(weights, k), entry(lengths, k))
		}
	}
	return l
}

func (l *links) add(u, v int32, read func(weight, length any) (float64, float64, string), weight, length any) {
	w, d, wrong := read(weight, length)
	if wrong != "" {
		if l.wrong == nil {
			l.wrong = make(map[int]string)
		}
		l.wrong[len(l.u)] = wrong
	}
	l.u, l.v = append(l.u, u), append(l.v, v)
	l.weight, l.length = append(l.weight, w), append(l.length, d)
}

// connect adds links to the graph; the first ends are counted from base.
func (e *edges) connect(base int, l links) error {
	for k := range l.u {
		u, v := base+int(l.u[k]), int(l.v[k])
		if wrong, ok := l.wrong[k]; ok {
			e.Refuse(u, v, wrong)
		} else if err := e.Builder.Connect(u, v, l.weight[k], l.length[k]); err != nil {
			return err
		}
	}
	return nil
}

func (e *edges) finish() error {
	if len(e.nodes.ids) == 0 { // every end is outside: what is wrong is the selection of nodes
		return nil
	}
	if err := e.unselected.Err("relationships of the query have an end outside the selected nodes", "select those nodes too"); err != nil {
		return err
	}
	return e.Finish()
}

// readRelationships reads those between selected nodes: in chunks of nodes, those that leave each.
func (s *Store) readRelationships(ctx context.Context, sel graph.Selection, nodes *nodeSet, b *graph.Builder) error {
	e := &edges{Edges: connector.Edges{Selection: sel, Builder: b}, nodes: nodes, places: newPlaces(nodes.internal)}
	if sel.RelationshipQuery != "" {
		if err := s.queryRelationships(ctx, e); err != nil {
			return err
		}
		return e.finish()
	}
	// The subquery keeps the planner from scanning all relationships for every node, which looks cheap to
	// it while the database is small.
	names := naming{}
	g := gather[links]{
		match: "UNWIND range(0, size($ids) - 1) AS i MATCH (a) WHERE id(a) = $ids[i] CALL (a) { MATCH (a)-[r" +
			quoteAll(sel.RelationshipTypes) + "]->(b) RETURN r, b }",
		columns: []cypher{"i", "id(b)", names.property("r", sel.RelationshipWeightProperty), names.property("r", sel.LengthProperty)},
		params:  names, unpack: e.unpack,
	}
	err := g.run(ctx, s, each("relationships", len(nodes.ids)), int64(s.options.BatchSize), func(at span) map[string]any {
		return map[string]any{"ids": nodes.internal[at.lo:at.hi]}
	}, func(at span, l links) error { return e.connect(int(at.lo), l) })
	if err != nil {
		return err
	}
	return e.finish()
}

// queryRelationships reads the user's query row by row; its columns are source,
// target, and weight and length where those properties are asked for.
func (s *Store) queryRelationships(ctx context.Context, e *edges) error {
	byElement := make(map[string]int, len(e.nodes.ids))
	for k := range e.nodes.ids {
		byElement[e.nodes.element(k)] = k
	}
	find := func(r *neo4j.Record, column string) (int, bool, error) {
		v, ok := r.Get(column)
		if !ok {
			return 0, false, fmt.Errorf("%w: the relationship query returns the columns %q, want source, target, weight, length",
				connector.ErrInput, r.Keys)
		}
		ref, err := refer(column, v, e.nodes.key)
		if err != nil || ref.element == "" {
			k, ok := slices.BinarySearchFunc(e.nodes.ids, ref.key, compareIDs)
			return k, ok, err
		}
		k, ok := byElement[ref.element]
		return k, ok, nil
	}
	var l links
	row := 0
	err := s.query(ctx, "relationship query", e.Selection.RelationshipQuery, func() {
		l, row = links{}, 0
		e.unselected.Reset()
	}, func(r *neo4j.Record) error {
		row++
		u, okU, err := find(r, "source")
		if err != nil {
			return err
		}
		v, okV, err := find(r, "target")
		if err != nil {
			return err
		}
		if !okU || !okV {
			e.unselected.Add("row %d", row)
			return nil
		}
		weight, _ := r.Get("weight")
		length, _ := r.Get("length")
		l.add(int32(u), int32(v), e.Values, weight, length)
		if len(l.u)%s.options.BatchSize == 0 {
			s.options.Progress("relationships", int64(len(l.u)), 0)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return e.connect(0, l)
}

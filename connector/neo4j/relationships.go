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
	found          int // with any ends
	u, v           []int32
	weight, length []float64
	wrong          map[int]string // what is wrong with the values of some of them
}

// unpack finds the ends and reads the values; from finds the number of the first.
func (e *edges) unpack(r *neo4j.Record, from func(ids []any) []int32) links {
	weights, lengths := list(r, 2), list(r, 3)
	u, v := from(list(r, 0)), e.places.numbers(list(r, 1))
	l := links{found: len(u), u: u[:0], v: v[:0], weight: make([]float64, 0, len(u)), length: make([]float64, 0, len(u))}
	for k := range u {
		if u[k] >= 0 && v[k] >= 0 {
			l.add(u[k], v[k], e.Values, entry(weights, k), entry(lengths, k))
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
			e.Refuse(e.nodes.ids[u], e.nodes.ids[v], wrong)
		} else if err := e.Builder.Connect(u, v, l.weight[k], l.length[k]); err != nil {
			return err
		}
	}
	return nil
}

func (e *edges) finish(s *Store) error {
	if len(e.nodes.ids) == 0 { // every end is outside: what is wrong is the selection of nodes
		return nil
	}
	if err := e.unselected.Err("relationships of the query have an end outside the selected nodes", "select those nodes too"); err != nil {
		return err
	}
	return e.Finish()
}

// readRelationships reads those between selected nodes: from all of their types
// where most of them are, else from each node.
func (s *Store) readRelationships(ctx context.Context, sel graph.Selection, nodes *nodeSet, n size, b *graph.Builder) error {
	e := &edges{Edges: connector.Edges{Selection: sel, Builder: b}, nodes: nodes, places: newPlaces(nodes.internal)}
	if sel.RelationshipQuery != "" {
		if err := s.queryRelationships(ctx, e); err != nil {
			return err
		}
		return e.finish(s)
	}
	names := naming{}
	g := gather[links]{
		columns: []cypher{"", "id(b)", names.property("r", sel.RelationshipWeightProperty), names.property("r", sel.LengthProperty)},
		params:  names,
	}
	types := quoteAll(sel.RelationshipTypes)
	ids, err := s.relationshipIDs(ctx, types)
	if err != nil {
		return err
	}
	leaving, err := s.leaving(ctx, sel, n, int64(len(nodes.ids)))
	if err != nil {
		return err
	}
	if ids.len() <= expansion*(leaving+int64(len(nodes.ids))) {
		err = e.byID(ctx, s, g, types, ids, n.relationships)
	} else {
		err = e.byNode(ctx, s, g, types)
	}
	if err != nil {
		return err
	}
	return e.finish(s)
}

// relationshipIDs returns the range of the ids of some types.
func (s *Store) relationshipIDs(ctx context.Context, types cypher) (ids span, err error) {
	if types == "" { // without a type there is no index
		all, err := s.known(ctx, typeNames)
		if err != nil || len(all) == 0 {
			return span{}, err
		}
		types = quoteAll(all)
	}
	return s.extent(ctx, "()-[r"+types+"]->()", "r")
}

// leaving bounds the number of relationships that leave the n selected nodes, from
// the database's own counters.
func (s *Store) leaving(ctx context.Context, sel graph.Selection, of size, n int64) (sum int64, err error) {
	if sel.NodeQuery != "" || len(sel.NodeLabels) == 0 {
		return int64(float64(of.relationships) * min(1, float64(n)/float64(max(1, of.nodes)))), nil
	}
	err = s.read(ctx, "count", func(tx *transaction) error {
		sum = 0
		for _, l := range sel.NodeLabels {
			c, err := tx.relationships("(:"+quote(l)+")", sel.RelationshipTypes)
			if err != nil {
				return err
			}
			sum += c
		}
		return nil
	})
	return min(sum, of.relationships), err
}

// byID reads all relationships of the types and keeps those between selected nodes.
func (e *edges) byID(ctx context.Context, s *Store, g gather[links], types cypher, ids span, n int64) error {
	g.columns[0] = "id(a)"
	g.match = "MATCH (a)-[r]->(b) WHERE id(r) IN range($at[k], $at[k + 1] - 1)"
	if types != "" { // behind WITH, or a plan might begin at the type for every range
		g.match += " WITH a, r, b WHERE r" + types
	}
	g.unpack = func(r *neo4j.Record) links { return e.unpack(r, e.places.numbers) }
	found := int64(0)
	err := g.byID(ctx, s, "relationships", n, ids, func(_ span, l links) error {
		found += int64(l.found)
		return e.connect(0, l)
	})
	if err == nil && found != n {
		err = fmt.Errorf("%w: the graph changed while it was read (%d relationships, %d before); run again",
			connector.ErrConflict, found, n)
	}
	return err
}

// byNode reads the relationships that leave each selected node. The subquery keeps
// the planner from scanning all relationships for every node, which looks cheap to
// it while the database is small.
func (e *edges) byNode(ctx context.Context, s *Store, g gather[links], types cypher) error {
	g.columns[0] = "i"
	g.match = "UNWIND range(0, size($ids) - 1) AS i MATCH (a) WHERE id(a) = $ids[i] CALL (a) { MATCH (a)-[r" + types +
		"]->(b) RETURN r, b }"
	g.unpack = func(r *neo4j.Record) links {
		return e.unpack(r, positions)
	}
	return g.run(ctx, s, each("relationships", len(e.nodes.ids)), int64(s.options.BatchSize), func(at span) map[string]any {
		return map[string]any{"ids": e.nodes.internal[at.lo:at.hi]}
	}, func(at span, l links) error { return e.connect(int(at.lo), l) })
}

// positions are the numbers of nodes counted from the first of a chunk.
func positions(column []any) []int32 {
	to := make([]int32, len(column))
	for k, v := range column {
		i, _ := v.(int64)
		to[k] = int32(i)
	}
	return to
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

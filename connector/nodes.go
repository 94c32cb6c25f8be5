// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j/dbtype"

	"github.com/graphcloak/graphcloak/connector/store"
	"github.com/graphcloak/graphcloak/graph"
)

// nodePage is the least number of nodes in a record; nodePages bounds the number
// of records, for each skips the nodes before it.
const (
	nodePage  = 20_000
	nodePages = 20
)

// missing stands for a property that is not there in a list collected by the
// server, because collect() passes over null. No weight, key or reading is a list.
const missing = "[]"

// labelled is the label expression of a selection. Without labels it is every node
// but those that keep runs and the ledger: they are not the user's graph.
func labelled(labels []string) string {
	if len(labels) > 0 {
		return quoteAll(labels)
	}
	return ":!" + strings.Join([]string{store.RunLabel, lockLabel, budgetLabel, entryLabel}, "&!")
}

// readNodes reads the nodes of the selection.
func (s *Store) readNodes(ctx context.Context, sel graph.Selection, n int64) (*nodeSet, error) {
	key := missing
	if sel.NodeKey != "" {
		key = "coalesce(n." + quote(sel.NodeKey) + ", " + missing + ")"
	}
	columns := " RETURN collect(id(n)), collect(elementId(n)), collect(" + key + ") AS key"
	set := &nodeSet{}
	keys := []any{}
	add := func(_ span, r *neo4j.Record) error {
		internal, elements, key := list(r, 0), list(r, 1), list(r, 2)
		for i := range internal {
			id, _ := internal[i].(int64)
			element, _ := elements[i].(string)
			set.internal = append(set.internal, id)
			set.elements = append(set.elements, element)
		}
		keys = append(keys, key...)
		return nil
	}
	var err error
	if sel.NodeQuery != "" {
		err = s.queryNodes(ctx, sel.NodeQuery, columns, add)
	} else {
		page := max(nodePage, (int(n)+nodePages-1)/nodePages)
		cypher := "MATCH (n" + labelled(sel.NodeLabels) + ") WITH n SKIP $skip LIMIT $limit" + columns
		err = inChunks(ctx, s, "nodes", int(n), page, func(ctx context.Context, at span) (*neo4j.Record, error) {
			return s.readOne(ctx, "nodes", cypher, map[string]any{"skip": at.lo, "limit": at.hi - at.lo})
		}, add)
	}
	if err != nil {
		return nil, err
	}
	return set, set.identify(sel.NodeKey, keys)
}

// queryNodes resolves the column id of the user's query: a node, its id() or its
// elementId().
func (s *Store) queryNodes(ctx context.Context, query, columns string, add func(span, *neo4j.Record) error) error {
	var refs []any
	err := s.read(ctx, "nodeQuery", func(tx *transaction) error {
		refs = refs[:0]
		_, err := tx.rows(query, nil, func(r *neo4j.Record) error {
			v, ok := r.Get("id")
			if !ok {
				return fmt.Errorf("%w: the node query returns the columns %v, want id", store.ErrInput, r.Keys)
			}
			ref, err := reference(v)
			refs = append(refs, ref)
			return err
		})
		return err
	})
	if err != nil {
		return queryError(err)
	}
	found := 0
	cypher := "UNWIND $refs AS r MATCH (n) WHERE CASE WHEN r IS :: INTEGER THEN id(n) = r ELSE elementId(n) = r END" + columns
	if !slices.ContainsFunc(refs, func(r any) bool { _, ok := r.(int64); return !ok }) {
		cypher = "UNWIND $refs AS r MATCH (n) WHERE id(n) = r" + columns
	} else if !slices.ContainsFunc(refs, func(r any) bool { _, ok := r.(string); return !ok }) {
		cypher = "UNWIND $refs AS r MATCH (n) WHERE elementId(n) = r" + columns
	}
	err = inChunks(ctx, s, "nodes", len(refs), s.options.BatchSize, func(ctx context.Context, at span) (*neo4j.Record, error) {
		return s.readOne(ctx, "nodes", cypher, map[string]any{"refs": refs[at.lo:at.hi]})
	}, func(at span, r *neo4j.Record) error {
		found += len(list(r, 0))
		return add(at, r)
	})
	if err == nil && found != len(refs) {
		err = fmt.Errorf("%w: the node query returns %d ids of which %d are nodes", store.ErrInput, len(refs), found)
	}
	return err
}

// reference reads a value that names a node: the node, its id() or elementId().
func reference(v any) (any, error) {
	switch x := v.(type) {
	case dbtype.Node:
		return x.ElementId, nil
	case int64, string:
		return x, nil
	}
	return nil, fmt.Errorf("%w: the query returns a %T where a node, its id() or its elementId() is wanted", store.ErrInput, v)
}

// identify derives the ids from the key property, or from the elements without one.
func (s *nodeSet) identify(property string, keys []any) error {
	s.ids = make([]graph.ID, len(s.elements))
	var bad, twice store.Offenders
	seen := make(map[graph.ID]int, len(s.ids))
	for k, element := range s.elements {
		id := graph.ID(element)
		if property != "" {
			var wrong string
			if id, wrong = store.Key(value(keys[k])); wrong != "" {
				bad.Add("node %s: %s %s", element, property, wrong)
				continue
			}
		}
		if first, ok := seen[id]; ok {
			twice.Add("%q is the %s of %s and %s", id, property, s.elements[first], element)
		}
		seen[id] = k
		s.ids[k] = id
	}
	if err := bad.Err("nodes have no usable key", "give every selected node a unique "+property+", or choose another --node-key"); err != nil {
		return err
	}
	return twice.Err("nodes share their key", "make "+property+" unique (graphcloak doctor --print-setup shows the constraint), or choose another --node-key")
}

// readOne runs a statement with one record in a transaction of its own. A server
// that is short of memory gives errTooLarge.
func (s *Store) readOne(ctx context.Context, phase, cypher string, params map[string]any) (record *neo4j.Record, err error) {
	err = s.read(ctx, phase, func(tx *transaction) (err error) {
		record, err = tx.one(cypher, params)
		return err
	})
	return record, err
}

func list(r *neo4j.Record, column int) []any {
	l, _ := r.Values[column].([]any)
	return l
}

// value undoes missing.
func value(v any) any {
	if l, ok := v.([]any); ok && len(l) == 0 {
		return nil
	}
	return v
}

// queryError says that a statement that the user wrote was refused.
func queryError(err error) error {
	if e, ok := serverError(err); ok && statementFault(e) && e.Code != codeAccessMode {
		return fmt.Errorf("%w: %s", store.ErrInput, e.Msg)
	}
	return err
}

// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
)

// nodePage is the least number of nodes in a record of those that are found by
// skipping the ones before; nodePages bounds the number of such records.
const (
	nodePage  = 20_000
	nodePages = 20
)

// readNodes reads the nodes of the selection, n without a query.
func (s *Store) readNodes(ctx context.Context, sel graph.Selection, n int64) (*nodeSet, error) {
	names := naming{}
	g := gather[*neo4j.Record]{
		columns: []cypher{"id(n)", "elementId(n)", names.property("n", sel.NodeKey), none},
		params:  names, unpack: asIs,
	}
	r := &nodeReader{property: sel.NodeKey}
	r.set.key, r.set.labels = sel.NodeKey, sel.NodeLabels
	if sel.NodeKey == "" && len(sel.NodeLabels) == 0 {
		g.columns[3] = "labels(n)"
		r.kinds = map[string]int32{}
	}
	var err error
	if sel.NodeQuery != "" {
		err = s.queryNodes(ctx, sel, n, g, r)
	} else {
		err = s.labelledNodes(ctx, labelled(sel.NodeLabels), n, g, r)
	}
	if err != nil {
		return nil, err
	}
	return r.nodes()
}

// labelledNodes reads the n nodes of a label expression.
func (s *Store) labelledNodes(ctx context.Context, label cypher, n int64, g gather[*neo4j.Record], r *nodeReader) error {
	ids, err := s.extent(ctx, label)
	if err != nil {
		return err
	}
	if ids.len() <= sparse*n {
		// The label is behind WITH, or a plan might begin at the label for every range.
		g.match = "MATCH (n) WHERE id(n) IN range($at[k], $at[k + 1] - 1) WITH n WHERE n" + label
		g.pieces = true
		return g.run(ctx, s, task{"nodes", ids.len(), n}, int64(s.options.BatchSize)*readBatches, func(at span) map[string]any {
			return map[string]any{"at": span{ids.lo + at.lo, ids.lo + at.hi}.cuts()}
		}, r.take)
	}
	g.match = "MATCH (n" + label + ") WITH n SKIP $skip LIMIT $limit"
	page := max(nodePage, (n+nodePages-1)/nodePages)
	return g.run(ctx, s, each("nodes", int(n)), page, func(at span) map[string]any {
		return map[string]any{"skip": at.lo, "limit": at.len()}
	}, r.take)
}

// queryNodes reads the nodes that the column id of the user's query names, each once.
// Keys are looked for among all n nodes, for a query does not say which labels it has
// in mind: a key that two nodes share is refused.
func (s *Store) queryNodes(ctx context.Context, sel graph.Selection, n int64, g gather[*neo4j.Record], nodes *nodeReader) error {
	var elements []string
	named := map[string]bool{}
	err := s.query(ctx, "node query", sel.NodeQuery, func() {
		elements = elements[:0]
		clear(named)
		nodes.wanted = map[graph.ID]bool{}
	}, func(r *neo4j.Record) error {
		v, ok := r.Get("id")
		if !ok {
			return fmt.Errorf("%w: the node query returns the columns %q, want id", connector.ErrInput, r.Keys)
		}
		ref, err := refer("id", v, sel.NodeKey)
		if err == nil && ref.element == "" {
			nodes.wanted[ref.key] = true
		} else if err == nil && !named[ref.element] {
			named[ref.element] = true
			elements = append(elements, ref.element)
		}
		return err
	})
	if err != nil {
		return err
	}
	asked := len(elements) + len(nodes.wanted)
	if len(nodes.wanted) > 0 {
		if err := s.labelledNodes(ctx, labelled(nil), n, g, nodes); err != nil {
			return err
		}
	}
	nodes.wanted, nodes.byKey = nil, len(nodes.wanted) > 0
	g.match = "UNWIND $refs AS r MATCH (n) WHERE elementId(n) = r"
	err = g.run(ctx, s, each("nodes", len(elements)), int64(s.options.BatchSize), func(at span) map[string]any {
		return map[string]any{"refs": elements[at.lo:at.hi]}
	}, nodes.take)
	if err == nil && nodes.found+nodes.bad.Count() < asked {
		err = fmt.Errorf("%w: the node query returns %d ids of which %d are those of nodes; it should return the nodes themselves, "+
			"their elementId() or, with --node-key, their key",
			connector.ErrInput, asked, nodes.found)
	}
	return err
}

// nodeReader collects nodes as they are read.
type nodeReader struct {
	property string // "": the element is the key
	pages    []nodePart
	set      nodeSet
	wanted   map[graph.ID]bool // nil: all
	kinds    map[string]int32  // numbers of what is met in the column of labels; nil: it is not read
	byKey    bool              // some nodes were looked for among all
	found    int
	bad      connector.Offenders
}

// nodePart is what a record gave; at orders the records of a reading.
type nodePart struct {
	at int64
	nodeSet
}

func (r *nodeReader) take(at span, record *neo4j.Record) error {
	internal, elements, keys, labels := list(record, 0), list(record, 1), list(record, 2), list(record, 3)
	p := nodePart{at: at.lo}
	p.grow(len(internal))
	for k := range internal {
		id, _ := internal[k].(int64)
		element, _ := elements[k].(string)
		key := graph.ID(element)
		if r.property != "" {
			var wrong string
			key, wrong = connector.Key(entry(keys, k))
			if r.wanted != nil && (wrong != "" || !r.wanted[key]) {
				continue
			}
			if wrong != "" {
				r.bad.Add("node %s: %s %s", element, r.property, wrong)
				continue
			}
		}
		r.set.name(id, element)
		p.add(key, id)
		if r.kinds != nil {
			p.kinds = append(p.kinds, r.kind(labels[k]))
		}
	}
	r.found += len(p.ids)
	r.pages = append(r.pages, p)
	return nil
}

// kind numbers the sets of labels.
func (r *nodeReader) kind(labels any) int32 {
	text := fmt.Sprintf("%q", labels)
	kind, ok := r.kinds[text]
	if !ok {
		kind = int32(len(r.kinds))
		r.kinds[text] = kind
		r.set.sets = append(r.set.sets, labels)
	}
	return kind
}

// nodes puts the parts together and sorts the nodes by key, which is unique.
func (r *nodeReader) nodes() (*nodeSet, error) {
	if err := r.bad.Err("nodes have no usable key", "give every selected node a unique "+r.property+
		", or choose another --node-key"); err != nil {
		return nil, err
	}
	slices.SortStableFunc(r.pages, func(p, q nodePart) int { return cmp.Compare(p.at, q.at) })
	s := &r.set
	s.grow(r.found)
	for i, p := range r.pages {
		s.ids, s.internal = append(s.ids, p.ids...), append(s.internal, p.internal...)
		s.kinds = append(s.kinds, p.kinds...)
		r.pages[i] = nodePart{}
	}
	s.sort()
	var twice connector.Offenders
	for k := 1; k < len(s.ids); k++ {
		if s.ids[k] == s.ids[k-1] {
			twice.Add("%q is the %s of %s and %s", s.ids[k], r.property, s.element(k-1), s.element(k))
		}
	}
	remedy := "make " + r.property + " unique (graphcloak doctor --print-setup shows the constraint), or choose another --node-key"
	if r.byKey {
		remedy = "let the query return the nodes themselves (RETURN n AS id), or choose another --node-key"
	}
	return s, twice.Err("nodes share their key", remedy)
}

// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/graphcloak/graphcloak/graph"
)

// nodeSet holds nodes: [Store.Graph] numbers them in its order, by length and then
// text of the key, as package graph does. An elementId is mostly a prefix that all
// share and the id, which are kept apart; others are kept whole.
type nodeSet struct {
	key      string   // property that the ids are of; "": they are elementIds
	labels   []string // that each node has one of; none: any
	sets     []any    // without key and labels: the sets of labels that the nodes have
	kinds    []int32  // and the number of each node's
	ids      []graph.ID
	internal []int64 // id(), which orders nodes as the store does
	prefix   string
	odd      map[int64]string // elementIds of another form, by id()
}

func (s *nodeSet) grow(n int) {
	s.ids, s.internal = slices.Grow(s.ids, n), slices.Grow(s.internal, n)
}

func (s *nodeSet) add(id graph.ID, internal int64) {
	s.ids, s.internal = append(s.ids, id), append(s.internal, internal)
}

// name notes the elementId of an id.
func (s *nodeSet) name(internal int64, element string) {
	var buffer [20]byte
	number := string(strconv.AppendInt(buffer[:0], internal, 10))
	prefix, ok := strings.CutSuffix(element, number)
	if s.prefix == "" {
		s.prefix = prefix
	}
	if !ok || prefix != s.prefix {
		if s.odd == nil {
			s.odd = make(map[int64]string)
		}
		s.odd[internal] = element
	}
}

// element returns the elementId of node k.
func (s *nodeSet) element(k int) string {
	if e, ok := s.odd[s.internal[k]]; ok {
		return e
	}
	return s.prefix + strconv.FormatInt(s.internal[k], 10)
}

// match binds the nodes n of a list, and their places i in it. The server gives the
// elementId of a node that was deleted to another one: what n is bound to therefore
// also has the key and one of the labels that the node was selected by, or without
// either just the labels that it had then.
func (s *nodeSet) match() cypher {
	text := cypher("UNWIND range(0, size($e) - 1) AS i MATCH (n) WHERE elementId(n) = $e[i]")
	if s.key != "" {
		text += " AND toStringOrNull(n[$key]) = $k[i]"
	}
	if len(s.labels) > 0 {
		text += " AND any(l IN labels(n) WHERE l IN $labels)"
	}
	if len(s.kinds) > 0 {
		text += " AND labels(n) = $sets[$kinds[i]]"
	}
	return text
}

// params are the parameters of match for the nodes of these numbers.
func (s *nodeSet) params(numbers iter.Seq[int]) map[string]any {
	var elements, keys []string
	var kinds []int64
	for k := range numbers {
		elements = append(elements, s.element(k))
		if s.key != "" {
			keys = append(keys, string(s.ids[k]))
		}
		if len(s.kinds) > 0 {
			kinds = append(kinds, int64(s.kinds[k]))
		}
	}
	return map[string]any{"e": elements, "key": s.key, "k": keys, "labels": s.labels, "sets": s.sets, "kinds": kinds}
}

// compareIDs is the order of package graph.
func compareIDs(a, b graph.ID) int {
	if c := cmp.Compare(len(a), len(b)); c != 0 {
		return c
	}
	return cmp.Compare(a, b)
}

// keep leaves out the nodes that are not in the graph, whose order the others have.
func (s *nodeSet) keep(g *graph.Graph) {
	kept := make([]int, 0, g.Order())
	for k, id := range s.ids {
		if i := len(kept); i < g.Order() && g.ID(i) == id {
			kept = append(kept, k)
		}
	}
	s.choose(kept)
}

// choose replaces the nodes by those of these numbers, in their order.
func (s *nodeSet) choose(numbers []int) {
	s.ids, s.internal = pick(s.ids, numbers), pick(s.internal, numbers)
	if len(s.kinds) > 0 {
		s.kinds = pick(s.kinds, numbers)
	}
}

func (s *nodeSet) sort() {
	if slices.IsSortedFunc(s.ids, compareIDs) {
		return
	}
	order := make([]int, len(s.ids))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(x, y int) int {
		return cmp.Or(compareIDs(s.ids[x], s.ids[y]), cmp.Compare(x, y))
	})
	s.choose(order)
}

func pick[T any](values []T, order []int) []T {
	picked := make([]T, len(order))
	for k, i := range order {
		picked[k] = values[i]
	}
	return picked
}

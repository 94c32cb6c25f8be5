// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/graphcloak/graphcloak/graph"
)

// nodeSet holds nodes: [Store.Graph] numbers them in its order, by length and then
// text of the key, as package graph does. An elementId is a prefix that all share,
// then the id: those that are not are kept as they are.
type nodeSet struct {
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

// named returns the elementIds of a span of nodes.
func (s *nodeSet) named(at span) []string {
	elements := make([]string, 0, at.len())
	for k := at.lo; k < at.hi; k++ {
		elements = append(elements, s.element(int(k)))
	}
	return elements
}

func (s *nodeSet) sort() {
	compare := func(a, b graph.ID) int {
		if c := cmp.Compare(len(a), len(b)); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	}
	if slices.IsSortedFunc(s.ids, compare) {
		return
	}
	order := make([]int, len(s.ids))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(x, y int) int {
		if c := compare(s.ids[x], s.ids[y]); c != 0 {
			return c
		}
		return cmp.Compare(x, y)
	})
	s.ids, s.internal = pick(s.ids, order), pick(s.internal, order)
}

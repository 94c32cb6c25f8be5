// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
)

// 2³¹ − 1 nodes are the most that a graph numbers; the count decides before any
// node is read.
func TestTooManyNodes(t *testing.T) {
	if err := (size{nodes: math.MaxInt32}).check(); err != nil {
		t.Errorf("2³¹−1 nodes: %v", err)
	}
	if err := (size{nodes: math.MaxInt32 + 1}).check(); !errors.Is(err, graph.ErrTooLarge) {
		t.Errorf("2³¹ nodes: %v, want ErrTooLarge", err)
	}
}

func TestCuts(t *testing.T) {
	for _, at := range []span{{0, 1}, {7, 7 + recordSize}, {3, 4 + recordSize}, {5, 5 + 3*recordSize - 1}} {
		cuts := at.cuts()
		if cuts[0] != at.lo || cuts[len(cuts)-1] != at.hi {
			t.Errorf("%v is cut at %v", at, cuts)
		}
		for k := 1; k < len(cuts); k++ {
			if n := cuts[k] - cuts[k-1]; n <= 0 || n > recordSize {
				t.Errorf("%v has a piece of %d", at, n)
			}
		}
	}
}

// Ids are found in a table and in a map alike; others are not.
func TestPlaces(t *testing.T) {
	for _, internal := range [][]int64{{}, {5}, {9, 2, 4}, {0, 1 << 40, 77}, {math.MaxInt64, math.MinInt64 + 1}} {
		p := newPlaces(internal)
		for _, id := range append([]int64{-1, 0, 1, 3, 5, 9, 10, math.MaxInt64, math.MinInt64}, internal...) {
			want := slices.Index(internal, id)
			if got := p.numbers([]any{id})[0]; int(got) != want {
				t.Errorf("%v: %d is at %d, want %d", internal, id, got, want)
			}
		}
	}
}

// An elementId comes back as it was given, of whatever form it is.
func TestElements(t *testing.T) {
	for _, elements := range [][]string{
		{"4:a:7", "4:a:70", "4:a:0"},
		{"7", "70", "0"},
		{"x", "y", "z"},
		{"4:a:7", "4:b:70", "4:a:0"},
		{"4:a:70", "4:a:7", "0"},
		{"", "4:a:70", "4:a:0"},
	} {
		var s nodeSet
		for k, internal := range []int64{7, 70, 0} {
			s.add(graph.ID(strconv.Itoa(k)), internal)
			s.name(internal, elements[k])
		}
		if got, _ := s.params(span{0, 3}.each())["e"].([]string); !slices.Equal(got, elements) {
			t.Errorf("%q became %q", elements, got)
		}
	}
}

// The order is that of package graph, with the ids beside it.
func TestNodeSetSort(t *testing.T) {
	ids := []graph.ID{"b", "10", "9", "", "aa", "é", "a"}
	var s nodeSet
	var b graph.Builder
	for k, id := range ids {
		s.add(id, int64(k))
		must.Get(b.AddNode(id))(t)
	}
	s.sort()
	g := must.Get(b.Graph())(t)
	for i := range ids {
		if s.ids[i] != g.ID(i) || ids[s.internal[i]] != s.ids[i] {
			t.Errorf("node %d is %q with id %d, the graph has %q", i, s.ids[i], s.internal[i], g.ID(i))
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
)

// A triangle a, b, c with a tail d, whose slices are altered one by one.
func TestRestore(t *testing.T) {
	var b graph.Builder
	for _, e := range [][2]graph.ID{{"a", "b"}, {"a", "c"}, {"b", "c"}, {"c", "d"}} {
		must.Do(t, b.AddEdge(e[0], e[1], 2))
	}
	g := must.Get(b.Graph())(t)
	if again := must.Get(graph.Restore(g.Stored()))(t); again.Digest() != g.Digest() {
		t.Error("the same slices are another graph")
	}
	for name, alter := range map[string]func(s *graph.Stored){
		"no rows":           func(s *graph.Stored) { s.Ends = nil },
		"rows of fewer":     func(s *graph.Stored) { s.Ptr = s.Ptr[:4] },
		"ids that overlap":  func(s *graph.Stored) { s.Ends[1], s.Ends[2] = 2, 1 },
		"ids beyond":        func(s *graph.Stored) { s.Ends[4] = 5 },
		"ids that descend":  func(s *graph.Stored) { s.Names = []byte("bacd") },
		"an id twice":       func(s *graph.Stored) { s.Names = []byte("aacd") },
		"rows beyond":       func(s *graph.Stored) { s.Ptr[4] = 9 },
		"rows from 1 on":    func(s *graph.Stored) { s.Ptr[0] = 1 },
		"no such node":      func(s *graph.Stored) { s.Adj[0] = 4 },
		"a negative node":   func(s *graph.Stored) { s.Adj[0] = -1 },
		"a loop":            func(s *graph.Stored) { s.Adj[0] = 0 },
		"one direction":     func(s *graph.Stored) { s.Adj[7] = 1 },
		"a row unsorted":    func(s *graph.Stored) { s.Adj[0], s.Adj[1] = s.Adj[1], s.Adj[0] },
		"twice in a row":    func(s *graph.Stored) { s.Adj[1] = 1 },
		"one weight":        func(s *graph.Stored) { s.Weight[0] = 3 },
		"weights of 0":      func(s *graph.Stored) { clear(s.Weight) },
		"weights of NaN":    func(s *graph.Stored) { s.Weight = slices.Repeat([]float64{math.NaN()}, 8) },
		"infinite weights":  func(s *graph.Stored) { s.Weight = slices.Repeat([]float64{math.Inf(1)}, 8) },
		"negative lengths":  func(s *graph.Stored) { s.Length = slices.Repeat([]float64{-1}, 8) },
		"too few weights":   func(s *graph.Stored) { s.Weight = s.Weight[:7] },
		"too many lengths":  func(s *graph.Stored) { s.Length = make([]float64, 9) },
		"entries left over": func(s *graph.Stored) { s.Adj = append(s.Adj, 0) },
	} {
		s := g.Stored()
		s.Ends, s.Ptr, s.Adj, s.Weight = slices.Clone(s.Ends), slices.Clone(s.Ptr), slices.Clone(s.Adj), slices.Clone(s.Weight)
		alter(&s)
		if _, err := graph.Restore(s); !errors.Is(err, graph.ErrStored) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

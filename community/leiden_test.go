// SPDX-License-Identifier: Apache-2.0

package community

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
)

func TestSplit(t *testing.T) {
	g := must.Get(graph.Path(5))(t)
	if got, want := split(g, []int32{7, 3, 7, 7, 3}), []int32{0, 1, 2, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("parts %v, want %v", got, want)
	}
}

func newSearch(n int, penalty float64) *search {
	return &search{random: rand.New(rand.NewPCG(1, 0)), penalty: penalty, theta: 0.01, gather: newGather(n)}
}

// A node leaves a community that costs it more than its edges are worth, though
// no other community is better.
func TestMoveAlone(t *testing.T) {
	g := must.Get(graph.Complete(3))(t)
	l, penalty := evenly(g, 5)
	s := newSearch(3, penalty)
	s.ctx = t.Context()
	c := []int32{0, 0, 0}
	if err := s.move(l, c); err != nil || renumber(c) != 3 {
		t.Errorf("communities %v, %v; want three", c, err)
	}
}

// weighted is the graph of the edges u, v with weight w, on n nodes.
func weighted(t *testing.T, n int, edges ...graph.Edge) *graph.Graph {
	t.Helper()
	var b graph.Builder
	for i := range n {
		must.Get(b.AddNode(graph.ID(strconv.Itoa(i))))(t)
	}
	for _, e := range edges {
		must.Do(t, b.Connect(e.U, e.V, e.Weight, 1))
	}
	return must.Get(b.Graph())(t)
}

// evenly is a level whose nodes have the size 1 and whose penalty factor is gamma, in the units of g's weights:
// gains are counted by hand.
func evenly(g *graph.Graph, gamma float64) (*level, float64) {
	l, _ := newLevel(g, 1)
	for v := range l.size {
		l.size[v] = 1
	}
	_, _, weight := g.CSR()
	return l, gamma / meanWeight(weight)
}

// refinements refines g as one community, evenly at γ = gamma, with many seeds.
// Parts are drawn evenly from those that the algorithm allows.
func refinements(t *testing.T, g *graph.Graph, gamma float64) [][]int32 {
	t.Helper()
	l, penalty := evenly(g, gamma)
	s := newSearch(g.Order(), penalty)
	s.ctx, s.theta = t.Context(), 1e6
	var all [][]int32
	for range 200 {
		parts := must.Get(s.refine(l, make([]int32, g.Order())))(t)
		all = append(all, parts)
	}
	return all
}

// A node with one edge to a clique of five at γ = 1/2 is not well connected to it:
// 1 < γ·1·5. It neither joins a part nor is joined, though a pair would gain 1 − γ.
func TestRefineWellConnectedNode(t *testing.T) {
	var edges []graph.Edge
	for u := range 5 {
		for v := range u {
			edges = append(edges, graph.Edge{U: u, V: v, Weight: 1})
		}
	}
	g := weighted(t, 6, append(edges, graph.Edge{U: 0, V: 5, Weight: 1})...)
	for _, parts := range refinements(t, g, 0.5) {
		for v, p := range parts[:5] {
			if p == parts[5] {
				t.Fatalf("node %d has the badly connected one in its part: %v", v, parts)
			}
		}
	}
}

// Two triangles of weight 1, node to node joined by weight x = 1/100, at γ = 0.3: a
// node is well connected, 2 + x ≥ γ·1·5, a pair of a triangle is not,
// 2 + 2x < γ·2·4, and so no third node joins it, though that would gain 2 − 2γ.
func TestRefineWellConnectedPart(t *testing.T) {
	var edges []graph.Edge
	for u := range 3 {
		edges = append(edges,
			graph.Edge{U: u, V: (u + 1) % 3, Weight: 1},
			graph.Edge{U: 3 + u, V: 3 + (u+1)%3, Weight: 1},
			graph.Edge{U: u, V: 3 + u, Weight: 0.01})
	}
	pairs := 0
	for _, parts := range refinements(t, weighted(t, 6, edges...), 0.3) {
		members := make(map[int32]int)
		for _, p := range parts {
			members[p]++
		}
		for _, k := range members {
			if k > 2 {
				t.Fatalf("a part of %d nodes: %v", k, parts)
			}
			if k == 2 {
				pairs++
			}
		}
	}
	if pairs == 0 {
		t.Error("no two nodes ever joined")
	}
}

// Moving only ever raises the objective, and refining only splits: every part
// lies within a community and is connected.
func TestMoveAndRefine(t *testing.T) {
	for seed := range uint64(20) {
		g, _, err := graph.SBM(80, 4, 0.3, 0.05, seed)
		if err != nil {
			t.Fatal(err)
		}
		l, penalty := newLevel(g, 1)
		s := newSearch(80, penalty)
		s.ctx = t.Context()
		c := singletons(80)
		before := l.objective(c, penalty)
		if err := s.move(l, c); err != nil || l.objective(c, penalty) < before {
			t.Fatalf("seed %d: objective %v after %v, %v", seed, l.objective(c, penalty), before, err)
		}
		parts := must.Get(s.refine(l, c))(t)
		of := make(map[int32]int32)
		for v, p := range parts {
			if x, ok := of[p]; ok && x != c[v] {
				t.Fatalf("seed %d: part %d lies in communities %d and %d", seed, p, x, c[v])
			}
			of[p] = c[v]
		}
		if connected := compact(split(g, parts)); !slices.Equal(connected, compact(parts)) {
			t.Fatalf("seed %d: a part is not connected", seed)
		}
		// Q = (objective − its constant) / m, whatever the partition.
		labels := toInts(compact(c))
		if q := Modularity(g, labels, 1); math.Abs(q-l.objective(c, penalty)/float64(g.Size())) > 1e-13 {
			t.Fatalf("seed %d: Q = %v, objective %v", seed, q, l.objective(c, penalty))
		}
	}
}

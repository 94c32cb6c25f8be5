// SPDX-License-Identifier: Apache-2.0

package community

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
)

func TestSplit(t *testing.T) {
	g, err := graph.Path(5)
	if err != nil {
		t.Fatal(err)
	}
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
	g, err := graph.Complete(3)
	if err != nil {
		t.Fatal(err)
	}
	l, penalty := newLevel(g, CPM, 5)
	s := newSearch(3, penalty)
	s.ctx = t.Context()
	c := []int32{0, 0, 0}
	if err := s.move(l, c); err != nil || renumber(c) != 3 {
		t.Errorf("communities %v, %v; want three", c, err)
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
		l, penalty := newLevel(g, ByModularity, 1)
		s := newSearch(80, penalty)
		s.ctx = t.Context()
		c := singletons(80)
		before := l.objective(c, penalty)
		if err := s.move(l, c); err != nil || l.objective(c, penalty) < before {
			t.Fatalf("seed %d: objective %v after %v, %v", seed, l.objective(c, penalty), before, err)
		}
		parts, err := s.refine(l, c)
		if err != nil {
			t.Fatal(err)
		}
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
		labels := widen(compact(c))
		if q := Modularity(g, labels, 1); math.Abs(q-l.objective(c, penalty)/float64(g.Size())) > 1e-13 {
			t.Fatalf("seed %d: Q = %v, objective %v", seed, q, l.objective(c, penalty))
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package emd

import (
	"math/rand/v2"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
)

// Every pivot keeps the tree strongly feasible (an edge without flow points at
// the root: the method could cycle otherwise), conserves mass, and never makes
// the flow more expensive.
func TestInvariants(t *testing.T) {
	const seed = 17
	r := rand.New(rand.NewPCG(seed, 0))
	empty := 0
	for range 20 {
		g := must.Get(graph.Grid(6, 6))(t)
		b := make([]float64, g.Order())
		for range 12 {
			b[r.IntN(len(b))]++
			b[r.IntN(len(b))]--
		}
		s := newSimplex(g, b)
		supply := scaledSupplies(b)
		for last := s.price0(); ; {
			empty += s.check(t, supply)
			u, v, length, ok := s.price()
			if !ok {
				break
			}
			s.pivot(u, v, length)
			now := s.price0()
			if now > last {
				t.Fatalf("seed %d: a pivot raises the cost from %v to %v", seed, last, now)
			}
			last = now
		}
	}
	if empty == 0 {
		t.Error("no tree had an edge without flow: nothing was tested")
	}
}

// price0 is what the flow of the tree costs.
func (s *simplex) price0() float64 {
	total := 0.0
	for _, v := range s.nodes {
		total += float64(v.flow) * float64(v.length)
	}
	return total
}

// check returns the number of edges without flow.
func (s *simplex) check(t *testing.T, supply []int64) (empty int) {
	t.Helper()
	net := append([]int64(nil), supply...)
	root := int32(len(supply))
	for x, v := range s.nodes[:root] {
		if v.flow < 0 || v.flow == 0 && !v.up {
			t.Fatalf("edge above %d: flow %d, up %v", x, v.flow, v.up)
		}
		if v.flow == 0 {
			empty++
		}
		f := v.flow
		if !v.up {
			f = -f
		}
		net[x] -= f
		if p := s.links[x].parent; p != root {
			net[p] += f
		}
		if s.treePotential(int32(x)) != s.potential[x] {
			t.Fatalf("node %d has potential %d, by its parent %d", x, s.potential[x], s.treePotential(int32(x)))
		}
	}
	size := make([]int32, len(s.nodes))
	for _, x := range s.bottomUp() {
		size[x]++
		if s.links[x].size != size[x] {
			t.Fatalf("node %d has size %d, want %d", x, s.links[x].size, size[x])
		}
		if p := s.links[x].parent; p != none {
			size[p] += size[x]
		}
	}
	for x, left := range net {
		if left != 0 {
			t.Fatalf("%d left over at node %d", left, x)
		}
	}
	return empty
}

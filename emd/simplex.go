// SPDX-License-Identifier: Apache-2.0

package emd

import (
	"context"
	"math"

	"github.com/graphcloak/graphcloak/graph"
)

// Supplies and lengths are rounded to whole multiples of powers of two, such that
// no sum of supplies exceeds 2⁶² and no sum of lengths along a tree 2⁵⁹: a
// potential then stays below 2⁶¹.
const (
	supplyBits = 61
	lengthBits = 59
)

// simplex is the primal network simplex method, from the tree in which an
// artificial root exchanges mass with every node at a price that no path within
// the graph reaches: trees stay shallow much longer than from a spanning tree of
// the graph, and a pivot takes time in proportion to the part that it moves.
//
// Supplies and lengths are integers and the tree stays strongly feasible (an
// edge without flow points at the root), so that the method ends: Cunningham, A
// network simplex method, Mathematical Programming 11 (1976) 105–116. The tree is
// optimal for the rounded data; cost then evaluates it on the data as given.
type simplex struct {
	g         *graph.Graph
	ptr       []int64
	adj       []int32
	length    []int64 // beside adj; nil: all 1
	nodes     []node  // the last one is the artificial root
	potential []int64 // cost of carrying a unit to the root along the tree
	row       int     // where pricing goes on
	block     int64   // slots that pricing looks at before it settles
}

// node is a node of the tree and the edge to its parent, which carries flow ≥ 0.
type node struct {
	flow, length      int64
	parent, depth     int32
	child, next, prev int32 // −1: none; siblings form a doubly linked list
	up                bool  // flow runs towards the parent
}

func newSimplex(g *graph.Graph, b []float64) *simplex {
	n := g.Order()
	s := &simplex{g: g, nodes: make([]node, n+1), potential: make([]int64, n+1)}
	s.ptr, s.adj, _ = g.CSR()
	s.block = max(64, int64(2*math.Sqrt(float64(len(s.adj)))))
	far := int64(n)
	if !g.Hops() {
		s.length, far = scaledLengths(g), 1<<lengthBits
	}
	root := int32(n)
	s.nodes[root] = node{parent: -1, child: -1, next: -1, prev: -1}
	for v, x := range scaledSupplies(b) {
		s.nodes[v] = node{length: far, flow: max(x, -x), up: x >= 0, child: -1}
		s.link(int32(v), root)
		s.settle(int32(v))
	}
	return s
}

// scaledSupplies rounds b to multiples of a power of two.
func scaledSupplies(b []float64) []int64 {
	total := 0.0
	for _, x := range b {
		total += math.Abs(x)
	}
	_, e := math.Frexp(total)
	s := make([]int64, len(b))
	for i, x := range b {
		s[i] = int64(math.RoundToEven(math.Ldexp(x, supplyBits-e)))
	}
	return s
}

// scaledLengths rounds the lengths to multiples of a power of two, such that the sum along any path is at most 2^lengthBits.
func scaledLengths(g *graph.Graph) []int64 {
	length := g.Lengths()
	longest, total := 0.0, 0.0
	for _, l := range length {
		longest = max(longest, l)
	}
	for _, l := range length {
		total += l / longest // every edge stands twice
	}
	_, e := math.Frexp(min(total/2, float64(g.Order())))
	s := make([]int64, len(length))
	for k, l := range length {
		s[k] = int64(math.RoundToEven(math.Ldexp(l/longest, lengthBits-e)))
	}
	return s
}

func (s *simplex) lengthAt(k int64) int64 {
	if s.length == nil {
		return 1
	}
	return s.length[k]
}

// link makes x a child of p.
func (s *simplex) link(x, p int32) {
	v, above := &s.nodes[x], &s.nodes[p]
	v.parent, v.prev, v.next = p, -1, above.child
	if above.child >= 0 {
		s.nodes[above.child].prev = x
	}
	above.child = x
}

// unlink takes x out of the children of its parent.
func (s *simplex) unlink(x int32) {
	v := &s.nodes[x]
	if v.prev >= 0 {
		s.nodes[v.prev].next = v.next
	} else {
		s.nodes[v.parent].child = v.next
	}
	if v.next >= 0 {
		s.nodes[v.next].prev = v.prev
	}
}

// settle computes depth and potential of x, not the root, from its parent's.
func (s *simplex) settle(x int32) {
	v := &s.nodes[x]
	v.depth = s.nodes[v.parent].depth + 1
	if v.up {
		s.potential[x] = s.potential[v.parent] + v.length
	} else {
		s.potential[x] = s.potential[v.parent] - v.length
	}
}

// solve pivots until no arc u→v has π_u − π_v > ℓ_uv.
func (s *simplex) solve(ctx context.Context) error {
	for pivots := 0; ; pivots++ {
		if pivots%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		u, v, length, ok := s.price()
		if !ok {
			return nil
		}
		s.pivot(u, v, length)
	}
}

// price returns the worst violated arc of the first block of slots that has one,
// in the order of the rows, from where it stopped last.
func (s *simplex) price() (from, to int32, length int64, ok bool) {
	n := s.g.Order()
	worst, looked := int64(0), int64(0)
	for range n {
		u := s.row
		if s.row++; s.row == n {
			s.row = 0
		}
		pu := s.potential[u]
		for k := s.ptr[u]; k < s.ptr[u+1]; k++ {
			l := s.lengthAt(k)
			if d := pu - s.potential[s.adj[k]] - l; d > worst {
				worst, from, to, length = d, int32(u), s.adj[k], l
			}
		}
		looked += s.ptr[u+1] - s.ptr[u]
		if looked >= s.block {
			if worst > 0 {
				return from, to, length, true
			}
			looked = 0
		}
	}
	return from, to, length, worst > 0
}

// pivot sends as much as it can around the cycle that the arc from→to closes,
// and hangs the part of the tree that comes loose on the arc.
func (s *simplex) pivot(from, to int32, length int64) {
	apex := s.apex(from, to)
	theta, leaving, below := int64(math.MaxInt64), int32(-1), from
	// Of the edges that block, the last one around the cycle, seen from the apex in
	// the direction of the flow, leaves: that keeps the tree strongly feasible.
	for x := from; x != apex; x = s.nodes[x].parent {
		if v := &s.nodes[x]; v.up && v.flow < theta {
			theta, leaving = v.flow, x
		}
	}
	for x := to; x != apex; x = s.nodes[x].parent {
		if v := &s.nodes[x]; !v.up && v.flow <= theta {
			theta, leaving, below = v.flow, x, to
		}
	}
	s.push(from, apex, -theta)
	s.push(to, apex, theta)
	if below == from {
		s.hang(from, to, leaving, node{length: length, flow: theta, up: true})
	} else {
		s.hang(to, from, leaving, node{length: length, flow: theta, up: false})
	}
}

// apex returns the node where the ways to the root meet.
func (s *simplex) apex(a, b int32) int32 {
	for a != b {
		if s.nodes[a].depth >= s.nodes[b].depth {
			a = s.nodes[a].parent
		} else {
			b = s.nodes[b].parent
		}
	}
	return a
}

// push sends theta from x up to the apex.
func (s *simplex) push(x, apex int32, theta int64) {
	for x != apex {
		v := &s.nodes[x]
		if v.up {
			v.flow += theta
		} else {
			v.flow -= theta
		}
		x = v.parent
	}
}

// hang cuts the edge above leaving, an ancestor of x or x itself, and makes x a
// child of p by the given edge.
func (s *simplex) hang(x, p, leaving int32, edge node) {
	for at := x; ; {
		v := &s.nodes[at]
		above := *v
		s.unlink(at)
		s.link(at, p)
		v.length, v.flow, v.up = edge.length, edge.flow, edge.up
		if at == leaving {
			break
		}
		edge = above
		edge.up = !above.up
		p, at = at, above.parent
	}
	s.settleBelow(x)
}

// settleBelow settles x and all below it, in preorder.
func (s *simplex) settleBelow(x int32) {
	for at := x; ; {
		s.settle(at)
		if c := s.nodes[at].child; c >= 0 {
			at = c
			continue
		}
		for at != x && s.nodes[at].next < 0 {
			at = s.nodes[at].parent
		}
		if at == x {
			return
		}
		at = s.nodes[at].next
	}
}

// cost returns Σ ℓ|x| of the flow that the tree carries for the supplies b, with
// b and the lengths as given and not as rounded. What is left on the edges of the
// artificial root is the rounding of the supplies.
func (s *simplex) cost(b []float64) float64 {
	sub := make([]sum, len(s.nodes))
	for v, x := range b {
		sub[v].add(x)
	}
	root := int32(len(b))
	var total sum
	for _, x := range s.bottomUp() {
		p := s.nodes[x].parent
		if x == root || p == root {
			continue
		}
		e, _ := s.g.Edge(int(x), int(p))
		total.add(e.Length * math.Abs(sub[x].value()))
		sub[p].add(sub[x].value())
	}
	return total.value()
}

// bottomUp returns the nodes ordered by falling depth.
func (s *simplex) bottomUp() []int32 {
	var start []int32
	for _, v := range s.nodes {
		for len(start) <= int(v.depth) {
			start = append(start, 0)
		}
		start[v.depth]++
	}
	end := int32(0)
	for d := len(start) - 1; d >= 0; d-- {
		start[d], end = end, end+start[d]
	}
	order := make([]int32, len(s.nodes))
	for x, v := range s.nodes {
		order[start[v.depth]] = int32(x)
		start[v.depth]++
	}
	return order
}

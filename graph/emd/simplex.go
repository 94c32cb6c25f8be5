// SPDX-License-Identifier: Apache-2.0

package emd

import (
	"context"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/graph"
)

// Supplies and lengths are rounded to whole multiples of powers of two, such that
// no sum of supplies exceeds 2⁶² and no sum of lengths along a tree 2⁵⁹: two
// potentials then differ by at most 2⁶¹.
const (
	supplyBits = 61
	lengthBits = 59
)

// simplex is the primal network simplex method, from the tree in which an
// artificial root is joined to every node by an edge longer than any path within
// the graph (big M): trees stay shallow much longer than from a spanning tree of
// the graph, and a pivot takes time in proportion to the smaller of the
// two subtrees that the leaving edge separates.
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
	links     []links
	potential []int64 // cost of a unit of flow to the root along the tree, up to a common constant
	row       int     // where pricing resumes
	block     int64   // arcs that pricing examines before it takes the worst of them (block search)
}

// node is the edge of a node to its parent, which carries flow ≥ 0.
type node struct {
	flow, length int64
	up           bool // flow runs towards the parent
}

// links are the place of a node in the tree. Siblings form a doubly linked list.
type links struct {
	parent, child, next, prev int32 // none where there is no such node
	size                      int32 // nodes of its subtree
}

// none stands for an absent node in links.
const none = -1

func newSimplex(g *graph.Graph, b []float64) *simplex {
	n := g.Order()
	s := &simplex{g: g, nodes: make([]node, n+1), links: make([]links, n+1), potential: make([]int64, n+1)}
	s.ptr, s.adj, _ = g.CSR()
	s.block = max(64, int64(2*math.Sqrt(float64(len(s.adj)))))
	far := int64(n)
	if !g.UnitLengths() {
		s.length, far = scaledLengths(g), 1<<lengthBits
	}
	root := int32(n)
	s.links[root] = links{none, none, none, none, int32(n + 1)}
	for v, x := range scaledSupplies(b) {
		s.nodes[v] = node{length: far, flow: max(x, -x), up: x >= 0}
		s.links[v] = links{child: none, size: 1}
		s.link(int32(v), root)
		s.potential[v] = s.treePotential(int32(v))
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
	v, above := &s.links[x], &s.links[p]
	v.parent, v.prev, v.next = p, none, above.child
	if above.child != none {
		s.links[above.child].prev = x
	}
	above.child = x
}

// unlink takes x out of the children of its parent.
func (s *simplex) unlink(x int32) {
	v := &s.links[x]
	if v.prev != none {
		s.links[v.prev].next = v.next
	} else {
		s.links[v.parent].child = v.next
	}
	if v.next != none {
		s.links[v.next].prev = v.prev
	}
}

// treePotential returns the potential of x, not the root, that its parent's potential and
// the tree edge between them imply.
func (s *simplex) treePotential(x int32) int64 {
	v := &s.nodes[x]
	if v.up {
		return s.potential[s.links[x].parent] + v.length
	}
	return s.potential[s.links[x].parent] - v.length
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

// price returns the most violated arc of the first block of arcs that has one,
// in the order of the rows, from where the last call stopped (block search pricing).
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

// pivot augments the flow by as much as possible around the cycle that the arc from→to
// closes, and attaches the subtree that the leaving edge cuts off to that arc.
func (s *simplex) pivot(from, to int32, length int64) {
	apex := s.apex(from, to)
	theta, leaving, below := int64(math.MaxInt64), int32(-1), from
	// Of the edges that block, the last one around the cycle, seen from the apex in
	// the direction of the flow, leaves: that keeps the tree strongly feasible.
	for x := from; x != apex; x = s.links[x].parent {
		if v := &s.nodes[x]; v.up && v.flow < theta {
			theta, leaving = v.flow, x
		}
	}
	for x := to; x != apex; x = s.links[x].parent {
		if v := &s.nodes[x]; !v.up && v.flow <= theta {
			theta, leaving, below = v.flow, x, to
		}
	}
	s.augment(from, apex, -theta)
	s.augment(to, apex, theta)
	moved := s.links[leaving].size
	s.resize(s.links[leaving].parent, apex, -moved)
	if below == from {
		s.resize(to, apex, moved)
		s.reroot(from, to, leaving, node{length: length, flow: theta, up: true})
	} else {
		s.resize(from, apex, moved)
		s.reroot(to, from, leaving, node{length: length, flow: theta, up: false})
	}
	s.updatePotentials(below)
}

// apex returns the lowest common ancestor. An ancestor has the larger subtree.
func (s *simplex) apex(a, b int32) int32 {
	for a != b {
		if s.links[a].size <= s.links[b].size {
			a = s.links[a].parent
		} else {
			b = s.links[b].parent
		}
	}
	return a
}

// augment adds a flow of theta from x up to the apex.
func (s *simplex) augment(x, apex int32, theta int64) {
	for ; x != apex; x = s.links[x].parent {
		v := &s.nodes[x]
		if v.up {
			v.flow += theta
		} else {
			v.flow -= theta
		}
	}
}

// resize adds to the sizes from x up to the apex.
func (s *simplex) resize(x, apex, size int32) {
	for ; x != apex; x = s.links[x].parent {
		s.links[x].size += size
	}
}

// reroot cuts the edge from leaving, an ancestor of x or x itself, to its parent, makes x
// the root of the subtree cut off, and x a child of p by the given edge.
func (s *simplex) reroot(x, p, leaving int32, edge node) {
	moved, below := s.links[leaving].size, int32(0)
	for at := x; ; {
		parent := s.links[at].parent
		s.unlink(at)
		s.link(at, p)
		size := &s.links[at].size
		*size, below = moved-below, *size
		s.nodes[at], edge = edge, s.nodes[at]
		if at == leaving {
			return
		}
		edge.up = !edge.up
		p, at = at, parent
	}
}

// updatePotentials shifts the potentials of the subtree of x, or those of all other nodes
// where they are fewer, so that the edge of x fits. The accumulated shifts may pass 2⁶³ and
// wrap around: differences do not.
func (s *simplex) updatePotentials(x int32) {
	delta := s.treePotential(x) - s.potential[x]
	if root := int32(len(s.nodes) - 1); int(s.links[x].size) > len(s.nodes)/2 {
		s.shift(root, x, -delta)
	} else {
		s.shift(x, root, delta)
	}
}

// shift adds delta to the potentials of the subtree of x, in preorder, without the subtree
// of skip.
func (s *simplex) shift(x, skip int32, delta int64) {
	skipped := func(at int32) int32 {
		if at == skip {
			return s.links[at].next
		}
		return at
	}
	for at := x; ; {
		s.potential[at] += delta
		next := skipped(s.links[at].child)
		for ; next == none && at != x; at = s.links[at].parent {
			next = skipped(s.links[at].next)
		}
		if next == none {
			return
		}
		at = next
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
		p := s.links[x].parent
		if x == root || p == root {
			continue
		}
		e, _ := s.g.Edge(int(x), int(p))
		total.add(e.Length * math.Abs(sub[x].value()))
		sub[p].add(sub[x].value())
	}
	return total.value()
}

// bottomUp returns the nodes, each before its parent.
func (s *simplex) bottomUp() []int32 {
	order := append(make([]int32, 0, len(s.nodes)), int32(len(s.nodes)-1))
	for k := 0; k < len(order); k++ {
		for c := s.links[order[k]].child; c != none; c = s.links[c].next {
			order = append(order, c)
		}
	}
	slices.Reverse(order)
	return order
}

// sum adds with Neumaier's compensation: the error is of order one rounding of
// the result, and not of every partial sum.
type sum struct{ s, c float64 }

func (a *sum) add(x float64) {
	t := a.s + x
	if math.Abs(a.s) >= math.Abs(x) {
		a.c += (a.s - t) + x
	} else {
		a.c += (x - t) + a.s
	}
	a.s = t
}

func (a *sum) value() float64 { return a.s + a.c }

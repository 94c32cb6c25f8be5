// SPDX-License-Identifier: Apache-2.0

package emd

import (
	"context"
	"math"

	"github.com/graphcloak/graphcloak/graph"
)

// headroom bounds the sums of supplies and of lengths, which are rounded to
// whole multiples of a power of two: no sum of the simplex exceeds 2⁶².
const headroom = 61

// simplex is the primal network simplex method on a spanning forest of the
// graph. Every edge can carry flow both ways, so any spanning forest is feasible
// and no artificial arc is needed.
//
// Supplies and lengths are integers, and the tree stays strongly feasible (an
// edge without flow points at the root), so that the method ends: Cunningham, A
// network simplex method, Mathematical Programming 11 (1976). The tree is optimal
// for the rounded data; cost then evaluates it on the data as given.
type simplex struct {
	g      *graph.Graph
	ptr    []int64
	adj    []int32
	length []int64 // beside adj; nil: all 1

	// The edge between v and parent[v] has length upLength[v] and carries flow[v] ≥
	// 0, towards the parent where up[v], else away from it. A root has parent −1.
	parent, depth     []int32
	child, next, prev []int32 // the children of a node, as a doubly linked list
	up                []bool
	upLength, flow    []int64
	potential         []int64 // cost of carrying a unit to the root along the tree

	row   int   // where pricing goes on
	block int64 // slots that pricing looks at before it settles
}

func newSimplex(g *graph.Graph, b []float64) *simplex {
	n := g.Order()
	s := &simplex{g: g, length: scaledLengths(g)}
	s.ptr, s.adj, _ = g.CSR()
	s.parent, s.depth = make([]int32, n), make([]int32, n)
	s.child, s.next, s.prev = filled(n), filled(n), filled(n)
	s.up = make([]bool, n)
	s.upLength, s.flow, s.potential = make([]int64, n), make([]int64, n), make([]int64, n)
	s.block = max(64, int64(math.Sqrt(float64(len(s.adj)))))

	order := s.spanningForest()
	sub := scaledSupplies(b)
	for i := n - 1; i >= 0; i-- {
		v := order[i]
		p := s.parent[v]
		if p < 0 {
			continue // the root takes up what rounding left over
		}
		sub[p] += sub[v]
		s.up[v] = sub[v] >= 0
		s.flow[v] = max(sub[v], -sub[v])
	}
	for _, v := range order {
		s.settle(v)
	}
	return s
}

func filled(n int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = -1
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
		s[i] = int64(math.RoundToEven(math.Ldexp(x, headroom-e)))
	}
	return s
}

// scaledLengths rounds the lengths to positive multiples of a power of two, such
// that no path of a spanning tree overflows. Lengths in hops stay as they are.
func scaledLengths(g *graph.Graph) []int64 {
	length := g.Lengths()
	if length == nil {
		return nil
	}
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
		s[k] = max(1, int64(math.RoundToEven(math.Ldexp(l/longest, headroom-e))))
	}
	return s
}

// spanningForest links a breadth-first forest and returns the nodes in its order.
func (s *simplex) spanningForest() []int32 {
	n := s.g.Order()
	order := make([]int32, 0, n)
	seen := make([]bool, n)
	for root := range n {
		if seen[root] {
			continue
		}
		seen[root], s.parent[root] = true, -1
		order = append(order, int32(root))
		for at := len(order) - 1; at < len(order); at++ {
			u := order[at]
			for k := s.ptr[u]; k < s.ptr[u+1]; k++ {
				if v := s.adj[k]; !seen[v] {
					seen[v] = true
					s.link(v, u)
					s.upLength[v] = s.lengthAt(k)
					order = append(order, v)
				}
			}
		}
	}
	return order
}

func (s *simplex) lengthAt(k int64) int64 {
	if s.length == nil {
		return 1
	}
	return s.length[k]
}

// link makes v a child of p.
func (s *simplex) link(v, p int32) {
	s.parent[v], s.prev[v], s.next[v] = p, -1, s.child[p]
	if c := s.child[p]; c >= 0 {
		s.prev[c] = v
	}
	s.child[p] = v
}

// unlink takes v out of the children of its parent.
func (s *simplex) unlink(v int32) {
	if s.prev[v] >= 0 {
		s.next[s.prev[v]] = s.next[v]
	} else {
		s.child[s.parent[v]] = s.next[v]
	}
	if s.next[v] >= 0 {
		s.prev[s.next[v]] = s.prev[v]
	}
}

// settle computes depth and potential of v from those of its parent.
func (s *simplex) settle(v int32) {
	p := s.parent[v]
	if p < 0 {
		return
	}
	s.depth[v] = s.depth[p] + 1
	if s.up[v] {
		s.potential[v] = s.potential[p] + s.upLength[v]
	} else {
		s.potential[v] = s.potential[p] - s.upLength[v]
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
	for x := from; x != apex; x = s.parent[x] {
		if s.up[x] && s.flow[x] < theta {
			theta, leaving = s.flow[x], x
		}
	}
	for x := to; x != apex; x = s.parent[x] {
		if !s.up[x] && s.flow[x] <= theta {
			theta, leaving, below = s.flow[x], x, to
		}
	}
	for x := from; x != apex; x = s.parent[x] {
		s.push(x, !s.up[x], theta)
	}
	for x := to; x != apex; x = s.parent[x] {
		s.push(x, s.up[x], theta)
	}
	if below == from {
		s.hang(from, to, leaving, length, theta, true)
	} else {
		s.hang(to, from, leaving, length, theta, false)
	}
}

// apex returns the node where the ways to the root meet.
func (s *simplex) apex(a, b int32) int32 {
	for a != b {
		if s.depth[a] >= s.depth[b] {
			a = s.parent[a]
		} else {
			b = s.parent[b]
		}
	}
	return a
}

func (s *simplex) push(x int32, along bool, theta int64) {
	if along {
		s.flow[x] += theta
	} else {
		s.flow[x] -= theta
	}
}

// hang cuts the edge above leaving, an ancestor of v or v itself, and makes v a
// child of p by an edge of the given length, flow and direction.
func (s *simplex) hang(v, p, leaving int32, length, flow int64, up bool) {
	for x := v; ; {
		above, l, f, d := s.parent[x], s.upLength[x], s.flow[x], s.up[x]
		s.unlink(x)
		s.link(x, p)
		s.upLength[x], s.flow[x], s.up[x] = length, flow, up
		if x == leaving {
			break
		}
		p, x, length, flow, up = x, above, l, f, !d
	}
	s.settleBelow(v)
}

// settleBelow settles v and all below it, in preorder.
func (s *simplex) settleBelow(v int32) {
	for x := v; ; {
		s.settle(x)
		if c := s.child[x]; c >= 0 {
			x = c
			continue
		}
		for x != v && s.next[x] < 0 {
			x = s.parent[x]
		}
		if x == v {
			return
		}
		x = s.next[x]
	}
}

// cost returns Σ ℓ|x| of the flow that the tree carries for the supplies b, with
// b and the lengths as given and not as rounded.
func (s *simplex) cost(b []float64) float64 {
	sub := make([]sum, len(b))
	for v, x := range b {
		sub[v].add(x)
	}
	var total sum
	for _, v := range s.bottomUp() {
		p := s.parent[v]
		if p < 0 {
			continue
		}
		x := sub[v].value()
		sub[p].add(sub[v].s)
		sub[p].add(sub[v].c)
		e, _ := s.g.Edge(int(v), int(p))
		total.add(e.Length * math.Abs(x))
	}
	return total.value()
}

// bottomUp returns the nodes ordered by falling depth.
func (s *simplex) bottomUp() []int32 {
	var start []int32
	for _, d := range s.depth {
		for len(start) <= int(d) {
			start = append(start, 0)
		}
		start[d]++
	}
	end := int32(0)
	for d := len(start) - 1; d >= 0; d-- {
		start[d], end = end, end+start[d]
	}
	order := make([]int32, len(s.depth))
	for v, d := range s.depth {
		order[start[d]] = int32(v)
		start[d]++
	}
	return order
}

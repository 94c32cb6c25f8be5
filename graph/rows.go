// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// chunkSize is the number of relationships in one chunk: large enough to make chunks
// few, small enough to waste little in the last.
const chunkSize = 1 << 16

// edgeChunk holds relationships in the order of arrival.
type edgeChunk struct {
	src, dst []int32
	weight   []float64 // nil until a weight differs from 1
	length   []float64 // nil until a length differs from 1
}

func newEdgeChunk(full bool) edgeChunk {
	if !full {
		return edgeChunk{}
	}
	return edgeChunk{src: make([]int32, 0, chunkSize), dst: make([]int32, 0, chunkSize)}
}

func (p *edgeChunk) add(u, v int32, weight, length float64) {
	p.weight = appendUnlessOne(p.weight, weight, len(p.src), cap(p.src))
	p.length = appendUnlessOne(p.length, length, len(p.src), cap(p.src))
	p.src = append(p.src, u)
	p.dst = append(p.dst, v)
}

// appendUnlessOne keeps s nil while all its n values are 1.
func appendUnlessOne(s []float64, x float64, n, capacity int) []float64 {
	if s == nil {
		if x == 1 {
			return nil
		}
		s = ones(n, capacity)
	}
	return append(s, x)
}

func ones(n, capacity int) []float64 {
	s := make([]float64, n, capacity)
	for i := range s {
		s[i] = 1
	}
	return s
}

// fill stores every relationship in both its rows, unsorted, and releases each chunk
// once it is stored. A nil rank leaves the nodes in place.
func (g *Graph) fill(pieces []edgeChunk, rank []int32) {
	n := g.Order()
	g.ptr = make([]int64, n+1)
	weighted, measured := false, false
	for _, p := range pieces {
		weighted, measured = weighted || p.weight != nil, measured || p.length != nil
		for k := range p.src {
			if rank != nil {
				p.src[k], p.dst[k] = rank[p.src[k]], rank[p.dst[k]]
			}
			g.ptr[p.src[k]+1]++
			g.ptr[p.dst[k]+1]++
		}
	}
	for i := range n {
		g.ptr[i+1] += g.ptr[i]
	}
	g.adj = make([]int32, g.ptr[n])
	if weighted {
		g.weight = make([]float64, len(g.adj))
	}
	if measured {
		g.length = make([]float64, len(g.adj))
	}
	next := slices.Clone(g.ptr[:n])
	for i, p := range pieces {
		for k, u := range p.src {
			v := p.dst[k]
			x, y := next[u], next[v]
			next[u]++
			next[v]++
			g.adj[x], g.adj[y] = v, u
			if weighted {
				w := oneOr(p.weight, k)
				g.weight[x], g.weight[y] = w, w
			}
			if measured {
				l := oneOr(p.length, k)
				g.length[x], g.length[y] = l, l
			}
		}
		pieces[i] = edgeChunk{}
	}
}

func oneOr(s []float64, k int) float64 {
	if s == nil {
		return 1
	}
	return s[k]
}

// sortRows sorts each row by neighbour and says whether any neighbour stands
// twice in a row.
func (g *Graph) sortRows() (parallel bool) {
	var s sorter
	for i := range g.Order() {
		begin, end := g.ptr[i], g.ptr[i+1]
		row := g.adj[begin:end]
		if g.weight == nil && g.length == nil {
			slices.Sort(row)
		} else if !slices.IsSorted(row) {
			s.sort(row)
			s.permute(g.weight, begin)
			s.permute(g.length, begin)
		}
		for k := 1; k < len(row) && !parallel; k++ {
			parallel = row[k] == row[k-1]
		}
	}
	return parallel
}

// sorter sorts one row after the other in the same space.
type sorter struct {
	keys   []uint64 // neighbour, then place before sorting
	values []float64
}

func (s *sorter) sort(row []int32) {
	s.keys = s.keys[:0]
	for k, v := range row {
		s.keys = append(s.keys, uint64(v)<<32|uint64(k))
	}
	slices.Sort(s.keys)
	for k, key := range s.keys {
		row[k] = int32(key >> 32)
	}
}

// permute brings the values that start at begin into the order of the last sort.
func (s *sorter) permute(values []float64, begin int64) {
	if values == nil {
		return
	}
	values = values[begin : begin+int64(len(s.keys))]
	s.values = append(s.values[:0], values...)
	for k, key := range s.keys {
		values[k] = s.values[uint32(key)]
	}
}

// merge makes one of parallel relationships, in place; rows are sorted.
func (g *Graph) merge(a Aggregation) error {
	if g.weight == nil && (a == Sum || a == Count) {
		g.weight = ones(len(g.adj), len(g.adj))
	}
	next, begin := int64(0), int64(0)
	for i := range g.Order() {
		end := g.ptr[i+1]
		for k := begin; k < end; {
			col, run := g.adj[k], k+1
			for run < end && g.adj[run] == col {
				run++
			}
			if run > k+1 && a == None {
				return fmt.Errorf("%w between %q and %q", ErrParallel, clip(g.ID(i)), clip(g.ID(int(col))))
			}
			g.dropped.Parallel += int(run - k - 1)
			g.adj[next] = col
			if g.weight != nil {
				g.weight[next] = g.weight[k]
				if run > k+1 {
					g.weight[next] = combine(g.weight[k:run], a)
				}
				if math.IsInf(g.weight[next], 1) {
					return fmt.Errorf("%w: the sum between %q and %q overflows", ErrBadWeight, clip(g.ID(i)), clip(g.ID(int(col))))
				}
			}
			if g.length != nil {
				g.length[next] = slices.Min(g.length[k:run])
			}
			next++
			k = run
		}
		begin, g.ptr[i+1] = end, next
	}
	g.dropped.Parallel /= 2 // every relationship stands in two rows
	g.adj = g.adj[:next:next]
	if g.weight != nil {
		g.weight = g.weight[:next:next]
	}
	if g.length != nil {
		g.length = g.length[:next:next]
	}
	return nil
}

// combine merges the weights of parallel relationships. It adds them in
// ascending order, so that the sum has the same bits in both rows and in
// whatever order the relationships came.
func combine(parallel []float64, a Aggregation) float64 {
	switch a {
	case Count:
		return float64(len(parallel))
	case Max:
		return slices.Max(parallel)
	case Sum:
		slices.SortFunc(parallel, cmp.Compare[float64])
		sum := 0.0
		for _, w := range parallel {
			sum += w
		}
		return sum
	default: // Min, and Single, which is Min so that order does not matter
		return slices.Min(parallel)
	}
}

// dropOnes returns nil where all values are 1, so that equal graphs are stored alike.
func dropOnes(s []float64) []float64 {
	if !slices.ContainsFunc(s, func(x float64) bool { return x != 1 }) {
		return nil
	}
	return s
}

// dropIsolated leaves out the nodes without neighbours.
func (g *Graph) dropIsolated() {
	rank, ids := make([]int32, g.Order()), []ID(nil)
	for i := range rank {
		if g.Degree(i) == 0 {
			continue
		}
		rank[i], ids = int32(len(ids)), append(ids, g.ID(i))
		g.ptr[len(ids)] = g.ptr[i+1] // of a node at or behind it
	}
	if g.dropped.Isolated = g.Order() - len(ids); g.dropped.Isolated == 0 {
		return
	}
	g.setIDs(ids)
	g.ptr = g.ptr[: len(ids)+1 : len(ids)+1]
	for k, v := range g.adj {
		g.adj[k] = rank[v]
	}
}

// clip keeps an error message readable when an id is huge.
func clip(id ID) ID {
	if len(id) <= 80 {
		return id
	}
	return id[:80] + "…"
}

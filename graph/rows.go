// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"unsafe"
)

// Memory hands out memory for arrays of numbers that are large where a graph is.
type Memory interface {
	Get(bytes int) ([]byte, error) // zeros, at an address that is a multiple of 8
	Put(memory []byte) error       // takes back all that Get gave
}

// array returns n zeros and room for more.
func array[T [2]int32 | int32 | float64](m Memory, n, capacity int) ([]T, error) {
	if m == nil || capacity == 0 {
		return make([]T, n, capacity), nil
	}
	var size T
	memory, err := m.Get(capacity * int(unsafe.Sizeof(size)))
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(memory))), capacity)[:n], nil
}

// giveBack gives back what array returned.
func giveBack[T [2]int32 | int32 | float64](m Memory, s []T) error {
	if m == nil || cap(s) == 0 {
		return nil
	}
	var size T
	return m.Put(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), cap(s)*int(unsafe.Sizeof(size))))
}

// ones returns n values of 1 and room for more.
func ones(m Memory, n, capacity int) ([]float64, error) {
	s, err := array[float64](m, n, capacity)
	for i := range s {
		s[i] = 1
	}
	return s, err
}

// chunkSize is the number of relationships in one chunk: large enough to make chunks
// few, small enough to waste little in the last.
const chunkSize = 1 << 16

// edgeChunk holds relationships in the order of arrival.
type edgeChunk struct {
	ends   [][2]int32
	weight []float64 // nil until a weight differs from 1
	length []float64 // nil until a length differs from 1
}

// newEdgeChunk takes memory of the heap bit by bit for the first chunk, for most graphs are small.
func newEdgeChunk(m Memory, first bool) (p edgeChunk, err error) {
	if m != nil || !first {
		p.ends, err = array[[2]int32](m, 0, chunkSize)
	}
	return p, err
}

func (p *edgeChunk) add(m Memory, ends [2]int32, weight, length float64) (err error) {
	n := len(p.ends)
	p.ends = append(p.ends, ends)
	if p.weight, err = appendUnlessOne(m, p.weight, weight, n, cap(p.ends)); err != nil {
		return err
	}
	p.length, err = appendUnlessOne(m, p.length, length, n, cap(p.ends))
	return err
}

// appendUnlessOne keeps s nil while all its n values are 1.
func appendUnlessOne(m Memory, s []float64, x float64, n, capacity int) ([]float64, error) {
	if s == nil {
		if x == 1 {
			return nil, nil
		}
		var err error
		if s, err = ones(m, n, capacity); err != nil {
			return nil, err
		}
	}
	return append(s, x), nil
}

// fill stores every relationship in both its rows, unsorted, and gives each chunk
// back once it is stored. A nil rank leaves the nodes in place.
func (g *Graph) fill(chunks []edgeChunk, rank []int32, m Memory) (err error) {
	n := g.Order()
	g.ptr = make([]int64, n+1)
	weighted, measured := false, false
	for _, p := range chunks {
		weighted, measured = weighted || p.weight != nil, measured || p.length != nil
		for k, e := range p.ends {
			if rank != nil {
				e = [2]int32{rank[e[0]], rank[e[1]]}
				p.ends[k] = e
			}
			g.ptr[e[0]+1]++
			g.ptr[e[1]+1]++
		}
	}
	for i := range n {
		g.ptr[i+1] += g.ptr[i]
	}
	entries := int(g.ptr[n])
	if g.adj, err = array[int32](m, entries, entries); err != nil {
		return err
	}
	if weighted {
		if g.weight, err = array[float64](m, entries, entries); err != nil {
			return err
		}
	}
	if measured {
		if g.length, err = array[float64](m, entries, entries); err != nil {
			return err
		}
	}
	next := slices.Clone(g.ptr[:n])
	for i, p := range chunks {
		for k, e := range p.ends {
			u, v := e[0], e[1]
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
		chunks[i] = edgeChunk{}
		if err := errors.Join(giveBack(m, p.ends), giveBack(m, p.weight), giveBack(m, p.length)); err != nil {
			return err
		}
	}
	return nil
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
func (g *Graph) merge(a Aggregation, m Memory) (err error) {
	if g.weight == nil && (a == Sum || a == Count) {
		if g.weight, err = ones(m, len(g.adj), len(g.adj)); err != nil {
			return err
		}
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
	rank, ids := make([]int32, g.Order()), list{ends: []int64{0}}
	for i := range rank {
		if g.Degree(i) == 0 {
			continue
		}
		rank[i] = int32(ids.Len())
		ids.append(g.ID(i))
		g.ptr[ids.Len()] = g.ptr[i+1] // of a node at or behind it
	}
	if g.dropped.Isolated = g.Order() - ids.Len(); g.dropped.Isolated == 0 {
		return
	}
	g.ids = ids
	g.ptr = g.ptr[: ids.Len()+1 : ids.Len()+1]
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

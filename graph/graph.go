// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"iter"
	"math"
	"sort"
	"sync"
)

// Edge joins the nodes U < V.
type Edge struct {
	U, V   int
	Weight float64
	Length float64
}

// Dropped counts what the builder left out or merged.
type Dropped struct {
	SelfLoops int // relationships from a node to itself
	Parallel  int // relationships merged into another between the same two nodes
	Isolated  int // nodes without a relationship
}

// Graph is an immutable undirected graph without self-loops or parallel edges.
type Graph struct {
	ids     list // in ascending order
	ptr     []int64
	adj     []int32
	weight  []float64 // nil: every weight is 1
	length  []float64 // nil: every length is 1
	dropped Dropped

	componentsOnce sync.Once
	labels         []int32
	sizes          []int

	digestOnce sync.Once
	digest     [32]byte
}

// Order returns n, the number of nodes.
func (g *Graph) Order() int { return g.ids.Len() }

// Size returns the number of undirected edges.
func (g *Graph) Size() int { return len(g.adj) / 2 }

// Dropped says what the builder left out.
func (g *Graph) Dropped() Dropped { return g.dropped }

// ID returns the id of node i.
func (g *Graph) ID(i int) ID { return g.ids.At(i) }

// Index returns the number of the node with this id, in O(log n).
func (g *Graph) Index(id ID) (int, bool) {
	return sort.Find(g.Order(), func(i int) int { return compareIDs(id, g.ID(i)) })
}

// Degree returns the number of neighbours of node i.
func (g *Graph) Degree(i int) int { return int(g.ptr[i+1] - g.ptr[i]) }

// Neighbors returns the neighbours of node i in ascending order. The caller must
// not change the slice.
func (g *Graph) Neighbors(i int) []int32 { return g.adj[g.ptr[i]:g.ptr[i+1]] }

// CSR returns the rows as they are stored: row i is adj[ptr[i]:ptr[i+1]], and
// weight runs beside adj, or is nil where every weight is 1. The caller must not
// change the slices.
func (g *Graph) CSR() (ptr []int64, adj []int32, weight []float64) {
	return g.ptr, g.adj, g.weight
}

// Lengths returns the lengths that run beside adj of [Graph.CSR], or nil where
// every length is 1. The caller must not change the slice.
func (g *Graph) Lengths() []float64 { return g.length }

// Unweighted reports whether every weight is 1.
func (g *Graph) Unweighted() bool { return g.weight == nil }

// UnitLengths reports whether every length is 1, so that distance counts hops.
func (g *Graph) UnitLengths() bool { return g.length == nil }

// Edges yields every edge once, U < V, in ascending order of (U, V).
func (g *Graph) Edges() iter.Seq[Edge] {
	return func(yield func(Edge) bool) {
		for u := range g.Order() {
			for k := g.ptr[u]; k < g.ptr[u+1]; k++ {
				if v := int(g.adj[k]); v > u && !yield(g.edge(u, v, k)) {
					return
				}
			}
		}
	}
}

// Edge returns the edge between u and v, in O(log degree).
func (g *Graph) Edge(u, v int) (Edge, bool) {
	if u > v {
		u, v = v, u
	}
	row := g.Neighbors(u)
	k, ok := sort.Find(len(row), func(k int) int { return cmp.Compare(v, int(row[k])) })
	if !ok {
		return Edge{}, false
	}
	return g.edge(u, v, g.ptr[u]+int64(k)), true
}

func (g *Graph) edge(u, v int, k int64) Edge {
	e := Edge{U: u, V: v, Weight: 1, Length: 1}
	if g.weight != nil {
		e.Weight = g.weight[k]
	}
	if g.length != nil {
		e.Length = g.length[k]
	}
	return e
}

// Components returns the connected component of each node and the size of each
// component. Components are numbered by their lowest node. The caller must not
// change the slices.
func (g *Graph) Components() (labels []int32, sizes []int) {
	g.componentsOnce.Do(func() {
		g.labels = make([]int32, g.Order())
		for i := range g.labels {
			g.labels[i] = -1
		}
		var stack []int32
		for i := range g.labels {
			if g.labels[i] >= 0 {
				continue
			}
			c := int32(len(g.sizes))
			size := 0
			g.labels[i] = c
			stack = append(stack[:0], int32(i))
			for len(stack) > 0 {
				u := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				size++
				for _, v := range g.Neighbors(int(u)) {
					if g.labels[v] < 0 {
						g.labels[v] = c
						stack = append(stack, v)
					}
				}
			}
			g.sizes = append(g.sizes, size)
		}
	})
	return g.labels, g.sizes
}

// Digest returns SHA-256 over the ids, edges, weights and lengths. Two graphs
// with one digest have the same operator and the same metric.
func (g *Graph) Digest() [32]byte {
	g.digestOnce.Do(func() {
		w := digestWriter{h: sha256.New()}
		w.bytes("graphcloak/graph/v1")
		w.uint64(uint64(g.Order()))
		for i := range g.Order() {
			w.bytes(string(g.ID(i)))
		}
		w.uint64(uint64(g.Size()))
		for e := range g.Edges() {
			w.uint64(uint64(e.U)<<32 | uint64(e.V))
			w.uint64(math.Float64bits(e.Weight))
			w.uint64(math.Float64bits(e.Length))
		}
		w.flush()
		w.h.Sum(g.digest[:0])
	})
	return g.digest
}

// digestWriter feeds a hash in large pieces.
type digestWriter struct {
	h   hash.Hash
	buf []byte
}

func (w *digestWriter) uint64(x uint64) {
	w.buf = binary.BigEndian.AppendUint64(w.buf, x)
	if len(w.buf) >= 1<<15 {
		w.flush()
	}
}

// bytes writes s behind its length, so that no two sequences of strings collide.
func (w *digestWriter) bytes(s string) {
	w.uint64(uint64(len(s)))
	w.buf = append(w.buf, s...)
}

func (w *digestWriter) flush() {
	w.h.Write(w.buf)
	w.buf = w.buf[:0]
}

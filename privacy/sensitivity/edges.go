// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"iter"
	"slices"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// edge is an edge with B_uv, its entry of S, and α/length.
type edge struct {
	u, v  int32
	b     float64
	scale float64
}

// edgeList is the edges by their ends. What all have in common is stored once.
type edgeList struct {
	ends  [][2]int32
	b     []float64 // nil: all 1
	scale []float64 // nil: all alpha
	alpha float64
}

func (l *edgeList) len() int { return len(l.ends) }

// at returns edge i.
func (l *edgeList) at(i int32) edge {
	e := edge{l.ends[i][0], l.ends[i][1], 1, l.alpha}
	if l.b != nil {
		e.b = l.b[i]
	}
	if l.scale != nil {
		e.scale = l.scale[i]
	}
	return e
}

// all yields the edges with their numbers.
func (l *edgeList) all() iter.Seq2[int, edge] {
	return func(yield func(int, edge) bool) {
		for i := range l.ends {
			if !yield(i, l.at(int32(i))) {
				return
			}
		}
	}
}

// newEdgeList lists the edges of the model by their ends.
func newEdgeList(m Model) edgeList {
	ptr, adj, val, _ := m.Laplacian.CSR()
	n := m.Graph.Order()
	first := make([]int, n+1) // edges at lower ends below a node
	parallel.Rows(n, 16, func(lo, hi int) {
		for u := lo; u < hi; u++ {
			row := adj[ptr[u]:ptr[u+1]]
			lower, _ := slices.BinarySearch(row, int32(u))
			first[u+1] = len(row) - lower
		}
	})
	for u := range n {
		first[u+1] += first[u]
	}
	l := edgeList{ends: make([][2]int32, first[n]), alpha: m.Alpha}
	if val != nil {
		l.b = make([]float64, first[n])
	}
	if !m.Graph.UnitLengths() {
		l.scale = make([]float64, first[n])
	}
	parallel.Rows(n, 2+2*len(adj)/max(1, n), func(lo, hi int) {
		for u := lo; u < hi; u++ {
			from, to := first[u], first[u+1]
			k := ptr[u+1] - int64(to-from)
			for i := from; i < to; i, k = i+1, k+1 {
				l.ends[i] = [2]int32{int32(u), adj[k]}
				if val != nil {
					l.b[i] = val[k]
				}
				if l.scale != nil {
					e, _ := m.Graph.Edge(u, int(adj[k]))
					l.scale[i] = m.Scale(e)
				}
			}
		}
	})
	return l
}

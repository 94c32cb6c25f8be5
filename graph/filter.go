// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"math"
)

// FilterEdges returns the spanning subgraph with the edges for which keep is true.
// It calls keep once for each edge, U < V.
func (g *Graph) FilterEdges(keep func(e Edge) bool) *Graph {
	out := &Graph{ids: g.ids, ptr: make([]int64, len(g.ptr))}
	kept := make(map[[2]int]bool, g.Size())
	for e := range g.Edges() {
		kept[[2]int{e.U, e.V}] = keep(e)
	}
	for i := range g.Order() {
		for k := g.ptr[i]; k < g.ptr[i+1]; k++ {
			if j := int(g.adj[k]); !kept[[2]int{min(i, j), max(i, j)}] {
				continue
			}
			out.adj = append(out.adj, g.adj[k])
			if g.weight != nil {
				out.weight = append(out.weight, g.weight[k])
			}
			if g.length != nil {
				out.length = append(out.length, g.length[k])
			}
		}
		out.ptr[i+1] = int64(len(out.adj))
	}
	return out
}

// Reweigh returns the graph with other weights. It calls weight once for each edge, U < V,
// in their order, and returns [ErrBadWeight] for what is no positive finite number.
func (g *Graph) Reweigh(weight func(e Edge) float64) (*Graph, error) {
	out := &Graph{ids: g.ids, ptr: g.ptr, adj: g.adj, length: g.length, weight: make([]float64, len(g.adj))}
	weights := make(map[[2]int]float64, g.Size())
	for e := range g.Edges() {
		w := weight(e)
		if !(w > 0 && w <= math.MaxFloat64) {
			return nil, fmt.Errorf("%w: %v", ErrBadWeight, w)
		}
		weights[[2]int{e.U, e.V}] = w
	}
	for i := range g.Order() {
		for k := g.ptr[i]; k < g.ptr[i+1]; k++ {
			j := int(g.adj[k])
			out.weight[k] = weights[[2]int{min(i, j), max(i, j)}]
		}
	}
	return out, nil
}

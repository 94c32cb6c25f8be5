// SPDX-License-Identifier: Apache-2.0

package graph

// FilterEdges returns the spanning subgraph with the edges for which keep is true. It
// calls keep once for each edge, U < V.
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

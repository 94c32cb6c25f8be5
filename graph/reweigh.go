// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"math"
)

// Reweigh returns the graph with other weights; one of 0 leaves the edge out. It calls weight once for each edge, U < V,
// in their order, and returns [ErrBadWeight] for what is negative or not finite.
func (g *Graph) Reweigh(weight func(e Edge) float64) (*Graph, error) {
	b := Builder{Aggregation: None, ids: IDs{list: g.ids}}
	for e := range g.Edges() {
		w := weight(e)
		if !(w >= 0 && w <= math.MaxFloat64) {
			return nil, fmt.Errorf("%w: %v", ErrBadWeight, w)
		}
		if w > 0 {
			b.add(e.U, e.V, w, e.Length)
		}
	}
	return b.Graph()
}

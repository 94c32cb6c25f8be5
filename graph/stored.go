// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"errors"
	"fmt"
	"math"
)

// ErrStored says that what was stored is no graph.
var ErrStored = errors.New("graph: what was stored is no graph")

// Stored is a graph of n nodes and m edges as its slices: that of a file can be mapped into memory.
type Stored struct {
	Names   []byte    // the ids in the order of the nodes, one behind the other
	Ends    []int64   // n+1; the id of node i is Names[Ends[i]:Ends[i+1]]
	Ptr     []int64   // n+1; row i is Adj[Ptr[i]:Ptr[i+1]]
	Adj     []int32   // 2m; each row ascends
	Weight  []float64 // 2m, or nil: every weight is 1
	Length  []float64 // 2m, or nil: every length is 1
	Dropped Dropped
}

// Stored returns the graph's own slices. The caller must not change them.
func (g *Graph) Stored() Stored {
	return Stored{g.ids.text, g.ids.ends, g.ptr, g.adj, g.weight, g.length, g.dropped}
}

// Restore returns the graph of these slices and keeps them. It looks at every entry, in O(n + m) time and 8n bytes, and returns
// [ErrStored] unless ids ascend and the rows are those of an undirected graph with positive finite weights and lengths.
func Restore(s Stored) (*Graph, error) {
	n := len(s.Ends) - 1
	if n < 0 || n > math.MaxInt32 || len(s.Ptr) != n+1 || s.Weight != nil && len(s.Weight) != len(s.Adj) ||
		s.Length != nil && len(s.Length) != len(s.Adj) {
		return nil, fmt.Errorf("%w: %d ids, %d rows, %d entries, %d weights and %d lengths", ErrStored, n, len(s.Ptr)-1, len(s.Adj),
			len(s.Weight), len(s.Length))
	}
	if !cuts(s.Ends, len(s.Names)) || !cuts(s.Ptr, len(s.Adj)) {
		return nil, fmt.Errorf("%w: its ids or rows overlap", ErrStored)
	}
	g := &Graph{ids: list{s.Names, s.Ends}, ptr: s.Ptr, adj: s.Adj, weight: s.Weight, length: s.Length, dropped: s.Dropped}
	if !g.ids.ascends() {
		return nil, fmt.Errorf("%w: its ids do not ascend", ErrStored)
	}
	return g, g.checkRows()
}

// cuts reports whether places ascend from 0 to an end.
func cuts(places []int64, end int) bool {
	for i := 1; i < len(places); i++ {
		if places[i] < places[i-1] {
			return false
		}
	}
	return places[0] == 0 && places[len(places)-1] == int64(end)
}

// checkRows makes sure that every edge stands in both its rows alike. Row u meets the rows before it in ascending order, so that
// the entries of a row that are below it are met one after the other.
func (g *Graph) checkRows() error {
	met := make([]int64, g.Order()) // of each row
	copy(met, g.ptr)
	for u := range g.Order() {
		for k := met[u]; k < g.ptr[u+1]; k++ { // those before belong to rows before
			v := int(g.adj[k])
			if v <= u || v >= g.Order() || k > met[u] && v <= int(g.adj[k-1]) {
				return fmt.Errorf("%w: row %d does not ascend, or does not say what the others do", ErrStored, u)
			}
			back := met[v]
			met[v]++
			if back == g.ptr[v+1] || int(g.adj[back]) != u || !same(g.weight, k, back) || !same(g.length, k, back) {
				return fmt.Errorf("%w: rows %d and %d say different things of their edge", ErrStored, u, v)
			}
		}
	}
	return nil
}

// same reports whether two entries of values are one positive finite number.
func same(values []float64, k, l int64) bool {
	return values == nil || values[k] == values[l] && values[k] > 0 && values[k] <= math.MaxFloat64
}

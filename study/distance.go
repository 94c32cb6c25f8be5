// SPDX-License-Identifier: Apache-2.0

package study

import (
	"container/heap"
	"math"

	"github.com/graphcloak/graphcloak/graph"
)

// meanDistance returns the earth mover's distance between a distribution and the
// unit mass at a node, Σ p_i·d(i, source): all mass moves to one place, so that
// there is nothing to choose. Mass in other components, to which there is no way, is
// left out: see unreached.
func meanDistance(g *graph.Graph, source int, p []float64) float64 {
	return meanOver(distances(g, source), p)
}

// meanOver is meanDistance for distances that are known, and any mass p ≥ 0.
func meanOver(d, p []float64) float64 {
	var sum, mass float64
	for i, x := range p {
		if !math.IsInf(d[i], 1) {
			sum, mass = sum+x*d[i], mass+x
		}
	}
	if mass == 0 {
		return 0
	}
	return sum / mass
}

// unreached is the share of a distribution at infinite distances.
func unreached(d, p []float64) (share float64) {
	for i, x := range p {
		if math.IsInf(d[i], 1) {
			share += x
		}
	}
	return min(1, share)
}

// distances returns the length of a shortest path from the source to each node, by
// Dijkstra's algorithm; +Inf in other components.
func distances(g *graph.Graph, source int) []float64 {
	d := make([]float64, g.Order())
	for i := range d {
		d[i] = math.Inf(1)
	}
	ptr, adj, _ := g.CSR()
	lengths := g.Lengths()
	d[source] = 0
	open := &queue{{source, 0}}
	for open.Len() > 0 {
		at := heap.Pop(open).(entry)
		if at.distance > d[at.node] {
			continue
		}
		for k := ptr[at.node]; k < ptr[at.node+1]; k++ {
			length := 1.0
			if lengths != nil {
				length = lengths[k]
			}
			if to := int(adj[k]); at.distance+length < d[to] {
				d[to] = at.distance + length
				heap.Push(open, entry{to, d[to]})
			}
		}
	}
	return d
}

type entry struct {
	node     int
	distance float64
}

// queue is a heap of entries by distance.
type queue []entry

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].distance < q[j].distance }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(entry)) }
func (q *queue) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}

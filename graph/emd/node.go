// SPDX-License-Identifier: Apache-2.0

package emd

import (
	"container/heap"
	"math"

	"github.com/graphcloak/graphcloak/graph"
)

// ToNode returns the earth mover's distance from p to the same mass at one node, divided
// by the mass: Σ p_i·d_i/Σ p_i, as the only transport plan moves all mass to that node. d are the [Lengths] of shortest paths from that
// node, and p is ≥ 0.
// Mass at d_i = +Inf, in other components, cannot reach it: it is left out of the distance, and
// elsewhere is its sum, at most 1.
func ToNode(d, p []float64) (distance, elsewhere float64) {
	var sum, mass float64
	for i, x := range p {
		if math.IsInf(d[i], 1) {
			elsewhere += x
		} else {
			sum, mass = sum+x*d[i], mass+x
		}
	}
	if mass > 0 {
		distance = sum / mass
	}
	return distance, min(1, elsewhere)
}

// Lengths returns the length of a shortest path from the source to each node, by
// Dijkstra's algorithm; +Inf in other components.
func Lengths(g *graph.Graph, source int) []float64 {
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

// SPDX-License-Identifier: Apache-2.0

package emd_test

import (
	"math"

	"github.com/graphcloak/graphcloak/graph"
)

// distances is the metric by Floyd and Warshall.
func distances(g *graph.Graph) [][]float64 {
	n := g.Order()
	d := make([][]float64, n)
	for i := range d {
		d[i] = make([]float64, n)
		for j := range d[i] {
			if i != j {
				d[i][j] = math.Inf(1)
			}
		}
	}
	for e := range g.Edges() {
		d[e.U][e.V], d[e.V][e.U] = e.Length, e.Length
	}
	for k := range n {
		for i := range n {
			for j := range n {
				d[i][j] = min(d[i][j], d[i][k]+d[k][j])
			}
		}
	}
	return d
}

// transport is the distance as the dense linear programme over all pairs, by
// successive shortest augmenting paths (Bellman and Ford).
func transport(d [][]float64, p, q []float64) float64 {
	n := len(p)
	supply, demand := append([]float64(nil), p...), append([]float64(nil), q...)
	x := make([][]float64, n)
	for i := range x {
		x[i] = make([]float64, n)
	}
	cost := 0.0
	for {
		dist, from := make([]float64, 2*n), make([]int, 2*n) // sources, then sinks
		for v := range dist {
			dist[v], from[v] = math.Inf(1), -1
		}
		for i, s := range supply {
			if s > 1e-15 {
				dist[i] = 0
			}
		}
		for again := true; again; {
			again = false
			for i := range n {
				for j := range n {
					if dist[i]+d[i][j] < dist[n+j]-1e-13 {
						dist[n+j], from[n+j], again = dist[i]+d[i][j], i, true
					}
					if x[i][j] > 1e-15 && dist[n+j]-d[i][j] < dist[i]-1e-13 {
						dist[i], from[i], again = dist[n+j]-d[i][j], n+j, true
					}
				}
			}
		}
		best := -1
		for j := range n {
			if demand[j] > 1e-15 && !math.IsInf(dist[n+j], 1) && (best < 0 || dist[n+j] < dist[n+best]) {
				best = j
			}
		}
		if best < 0 {
			return cost
		}
		amount, v := demand[best], n+best
		for ; from[v] >= 0; v = from[v] {
			if v < n {
				amount = min(amount, x[v][from[v]-n])
			}
		}
		amount = min(amount, supply[v])
		supply[v] -= amount
		demand[best] -= amount
		for v = n + best; from[v] >= 0; v = from[v] {
			if v < n {
				x[v][from[v]-n] -= amount
				cost -= amount * d[v][from[v]-n]
			} else {
				x[from[v]][v-n] += amount
				cost += amount * d[from[v]][v-n]
			}
		}
	}
}

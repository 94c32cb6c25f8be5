// SPDX-License-Identifier: Apache-2.0

package community

import "github.com/graphcloak/graphcloak/graph"

// level is a graph whose nodes are sets of nodes of the graph below. Edges
// within a node are left out: no move changes them.
type level struct {
	ptr    []int64
	adj    []int32
	weight []float64 // nil: every weight is 1
	size   []float64 // k of each node
}

// newLevel returns g as the lowest level, in units of its mean weight, and returns
// the factor g of the penalty.
func newLevel(g *graph.Graph, gamma float64) (*level, float64) {
	l := &level{size: make([]float64, g.Order())}
	var weight []float64
	l.ptr, l.adj, weight = g.CSR()
	if weight != nil {
		unit := meanWeight(weight)
		l.weight = make([]float64, len(weight))
		for k, w := range weight {
			l.weight[k] = w / unit
		}
	}
	arcs := float64(len(l.adj)) // Σ of the weights of both directions, by the choice of the unit
	if gamma == 0 {
		gamma = 1
	}
	for v := range l.size {
		l.size[v] = l.degree(int32(v))
	}
	return l, gamma / max(1, arcs)
}

func (l *level) order() int { return len(l.size) }

func (l *level) weightAt(k int64) float64 {
	if l.weight == nil {
		return 1
	}
	return l.weight[k]
}

func (l *level) degree(v int32) float64 {
	if l.weight == nil {
		return float64(l.ptr[v+1] - l.ptr[v])
	}
	d := 0.0
	for _, w := range l.weight[l.ptr[v]:l.ptr[v+1]] {
		d += w
	}
	return d
}

// objective returns Σ_c [ W_c − g·K_c²/2 ] for the penalty factor g.
func (l *level) objective(c []int32, penalty float64) float64 {
	inside, total := 0.0, make([]float64, l.order())
	for v, x := range c {
		total[x] += l.size[v]
		for k := l.ptr[v]; k < l.ptr[v+1]; k++ {
			if c[l.adj[k]] == x {
				inside += l.weightAt(k) / 2
			}
		}
	}
	for _, k := range total {
		inside -= penalty * k * k / 2
	}
	return inside
}

// aggregate merges the nodes of each part, numbered 0 … count−1, into one.
func (l *level) aggregate(parts []int32, count int, around *gather) *level {
	up := &level{ptr: make([]int64, count+1), size: make([]float64, count)}
	start := make([]int32, count+1)
	for v, p := range parts {
		up.size[p] += l.size[v]
		start[p+1]++
	}
	for p := range count {
		start[p+1] += start[p]
	}
	members := make([]int32, len(parts))
	next := append([]int32(nil), start[:count]...)
	for v, p := range parts {
		members[next[p]] = int32(v)
		next[p]++
	}
	for p := range count {
		around.clear()
		for _, v := range members[start[p]:start[p+1]] {
			for k := l.ptr[v]; k < l.ptr[v+1]; k++ {
				if q := parts[l.adj[k]]; q != int32(p) {
					around.add(q, l.weightAt(k))
				}
			}
		}
		for _, q := range around.keys {
			up.adj = append(up.adj, q)
			up.weight = append(up.weight, around.sum[q])
		}
		up.ptr[p+1] = int64(len(up.adj))
	}
	return up
}

// gather sums positive weights by key, in time proportional to what is added.
type gather struct {
	sum  []float64
	keys []int32 // those with a sum, in the order of their first addition
}

func newGather(n int) *gather { return &gather{sum: make([]float64, n)} }

func (a *gather) add(key int32, w float64) {
	if a.sum[key] == 0 {
		a.keys = append(a.keys, key)
	}
	a.sum[key] += w
}

func (a *gather) clear() {
	for _, key := range a.keys {
		a.sum[key] = 0
	}
	a.keys = a.keys[:0]
}

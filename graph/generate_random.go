// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"math"
	"math/rand/v2"
)

// newRand returns the generator's stream: one seed gives one graph, on every
// machine and in every version of Go.
func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x67726170682e6765)) }

// SBM returns a stochastic block model: n nodes in k blocks of equal order (the
// first n mod k hold one more), joined with probability in within a block and out
// across, and the block of each node. It takes O(n + m) time by drawing the gaps
// between edges: Batagelj & Brandes, Physical Review E 71 (2005) 036113.
func SBM(n, k int, in, out float64, seed uint64) (*Graph, []int, error) {
	const family = "stochastic block model"
	for _, p := range [2]float64{in, out} {
		if !(p >= 0 && p <= 1) {
			return nil, nil, impossible(family, "probability is %v, want 0 … 1", p)
		}
	}
	if k < 1 || k > n {
		return nil, nil, impossible(family, "%d blocks of %d nodes, want 1 … %d", k, n, n)
	}
	within := float64(n) * float64(n) / float64(2*k)
	b, err := numberedBuilder(family, n, in*within+out*within*float64(k-1))
	if err != nil {
		return nil, nil, err
	}
	blocks := make([]int, n)
	start := 0
	r := newRand(seed)
	for c := range k {
		order := n / k
		if c < n%k {
			order++
		}
		for v := start; v < start+order; v++ {
			blocks[v] = c
		}
		sparsePairs(r, order, in, func(u, v int) { b.addUnitEdge(start+u, start+v) })
		start += order
	}
	if k > 1 {
		sparsePairs(r, n, out, func(u, v int) {
			if blocks[u] != blocks[v] {
				b.addUnitEdge(u, v)
			}
		})
	}
	g, err := b.Graph()
	return g, blocks, err
}

// sparsePairs calls yield for each pair u < v < n with probability p, independently.
func sparsePairs(r *rand.Rand, n int, p float64, yield func(u, v int)) {
	if p == 0 {
		return
	}
	logQ := math.Log1p(-p) // −∞ for p = 1, which makes every gap 0
	for u, v := -1, 1; v < n; {
		gap := math.Log(1-r.Float64()) / logQ
		if gap >= float64(n)*float64(n) {
			return
		}
		u += 1 + int(gap)
		for u >= v && v < n {
			u -= v
			v++
		}
		if v < n {
			yield(u, v)
		}
	}
}

// BarabasiAlbert returns a graph by preferential attachment: a star of m + 1
// nodes, then one node after the other that joins m different nodes with
// probability ∝ degree. Barabási & Albert, Science 286 (1999) 509–512.
func BarabasiAlbert(n, m int, seed uint64) (*Graph, error) {
	if m < 1 || m >= n {
		return nil, impossible("Barabási–Albert graph", "%d edges a node and %d nodes, want 1 ≤ edges < nodes", m, n)
	}
	b, err := numberedBuilder("Barabási–Albert graph", n, float64(n)*float64(m))
	if err != nil {
		return nil, err
	}
	r := newRand(seed)
	ends := make([]int32, 0, 2*m*(n-m)) // every node as often as its degree
	for v := 1; v <= m; v++ {
		b.addUnitEdge(0, v)
		ends = append(ends, 0, int32(v))
	}
	chosen := make([]int32, 0, m)
	for v := m + 1; v < n; v++ {
		chosen = chosen[:0]
		for len(chosen) < m {
			if u := ends[r.IntN(len(ends))]; !contains(chosen, u) {
				chosen = append(chosen, u)
			}
		}
		for _, u := range chosen {
			b.addUnitEdge(int(u), v)
			ends = append(ends, u, int32(v))
		}
	}
	return b.Graph()
}

func contains(s []int32, x int32) bool {
	for _, y := range s {
		if x == y {
			return true
		}
	}
	return false
}

// Quadrants are the probabilities of an [RMAT] step; the fourth is what remains.
// The zero value stands for those of the Graph 500 benchmark: 0.57, 0.19, 0.19.
type Quadrants struct{ A, B, C float64 }

// RMAT returns a recursive-matrix graph on n nodes: it draws the given number of
// pairs, each by descending through the quadrants of the adjacency matrix, leaves
// out self-loops and keeps repeated pairs once. Chakrabarti, Zhan & Faloutsos,
// R-MAT, SIAM International Conference on Data Mining (2004).
func RMAT(n, draws int, q Quadrants, seed uint64) (*Graph, error) {
	const family = "R-MAT graph"
	if q == (Quadrants{}) {
		q = Quadrants{0.57, 0.19, 0.19}
	}
	if !(q.A > 0 && q.B >= 0 && q.C >= 0 && q.A+q.B+q.C <= 1) {
		return nil, impossible(family, "quadrants %v, want A > 0, B and C ≥ 0, sum ≤ 1", q)
	}
	if draws < 0 || n < 1 {
		return nil, impossible(family, "%d pairs of %d nodes, want pairs ≥ 0 and nodes ≥ 1", draws, n)
	}
	b, err := numberedBuilder(family, n, float64(draws))
	if err != nil {
		return nil, err
	}
	b.Aggregation = Single
	r := newRand(seed)
	for k := 0; k < draws; {
		u, v := 0, 0
		for side := 1; side < n; side <<= 1 {
			x := r.Float64()
			u, v = 2*u, 2*v
			if x >= q.A+q.B {
				u++
			}
			if x >= q.A && x < q.A+q.B || x >= q.A+q.B+q.C {
				v++
			}
		}
		if u < n && v < n { // the matrix is padded to a power of two
			k++
			b.addUnitEdge(u, v)
		}
	}
	return b.Graph()
}

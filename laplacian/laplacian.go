// SPDX-License-Identifier: Apache-2.0

// Package laplacian makes the Laplacian of a graph a sparse operator with a
// certified bound on its spectrum.
//
// Start with [New]. With weights W, degrees D = diag(W1) and D⁺ = 1/d on nodes
// that have neighbours, 0 on the others,
//
//	combinatorial   L = D − W                        e^{-τL} keeps Σ f_i, and constants
//	normalized      L = D⁺½(D − W)D⁺½                keeps Σ √d_i f_i, and √d
//	randomWalk      L = D⁺(D − W) = I − D⁻¹W         keeps Σ d_i f_i, and constants
//
// The first two are symmetric. The third is similar to the second,
// L = diag(1/s) S diag(s) with s = √d, and [Laplacian.Recur] works on the
// symmetric S for all three: S = diag(a) − B with a ≥ 0 and B ≥ 0, positive
// semidefinite, with one zero eigenvalue for each connected component.
//
// F. R. K. Chung, Spectral Graph Theory, 1997; U. von Luxburg, A tutorial on
// spectral clustering, Statistics and Computing 17, 2007.
package laplacian

import (
	"math"
	"runtime"
	"sync"

	"github.com/graphcloak/graphcloak/graph"
)

// New returns the Laplacian of g. A product uses GOMAXPROCS workers; the number
// never changes its bits.
func New(g *graph.Graph, k Kind) *Laplacian {
	ptr, adj, weight := g.CSR()
	_, sizes := g.Components()
	l := &Laplacian{
		kind: k, ptr: ptr, adj: adj, val: weight, nullity: len(sizes),
		degrees: degrees(g), workers: runtime.GOMAXPROCS(0),
	}
	l.diag = l.degrees
	if k != Combinatorial {
		l.normalize()
	}
	l.reorder()
	l.cuts = balancedCuts(l.rows.ptr)
	l.roundingUnits = l.countRoundings()
	l.jobs = &sync.Pool{}
	l.bound = l.collatzWielandt()
	return l
}

// WithWorkers returns the same operator, whose products use at most w workers.
func (l *Laplacian) WithWorkers(w int) *Laplacian {
	c := *l
	c.workers = max(1, w)
	c.jobs = &sync.Pool{}
	return &c
}

// degrees sums each row with compensation, so that d_i is off by at most two
// units in the last place whatever the spread of the weights.
func degrees(g *graph.Graph) []float64 {
	ptr, _, weight := g.CSR()
	d := make([]float64, g.Order())
	for i := range d {
		if weight == nil {
			d[i] = float64(g.Degree(i))
			continue
		}
		var sum, lost float64
		for _, w := range weight[ptr[i]:ptr[i+1]] {
			t := sum + w
			if sum >= w {
				lost += (sum - t) + w
			} else {
				lost += (w - t) + sum
			}
			sum = t
		}
		d[i] = sum + lost
	}
	return d
}

// normalize replaces D − W by its symmetric normalisation.
func (l *Laplacian) normalize() {
	n := len(l.degrees)
	root, inv := make([]float64, n), make([]float64, n)
	l.diag = make([]float64, n)
	for i, d := range l.degrees {
		root[i] = 1
		if d > 0 {
			root[i] = math.Sqrt(d)
			inv[i] = 1 / root[i]
			l.diag[i] = 1
		}
	}
	val := make([]float64, len(l.adj))
	for i := range n {
		for k := l.ptr[i]; k < l.ptr[i+1]; k++ {
			val[k] = inv[i] * inv[l.adj[k]]
			if l.val != nil {
				val[k] *= l.val[k]
			}
		}
	}
	l.val = val
	if l.kind == RandomWalk {
		l.similarity = root
	}
}

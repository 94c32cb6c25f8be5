// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/internal/dense"
	"github.com/graphcloak/graphcloak/internal/parallel"
)

// wideNodes is the length of a vector from which a step is worth several processors, where it
// is of a quarter of all nodes or more.
const wideNodes = 1 << 14

// stepByRows makes v_{m+1} on all processors, by a product with the whole of S and classical
// Gram–Schmidt, twice. It returns the new entries of the Lanczos matrix.
func (q *process) stepByRows(m int) (alpha, beta float64) {
	if !q.wide {
		q.spread(m)
	}
	v, w := q.v[m], resize(q.v[m+1], len(q.position))
	q.v[m+1] = w
	q.p.lap.Recur(w, nil, v, 1, 1, 0, 0, 0)
	sum := make([]float64, 1)
	along := func(x []float64) float64 {
		parallel.Sum(len(x), 2, sum, func(lo, hi int, sum []float64) { sum[0] += floats.Dot(x[lo:hi], w[lo:hi]) })
		return sum[0]
	}
	alpha = along(v)
	for range 2 {
		dense.ProjectOut(w, q.v[:m+1])
	}
	beta = math.Sqrt(along(w))
	parallel.Rows(len(w), 2, func(lo, hi int) { normalize(w[lo:hi], beta) })
	return alpha, beta
}

// spread turns the vectors up to v_m into vectors over all rows of S.
func (q *process) spread(m int) {
	row := q.p.lap.Permutation()
	for k, v := range q.v[:m+1] {
		all := resize(q.spare, len(q.position))
		setZero(all)
		parallel.Rows(len(v), 3, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				t := q.nodes[i]
				if row != nil {
					t = row[t]
				}
				all[t] = v[i]
			}
		})
		q.v[k], q.spare = all, v
	}
	q.wide, q.entries = true, int64(len(q.adj))
}

// resize returns memory for n values, that of v where it suffices.
func resize(v []float64, n int) []float64 {
	if cap(v) < n {
		return make([]float64, n)
	}
	return v[:n]
}

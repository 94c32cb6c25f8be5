// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// filter keeps the items that keep accepts, in their order, in the memory of items.
func filter(items []int32, keep func(int32) bool) []int32 {
	const piece = 1 << 12
	kept := make([]int, (len(items)+piece-1)/piece)
	part := func(p int) []int32 { return items[p*piece : min((p+1)*piece, len(items))] }
	parallel.Rows(len(kept), 2*piece, func(lo, hi int) {
		for p := lo; p < hi; p++ {
			for _, i := range part(p) {
				if keep(i) {
					items[p*piece+kept[p]] = i
					kept[p]++
				}
			}
		}
	})
	n := 0
	for p, k := range kept {
		n += copy(items[n:], part(p)[:k])
	}
	return items[:n]
}

// maximum returns the largest of values that are at least 0, or 0.
func maximum(values []float64) (most float64) {
	var lock sync.Mutex
	parallel.Rows(len(values), 1, func(lo, hi int) {
		var m float64
		for _, v := range values[lo:hi] {
			m = max(m, v)
		}
		lock.Lock()
		defer lock.Unlock()
		most = max(most, m)
	})
	return most
}

// count returns how many items are accepted; work is that of one, as in [parallel.Rows].
func count(items []int32, work int, accept func(int32) bool) int {
	sum := make([]float64, 1)
	parallel.Sum(len(items), work, sum, func(lo, hi int, sum []float64) {
		for _, i := range items[lo:hi] {
			if accept(i) {
				sum[0]++
			}
		}
	})
	return int(sum[0])
}

type scored struct {
	i int32
	v float64
}

func descending(a, b scored) int { return cmp.Or(cmp.Compare(b.v, a.v), cmp.Compare(a.i, b.i)) }

// largest returns the k items with the largest value, in descending order; ties go
// to the lower item. It may ask for several values at the same time.
func largest(items []int32, k int, value func(int32) float64) []int32 {
	values := make([]float64, len(items))
	parallel.Rows(len(items), boundWork, func(lo, hi int) {
		for j := lo; j < hi; j++ {
			values[j] = value(items[j])
		}
	})
	var top []scored
	for j, i := range items {
		if x := (scored{i, values[j]}); len(top) < k || descending(x, top[k-1]) < 0 {
			place, _ := slices.BinarySearchFunc(top, x, descending)
			top = slices.Insert(top, place, x)
			top = top[:min(len(top), k)]
		}
	}
	out := make([]int32, len(top))
	for j, x := range top {
		out[j] = x.i
	}
	return out
}

// addDifferences adds to squares_i, for the edges in pick, ‖Y_u − Y_v‖₂² of k row-major
// columns.
func (p *problem) addDifferences(squares []float64, pick []int32, y []float64, k int) {
	parallel.Rows(len(pick), 2*k, func(lo, hi int) {
		for _, i := range pick[lo:hi] {
			squares[i] += difference(y, k, p.edges[i])
		}
	})
}

// scaleRows multiplies row t of k columns by √u_t.
func (o *operator) scaleRows(x []float64, k int) {
	parallel.Rows(o.n, k, func(lo, hi int) {
		for t := lo; t < hi; t++ {
			w := math.Sqrt(o.peak)
			if o.u != nil {
				w = math.Sqrt(o.u[t])
			}
			for j := range k {
				x[t*k+j] *= w
			}
		}
	})
}

// norms returns ‖diag(√u)y_j‖₂ for each of k columns.
func (o *operator) norms(y []float64, k int) []float64 {
	sum := make([]float64, k)
	parallel.Sum(o.n, k, sum, func(lo, hi int, sum []float64) {
		for t := lo; t < hi; t++ {
			w := o.peak
			if o.u != nil {
				w = o.u[t]
			}
			for j, v := range y[t*k : (t+1)*k] {
				sum[j] += w * (v * v)
			}
		}
	})
	for j, v := range sum {
		sum[j] = math.Sqrt(v)
	}
	return sum
}

// setZero sets all values to 0.
func setZero(x []float64) {
	parallel.Rows(len(x), 1, func(lo, hi int) { clear(x[lo:hi]) })
}

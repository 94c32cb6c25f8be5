// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"cmp"
	"slices"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// boundWork is the work of the O(1) bounds of an edge, in values that a loop reads.
const boundWork = 64

// which returns the numbers below n that are accepted, in ascending order.
func which(n int, accept func(int) bool) (list []int32) {
	for i := range n {
		if accept(i) {
			list = append(list, int32(i))
		}
	}
	return list
}

// maximum returns the largest of values that are at least 0, or 0; NaN where one is.
func maximum(values []float64) (most float64) {
	for _, v := range values {
		most = max(most, v)
	}
	return most
}

// scored is an item with its value.
type scored struct {
	i int32
	v float64
}

func descending(a, b scored) int { return cmp.Or(cmp.Compare(b.v, a.v), cmp.Compare(a.i, b.i)) }

// largestOf returns the largest of n values that is above 0 and the first number that has it, or
// 0 and −1. It calls value once for each number, several at the same time; work is that of one
// call, as in [parallel.Rows].
func largestOf(n, work int, value func(int) float64) (most float64, at int) {
	best := scored{i: -1}
	for _, part := range parallel.Parts(n, work, func(lo, hi int) scored {
		part := scored{i: -1}
		for i := lo; i < hi; i++ {
			if v := value(i); v > part.v {
				part = scored{int32(i), v}
			}
		}
		return part
	}) {
		if part.v > best.v {
			best = part
		}
	}
	return best.v, int(best.i)
}

// largest returns the k items with the largest value, in descending order; ties go
// to the lower item. It may ask for several values at the same time.
func largest(items []int32, k int, value func(int32) float64) []int32 {
	insert := func(top []scored, x scored) []scored {
		if len(top) == k && descending(x, top[k-1]) > 0 {
			return top
		}
		at, _ := slices.BinarySearchFunc(top, x, descending)
		top = slices.Insert(top, at, x)
		return top[:min(k, len(top))]
	}
	var top []scored
	for _, part := range parallel.Parts(len(items), boundWork, func(lo, hi int) (part []scored) {
		for _, i := range items[lo:hi] {
			part = insert(part, scored{i, value(i)})
		}
		return part
	}) {
		for _, x := range part {
			top = insert(top, x)
		}
	}
	out := make([]int32, len(top))
	for j, x := range top {
		out[j] = x.i
	}
	return out
}

// spread returns so many of the items, or all, at equal distances.
func spread(items []int32, count int) []int32 {
	out := make([]int32, min(count, len(items)))
	for k := range out {
		out[k] = items[k*len(items)/len(out)]
	}
	return out
}

// setZero sets all values to 0.
func setZero(x []float64) {
	parallel.Rows(len(x), 1, func(lo, hi int) { clear(x[lo:hi]) })
}

// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// maximum returns the largest value, −Inf for none.
func maximum(x []float64) float64 { return firstTwo(x)[0] }

// firstTwo returns the two largest values, −Inf where there are fewer.
func firstTwo(x []float64) [2]float64 {
	var lock sync.Mutex
	two := noTwo
	parallel.Rows(len(x), 1, func(lo, hi int) {
		own := noTwo
		for _, v := range x[lo:hi] {
			own = withThird(own, v)
		}
		lock.Lock()
		defer lock.Unlock()
		two = withThird(withThird(two, own[0]), own[1])
	})
	return two
}

var noTwo = [2]float64{math.Inf(-1), math.Inf(-1)}

// withThird returns the two largest of three values.
func withThird(two [2]float64, v float64) [2]float64 {
	return [2]float64{max(two[0], v), max(two[1], min(two[0], v))}
}

// logSum returns log Σ e^{x_i}, −Inf for none.
func logSum(x []float64) float64 {
	largest := maximum(x)
	if math.IsInf(largest, 0) {
		return largest
	}
	var sum [1]float64
	parallel.Sum(len(x), 1, sum[:], func(lo, hi int, sum []float64) {
		for _, v := range x[lo:hi] {
			sum[0] += math.Exp(v - largest)
		}
	})
	return largest + math.Log(sum[0])
}

// sumFrom returns the sum of the values that are not below a bound.
func sumFrom(x []float64, bound float64) float64 {
	var sum [1]float64
	parallel.Sum(len(x), 1, sum[:], func(lo, hi int, sum []float64) {
		for _, v := range x[lo:hi] {
			if !(v < bound) {
				sum[0] += v
			}
		}
	})
	return sum[0]
}

// atLeast returns the places of the values that are not below a bound, ascending.
func atLeast(x []float64, bound float64) []int {
	type part struct {
		lo     int
		places []int
	}
	var lock sync.Mutex
	var parts []part
	parallel.Rows(len(x), 1, func(lo, hi int) {
		own := part{lo: lo}
		for i := lo; i < hi; i++ {
			if !(x[i] < bound) {
				own.places = append(own.places, i)
			}
		}
		lock.Lock()
		defer lock.Unlock()
		parts = append(parts, own)
	})
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.lo, b.lo) })
	var places []int
	for _, p := range parts {
		places = append(places, p.places...)
	}
	return places
}

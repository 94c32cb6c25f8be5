// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"math"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// firstTwo returns the two largest values, −Inf where there are fewer.
func firstTwo(x []float64) [2]float64 {
	two := [2]float64{math.Inf(-1), math.Inf(-1)}
	for _, v := range x {
		if v > two[1] {
			two = [2]float64{max(two[0], v), min(two[0], v)}
		}
	}
	return two
}

// logSum returns log Σ e^{x_i}, −Inf for none.
func logSum(x []float64) float64 {
	largest := firstTwo(x)[0]
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

// everyNode returns 0, 1, … below n.
func everyNode(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

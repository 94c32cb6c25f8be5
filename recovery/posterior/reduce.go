// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

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

// logMean returns the logarithm of the mean of e^x.
func logMean(x []float64) float64 { return logSum(x) - math.Log(float64(len(x))) }

// eachRow calls f for every row below n, as [parallel.Rows] calls its ranges.
func eachRow(n, width int, f func(i int)) {
	parallel.Rows(n, width, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f(i)
		}
	})
}

// everyNode returns 0, 1, … below n.
func everyNode(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// descending sorts places by their values, the largest first, and returns them; of equal ones those that came first do so again.
func descending(places []int, x []float64) []int {
	slices.SortStableFunc(places, func(i, j int) int { return cmp.Compare(x[j], x[i]) })
	return places
}

// likeliest returns the fewest nodes that hold a share of the probability, the most probable first. Nodes that have less
// than half of their share of what may be left out have half of it together: they are not in it, and are not sorted.
func likeliest(probability []float64, share float64) []int {
	least, sum := (1-share)/2/float64(len(probability)), 0.0
	var order []int
	for i, v := range probability {
		if !(v < least) {
			order = append(order, i)
		}
	}
	for k, i := range descending(order, probability) {
		if sum += probability[i]; sum >= share {
			return order[:k+1]
		}
	}
	return order
}

// cumulative returns the partial sums of e^w, relative to all of them.
func cumulative(w []float64) []float64 {
	total, sums := logSum(w), make([]float64, len(w))
	for i, v := range w {
		sums[i] = math.Exp(v - total)
	}
	return floats.CumSum(sums, sums)
}

// drawn draws a place in proportion to what partial sums grow by there.
func drawn(sums []float64, random *rand.Rand) int {
	u := random.Float64() * sums[len(sums)-1]
	return min(sort.Search(len(sums), func(i int) bool { return sums[i] > u }), len(sums)-1)
}

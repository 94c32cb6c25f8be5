// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// TestReductions: what is found of many values by all processors is what one pass over them finds,
// whatever the number of workers; sums to rounding, and then with the same bits.
func TestReductions(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	x, exact := make([]float64, 50_000), make([]bool, 50_000)
	for i := range x {
		x[i], exact[i] = math.Round(400*rnd.NormFloat64())/8, rnd.IntN(3) == 0 // with ties
	}
	x[20_000], x[20_001], exact[20_000] = 300, 299, false // the first two are of one range
	sorted, sum, total := slices.Sorted(slices.Values(x)), 0.0, 0.0
	var places []int
	var open []float64
	for i, v := range x {
		total += math.Exp(v - sorted[len(x)-1])
		if v >= 50 {
			places, sum = append(places, i), sum+v
		}
		if !exact[i] {
			open = append(open, v)
		}
	}
	slices.Sort(open)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	first := [2]float64{logSum(x), sumFrom(x, 50)}
	if want := sorted[len(x)-1] + math.Log(total); math.Abs(first[0]-want) > 1e-12*want || math.Abs(first[1]-sum) > 1e-12*sum {
		t.Errorf("log sum and sum %v, want %v and %v", first, want, sum)
	}
	for _, workers := range []int{1, 2, 3, 7, 16} {
		runtime.GOMAXPROCS(workers)
		if got := [2]float64{logSum(x), sumFrom(x, 50)}; got != first {
			t.Errorf("%d workers: other bits of the sums %v, %v", workers, got, first)
		}
		if got := firstTwo(x); got != [2]float64{sorted[len(x)-1], sorted[len(x)-2]} {
			t.Errorf("%d workers: the first two are %v", workers, got)
		}
		if got := atLeast(x, 50); !slices.Equal(got, places) {
			t.Errorf("%d workers: %d places of values from 50 on, want %d in order", workers, len(got), len(places))
		}
		if got := (&bounding{exact: exact}).largest(x, 300); len(got) != 300 ||
			slices.ContainsFunc(got, func(i int) bool { return exact[i] || x[i] < open[len(open)-300] }) {
			t.Errorf("%d workers: %d largest values, or others", workers, len(got))
		}
	}
	if got := [2]float64{logSum(nil), maximum(nil)}; got != [2]float64{math.Inf(-1), math.Inf(-1)} {
		t.Errorf("of none: %v", got)
	}
}

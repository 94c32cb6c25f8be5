// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// TestReductions: the sum of many values has the same bits at any number of workers, and is, as the largest ones are, what one pass
// finds.
func TestReductions(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	x, exact := make([]float64, 50_000), make([]bool, 50_000)
	for i := range x {
		x[i], exact[i] = math.Round(400*rnd.NormFloat64())/8, rnd.IntN(3) == 0 // with ties
	}
	sorted, total := slices.Sorted(slices.Values(x)), 0.0
	var open []float64
	for i, v := range x {
		total += math.Exp(v - sorted[len(x)-1])
		if !exact[i] {
			open = append(open, v)
		}
	}
	slices.Sort(open)
	if got := firstTwo(x); got != [2]float64{sorted[len(x)-1], sorted[len(x)-2]} {
		t.Errorf("the first two are %v", got)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	first := logSum(x)
	if want := sorted[len(x)-1] + math.Log(total); math.Abs(first-want) > 1e-12*want {
		t.Errorf("log sum %v, want %v", first, want)
	}
	for _, workers := range []int{1, 3, 16} {
		runtime.GOMAXPROCS(workers)
		if got := logSum(x); got != first {
			t.Errorf("%d workers: other bits, %v", workers, got)
		}
		if got := (&bounding{exact: exact}).largest(x, 300); len(got) != 300 ||
			slices.ContainsFunc(got, func(i int) bool { return exact[i] || x[i] < open[len(open)-300] }) {
			t.Errorf("%d workers: %d largest values, or others", workers, len(got))
		}
	}
	if got := logSum(nil); !math.IsInf(got, -1) {
		t.Errorf("of none: %v", got)
	}
}

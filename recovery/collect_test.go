// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// TestDualPassesOfManyNodes: the entries of many nodes are gathered in their order by any number of workers, so
// that their sum has the bits of a plain loop; an infinite term is the sum, and none add up to 0.
func TestDualPassesOfManyNodes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	v := dualPoint{c: make([]float64, 3*collectPiece+5), opErr: operatorError{along: []float64{0}, norm: []float64{0}}}
	var positive []float64
	for i := range v.c {
		if v.c[i] = rnd.NormFloat64(); v.c[i] > 0 {
			positive = append(positive, v.c[i])
		}
	}
	part := func(i int) float64 { return max(0, v.c[i]) }
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, workers := range []int{1, 2, 3, 7, 16} {
		runtime.GOMAXPROCS(workers)
		if got := v.collect(part); !slices.Equal(got, positive) {
			t.Errorf("%d workers: %d positive entries, want %d in order", workers, len(got), len(positive))
		}
		if got, want := v.sum(part), floats.SumCompensated(positive); got != want {
			t.Errorf("%d workers: sum %v, want %v", workers, got, want)
		}
		if got, want := v.maxEntry(), slices.Max(v.c); got != want {
			t.Errorf("%d workers: largest entry %v, want %v", workers, got, want)
		}
		if got := v.sum(func(i int) float64 { return math.Inf(-(i % 2)) }); !math.IsInf(got, 0) {
			t.Errorf("%d workers: infinite terms add up to %v", workers, got)
		}
		if got := v.sum(func(int) float64 { return 0 }); got != 0 {
			t.Errorf("%d workers: zeros add up to %v", workers, got)
		}
	}
}

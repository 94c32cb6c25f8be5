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

// The best multiple of a dual direction is found among the largest entries, and is that of
// all of them, bit by bit, however far down they are needed.
func TestBestOfTheLargest(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 7))
	for trial := range 400 {
		c := make([]float64, 1+rnd.IntN(300))
		for i := range c {
			c[i] = rnd.NormFloat64() * math.Pow(10, -float64(trial%7)*rnd.Float64())
		}
		switch trial % 20 {
		case 0:
			clear(c)
		case 1:
			c[0] = math.Inf(1)
		case 2:
			c = []float64{math.SmallestNonzeroFloat64}
		case 3:
			c[0] = math.NaN()
		}
		v := dualPoint{c: c, gain: math.Pow(10, 4*rnd.Float64()-2), opErr: operatorError{along: []float64{0}, norm: []float64{0}}}
		all := slices.Clone(c)
		slices.Sort(all)
		slices.Reverse(all)
		want, taken := 0.0, 0.0
		for _, x := range all {
			if x <= 0 {
				break
			}
			if taken += x; taken >= v.gain {
				want = 1 / x
				break
			}
		}
		reaches := taken >= v.gain
		if _, got, infeasible := v.best(); infeasible == reaches || got != want {
			t.Errorf("trial %d: t = %v, infeasible %v; want %v of %d entries, infeasible %v", trial, got, infeasible, want,
				len(c), !reaches)
		}
	}
}

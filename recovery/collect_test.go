// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

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

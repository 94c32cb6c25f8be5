// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// The law of each fault anywhere is a density, of the moments that its readings have.
func TestLawsOfFaults(t *testing.T) {
	const high, draws, step = 10., 40_000, .01
	for _, f := range faults() {
		if (f.law == nil) != (f.aim != anywhere) {
			t.Errorf("%s: a law is known for %v", f.name, f.aim)
		}
		if f.law == nil {
			continue
		}
		for _, x := range []float64{0, .7, 5, 9.9} {
			random := rand.New(rand.NewPCG(2, 7))
			var got, want [3]float64 // moments of order 0, 1 and 2
			for range draws {
				y := f.reading(random, x, 0, high)
				for order, v := range []float64{1, y, y*y + 1} {
					want[order] += v / draws
				}
			}
			for y := -10.; y < high+10; y += step {
				for order := range got {
					got[order] += step * math.Pow(y, float64(order)) * math.Exp(f.law(y, x, high))
				}
			}
			if !floats.EqualFunc(got[:], want[:], func(a, b float64) bool { return math.Abs(a-b) < .02*(1+b) }) ||
				math.Abs(got[0]-1) > 1e-6 {
				t.Errorf("%s at %v: moments %v, want %v", f.name, x, got, want)
			}
		}
	}
}

// The posterior under a known law is the sum over all sets of faulty sensors.
func TestKnownLaw(t *testing.T) {
	b := &faultBench{high: []float64{8, 8, 8, 30, 8}}
	random := rand.New(rand.NewPCG(3, 7))
	for range 6 {
		column := make([]float64, len(b.high))
		for s := range column {
			column[s] = 4 * random.Float64()
		}
		b.column = append(b.column, column)
	}
	y := []float64{1, 7, -1, 2, 5}
	for _, f := range faults() {
		if f.law == nil {
			continue
		}
		for k := range len(y) + 1 {
			want := make([]float64, len(b.column))
			for i, column := range b.column {
				for set := range uint(1) << len(y) {
					if bits.OnesCount(set) != k {
						continue
					}
					density := 1.
					for s, x := range column {
						if set>>s&1 == 1 {
							density *= math.Exp(f.law(y[s], x, b.high[s]))
						} else {
							density *= math.Exp(logAt(y[s], x))
						}
					}
					want[i] += density
				}
			}
			floats.Scale(1/floats.Sum(want), want)
			if got := b.knownLaw(f.law, k, y); !floats.EqualApprox(got, want, 1e-9) {
				t.Errorf("%s, %d faulty: %v, want %v", f.name, k, got, want)
			}
		}
	}
}

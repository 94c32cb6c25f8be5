// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// TestSimulatedPosterior compares the posterior of the simulation with quadrature,
// for amplitudes that the reading leaves open, fixes, and pushes to either end; with the fewer levels of a draft roughly.
func TestSimulatedPosterior(t *testing.T) {
	tolerance := []float64{.01, .05}
	for _, z := range []float64{1e-3, .3, 2, 40, 300} { // 1/standard deviation of the amplitude
		for _, amplitude := range []float64{-1, 0, .4, .98, 1, 1.5} {
			// The second node's reading is a tenth weaker.
			m := mat.NewDense(2, 1, []float64{z, .9 * z})
			half := []float64{z * z / 2, .81 * z * z / 2}
			var logs, want [2]float64
			for i := range 2 {
				logs[i], want[i] = amplitudes(z*amplitude*m.At(i, 0), 2*half[i])
			}
			total := floats.LogSumExp(logs[:])
			for k, size := range []size{fullSize, draftSize} {
				c := channel{p: &problem{size: size}, prior: []float64{.5, .5}, labels: []int{0, 1}}
				post, mean := make([]float64, 2), make([]float64, 2)
				c.posterior(post, mean, m, []float64{z * amplitude}, half)
				for i := range 2 {
					if p := math.Exp(logs[i] - total); math.Abs(post[i]-p) > tolerance[k] || math.Abs(mean[i]-want[i]) > tolerance[k] {
						t.Errorf("%d levels, z = %v, amplitude %v, node %d: probability %v and mean %v, want %v and %v", size.levels, z,
							amplitude, i, post[i], mean[i], p, want[i])
					}
				}
			}
		}
	}
}

// amplitudes returns log ∫ e^{at − a²n/2} da over [0, 1] and the mean of a, by the
// midpoint rule on two million points.
func amplitudes(t, n float64) (log, mean float64) {
	const points = 2_000_000
	peak := 0.0
	if t > 0 {
		peak = min(1, t/n)
	}
	most := peak*t - peak*peak*n/2
	var sum, first float64
	for q := range points {
		a := (float64(q) + .5) / points
		e := math.Exp(a*t - a*a*n/2 - most)
		sum, first = sum+e, first+a*e
	}
	return most + math.Log(sum/points), first / sum
}

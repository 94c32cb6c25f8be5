// SPDX-License-Identifier: Apache-2.0

package expm

// RoundToGrid is for its test.
var RoundToGrid = roundToGrid

// GridUnits is for its test.
const GridUnits = gridUnits

// BallGamma is the rounding bound of a step in the ball around node j.
func BallGamma(d *Diffusion, j int, weights []float64) float64 {
	b := d.newBalls(d.gen.(entries), weights, 0, ballEntries)
	p := b.pool.Get().(*ball)
	p.collect(b, j, len(b.chebyshev)-1)
	return p.gamma()
}

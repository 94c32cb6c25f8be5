// SPDX-License-Identifier: Apache-2.0

package expm

// RoundToGrid is for its test.
var RoundToGrid = roundToGrid

// GridUnits is for its test.
const GridUnits = gridUnits

// BallGamma is the rounding bound of a step in the ball around node j.
func BallGamma(d *Diffusion, j int, weights []float64) float64 {
	b := d.newBalls(d.gen.(entries), weights, 0)
	p := b.pool.Get().(*ball)
	p.collect(b, j, len(b.chebyshev)-1)
	return p.gamma()
}

// BallProducts is the number of products whose time the columns js are expected to take.
func BallProducts(d *Diffusion, js []int, tol float64) float64 {
	b := d.newBalls(d.gen.(entries), []float64{1}, tol)
	products, _ := d.products(b, js, ballSample, len(b.chebyshev), func(p *ball, j int) { b.column(p, j) })
	return products
}

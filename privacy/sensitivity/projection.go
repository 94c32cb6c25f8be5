// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"math"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// projection is the state of a random projection: its operator, and the columns drawn so far.
type projection struct {
	*search
	*operator
	q       float64 // failure probability of one bound
	columns int
}

// draw fills x with a block of random columns, the input of Wᵀ.
func (c *projection) draw(block int, x []float64) {
	normals(c.opts.Seed, block, x)
	c.scaleRows(x, c.block)
}

// projectionScale returns √x, by which a computed ‖Y_i − Y_j‖ is divided, and a bound on
// its rounding error. Each normal has an error of at most normalError, which is relative
// to ‖Wb‖; rounding of Y is absolute, at most its bound times ‖Ω‖_F. Both are charged with
// ‖Ω‖_F ≤ 2√(nr), which fails with a probability far below q.
func (c *projection) projectionScale(columns int) (root, rounding float64) {
	entries := math.Sqrt(float64(columns) * float64(c.n))
	root = math.Sqrt(chiSquareQuantile(columns, c.q)) - normalError*entries
	rounding = 2 * entries * c.roundB
	return root, rounding
}

// difference returns ‖Y_u − Y_v‖₂² for k row-major columns.
func difference(y []float64, k int, e edge) (sum float64) {
	a, b := y[int(e.u)*k:][:k], y[int(e.v)*k:][:k]
	for j, v := range a {
		d := v - b[j]
		sum += d * d
	}
	return sum
}

// addDifferences adds to squares_i, for the edges in pick, ‖Y_u − Y_v‖₂² of k row-major
// columns.
func (p *problem) addDifferences(squares []float64, pick []int32, y []float64, k int) {
	parallel.Rows(len(pick), 2*k, func(lo, hi int) {
		for _, i := range pick[lo:hi] {
			squares[i] += difference(y, k, p.edges.at(i))
		}
	})
}

// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"
	"math"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// The screen bounds the edges in rounds, after 16, 32, 64, … random columns.
const (
	firstColumns = 16
	maxRounds    = 10
)

// screen drops edges by random projection (Johnson & Lindenstrauss, 1984), and
// brackets the rest by columns as soon as that is cheaper than another round.
//
// Let W = diag(√u)p(L), Ω be n × r standard normal and Y = WᵀΩ. For b = e_i − e_j
// the row difference Y_i − Y_j is ‖Wb‖ times a vector whose squared length is χ²_r.
// So with x such that P(χ²_r ≤ x) ≤ q,
//
//	‖diag(√u)Mb‖ ≤ ‖Y_i − Y_j‖/√x + ‖diag(√u)(p(L) − M)b‖
//
// fails with probability at most q. The union bound is over rounds, and in each over the
// edges and the nodes: see [nodes].
func (s *search) screen(ctx context.Context) error {
	o, err := s.operator(min(0.02, 0.2*s.opts.Tolerance) * s.lower)
	if err != nil {
		return err
	}
	c := &screening{search: s, operator: o, squares: make([]float64, s.edges.len())}
	c.nodes = newNodes(c)
	if s.opts.Seed == [32]byte{} {
		return c.finish(ctx)
	}
	c.q = c.failurePerBound()
	for round, want := 0, firstColumns; round < maxRounds; round, want = round+1, 2*want {
		if _, columns := c.nodes.groups(); columns <= want-c.columns {
			break
		}
		for c.columns < want {
			if err := c.project(ctx); err != nil {
				return err
			}
		}
		c.applyProjection()
		s.failure += s.opts.Failure / maxRounds
		s.dropClosed("screen")
		if err := c.improve(ctx); err != nil {
			return err
		}
		s.dropClosed("screen")
	}
	return c.finish(ctx)
}

// failurePerBound returns the failure probability of one bound: Failure over the number
// of bounds in the union of [search.screen].
func (c *screening) failurePerBound() float64 {
	return c.opts.Failure / (float64(len(c.rest)+c.n) * maxRounds)
}

// screening is the state of a screen.
type screening struct {
	*search
	*operator
	q       float64 // failure probability of one bound
	columns int     // random columns drawn so far
	squares []float64
	nodes   *nodes
}

// improve evaluates the edges of the largest estimates where that may raise the lower end.
func (c *screening) improve(ctx context.Context) error {
	pick := largest(c.rest, c.few, c.estimate)
	if len(pick) == 0 || c.estimate(pick[0]) < c.lower*(1+c.opts.Tolerance/2) {
		return nil
	}
	return c.evaluate(ctx, c.operator, pick)
}

// estimate predicts the value of edge i from the columns so far.
func (c *screening) estimate(i int32) float64 {
	e := c.edges.at(i)
	return e.scale * math.Sqrt(c.squares[i]/float64(max(c.columns, 1)))
}

// draw fills x with a block of random columns, the input of Wᵀ.
func (c *screening) draw(block int, x []float64) {
	normals(c.opts.Seed, block, x)
	c.scaleRows(x, c.block)
}

// project adds the squares of one block of random columns for the edges that remain.
func (c *screening) project(ctx context.Context) error {
	c.draw(c.columns/c.block, c.x)
	if err := c.d.Apply(ctx, c.y, true, c.x, c.block); err != nil {
		return err
	}
	c.addDifferences(c.squares, c.rest, c.y, c.block)
	c.nodes.add(c.y, c.block)
	c.columns += c.block
	return nil
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

// projectionScale returns √x, by which a computed ‖Y_i − Y_j‖ is divided, and a bound on
// its rounding error. Each normal has an error of at most normalError, which is relative
// to ‖Wb‖; rounding of Y is absolute, at most its bound times ‖Ω‖_F. Both are charged with
// ‖Ω‖_F ≤ 2√(nr), which fails with a probability far below q.
func (c *screening) projectionScale(columns int) (root, rounding float64) {
	entries := math.Sqrt(float64(columns) * float64(c.n))
	root = math.Sqrt(chiSquareQuantile(columns, c.q)) - normalError*entries
	rounding = 2 * entries * c.roundB
	return root, rounding
}

// applyProjection turns the projections into bounds, each of which fails with
// probability at most q.
func (c *screening) applyProjection() {
	root, rounding := c.projectionScale(c.columns)
	if !(root > 0) {
		return
	}
	if finest := 4 * c.longest() * (rounding/root + c.roundB); c.lower < finest {
		c.resolution = finest
	}
	relative := 1 + float64(c.columns+32)*unit
	parallel.Rows(len(c.rest), boundWork, func(lo, hi int) {
		for _, i := range c.rest[lo:hi] {
			up := (math.Sqrt(c.squares[i])*relative + rounding) / root
			c.upper[i] = min(c.upper[i], c.edges.at(i).scale*(up+c.slackB)*(1+8*unit))
		}
	})
}

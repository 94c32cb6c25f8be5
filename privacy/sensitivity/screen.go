// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"cmp"
	"context"
	"math"
	"slices"

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
// edges, once alone and once less the vectors near them.
func (s *search) screen(ctx context.Context) error {
	o, err := s.operator(min(0.02, 0.2*s.opts.Tolerance) * s.lower)
	if err != nil {
		return err
	}
	c := newScreening(&projection{search: s, operator: o})
	if s.opts.Seed == [32]byte{} {
		return c.finish(ctx)
	}
	c.q = c.failurePerBound()
	for round, want := 0, firstColumns; round < maxRounds; round, want = round+1, 2*want {
		if err := c.local(ctx, max(want, localLeast)); err != nil {
			return err
		}
		if len(c.rest) <= want-c.columns {
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
		if err := c.near.apply(ctx); err != nil {
			return err
		}
		if err := c.improve(ctx); err != nil {
			return err
		}
		s.dropClosed("screen")
	}
	return c.finish(ctx)
}

func newScreening(p *projection) *screening {
	return &screening{projection: p, near: &nearVectors{c: p}}
}

// failurePerBound returns the failure probability of one bound: Failure over the number
// of bounds in the union of [search.screen].
func (c *screening) failurePerBound() float64 {
	return c.opts.Failure / (float64(2*len(c.rest)) * maxRounds)
}

// screening is the state of a screen.
type screening struct {
	*projection
	squares []float64 // of the columns, for each edge; nil: there are none yet
	near    *nearVectors
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
	square, columns := c.squares[i], float64(max(c.columns, 1))
	if c.near.list != nil {
		at := c.near.at(i)
		square = c.near.squares[at] + columns*c.near.list[at].norm*c.near.list[at].norm
	}
	return c.edges.at(i).scale * math.Sqrt(square/columns)
}

// project adds the squares of one block of random columns for the edges that remain.
func (c *screening) project(ctx context.Context) error {
	if c.squares == nil {
		c.squares = make([]float64, c.edges.len())
	}
	c.near.keep()
	c.draw(c.columns/c.block, c.x)
	if err := c.d.Apply(ctx, c.y, true, c.x, c.block); err != nil {
		return err
	}
	c.addDifferences(c.squares, c.rest, c.y, c.block)
	c.near.add(c.y)
	c.columns += c.block
	return nil
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

// finish brackets all edges that remain, the largest bounds first.
func (c *screening) finish(ctx context.Context) error {
	if err := c.local(ctx, len(c.rest)); err != nil {
		return err
	}
	slices.SortFunc(c.rest, func(a, b int32) int {
		return cmp.Or(cmp.Compare(c.upper[b], c.upper[a]), cmp.Compare(a, b))
	})
	if len(c.rest) == 0 {
		return nil
	}
	o, err := c.search.operator(0.05 * c.opts.Tolerance * c.lower)
	if err != nil {
		return err
	}
	for len(c.rest) > 0 {
		part := c.rest[:min(o.block, len(c.rest))]
		if err := c.evaluate(ctx, o, part); err != nil {
			return err
		}
		c.rest = c.rest[len(part):]
		c.dropClosed("columns")
	}
	return nil
}

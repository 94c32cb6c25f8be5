// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// localBatch edges have one target. The work of localSample of them stands for that of all. localCost is the time of an entry of a
// step, relative to one of a block product. A screen takes about localLeast columns at least.
const (
	localBatch  = 1 << 10
	localSample = 32
	localCost   = 2
	localLeast  = 96
)

// local brackets the edges that remain by [krylov], where that takes no more work than so many columns, as on spatial graphs. It gives
// up after twice as much.
func (c *projection) local(ctx context.Context, columns int) error {
	sample := spread(c.rest, localSample)
	var work float64
	var open int
	for range 2 { // the first raises the lower end for the second
		var err error
		if work, open, err = c.bracketByKrylov(ctx, sample); err != nil {
			return err
		}
	}
	most := float64(columns) * float64(c.d.Degree()) * float64(c.lap.Work())
	if 4*open > len(sample) || work*float64(len(c.rest)) > most*float64(len(sample)) {
		return nil
	}
	work = 0
	for done := 0; done < len(c.rest) && work <= 2*most; done += localBatch {
		batch := c.rest[done:min(done+localBatch, len(c.rest))]
		more, _, err := c.bracketByKrylov(ctx, batch)
		if err != nil {
			return err
		}
		work += more
		c.opts.Progress("columns", int64(done+len(batch)), int64(len(c.rest)))
	}
	c.dropClosed("columns")
	return nil
}

// bracketByKrylov brackets a batch with the target at its beginning, so that the bits do not depend on the number of workers. It
// returns the work, in entries of a block product, and how many edges are still open.
func (s *search) bracketByKrylov(ctx context.Context, batch []int32) (work float64, open int, err error) {
	type result struct {
		up, low float64
		work    int
	}
	target := s.target()
	out := make([]result, len(batch))
	parallel.Rows(len(batch), krylovEntries, func(lo, hi int) {
		k := s.krylovs.Get().(*krylov)
		defer s.krylovs.Put(k)
		for j := lo; j < hi && ctx.Err() == nil; j++ {
			up, low := k.bracket(s.edges.at(batch[j]), target, s.opts.Tolerance)
			out[j] = result{up, low, k.work}
		}
	})
	for j, i := range batch {
		r := out[j]
		s.upper[i] = min(s.upper[i], r.up)
		s.raiseLower(i, r.low)
		if work += localCost * float64(r.work); s.upper[i] > target {
			open++
		}
	}
	return work, open, ctx.Err()
}

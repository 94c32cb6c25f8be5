// SPDX-License-Identifier: Apache-2.0

package allocation_test

import (
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/allocation"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
)

// looks is a clock that stands still until it was read after times, and then is late.
type looks struct{ read, after atomic.Int64 }

func (c *looks) now() time.Time {
	if c.read.Add(1) > c.after.Load() {
		return time.Unix(10, 0)
	}
	return time.Unix(0, 0)
}

// TestDeadlineIsHonoured: wherever the time ends, each objective reads the clock a few
// times more and returns private weights; a limit that does not bind changes no bit; and
// what is reported of the distance from the best is a bound or nothing.
func TestDeadlineIsHonoured(t *testing.T) {
	g, labels, err := graph.SBM(60, 3, .3, .03, 5)
	if err != nil {
		t.Fatal(err)
	}
	m, d := model(t, g, laplacian.Combinatorial, 1)
	for _, o := range []allocation.Objective{allocation.Separation, allocation.MaxMin, allocation.Bound, allocation.Location, allocation.Information} {
		opts := allocation.Options{Objective: o, Noise: 1}
		free, err := allocation.Optimize(t.Context(), m, d, labels, opts)
		if err != nil {
			t.Fatal(err)
		}
		var clock looks
		clock.after.Store(math.MaxInt64)
		opts.Time = time.Second
		timed, err := allocation.Optimize(t.Context(), m, d, labels, allocation.WithClock(opts, clock.now))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(timed.Weights, free.Weights) || timed.Gap != free.Gap || timed.CutShort || free.CutShort {
			t.Errorf("%v: a limit that does not bind changes the result", o)
		}
		all := clock.read.Load()
		if o == allocation.Information && all < 3*200 {
			t.Errorf("%v: %d looks at the clock in all, fewer than one a trial", o, all)
		}
		last := int64(0)
		for after := int64(1); after < all-1; after = max(after+1, after*5/4) {
			clock.read.Store(0)
			clock.after.Store(after)
			r, err := allocation.Optimize(t.Context(), m, d, labels, allocation.WithClock(opts, clock.now))
			if err != nil {
				t.Fatal(err)
			}
			last = max(last, clock.read.Load()-after)
			checkCut(t, r, free)
		}
		// Twenty pieces of a simulation look once each.
		if last > 60 {
			t.Errorf("%v: %d looks at the clock after the end", o, last)
		}
	}
}

// checkCut holds a result that was cut short against the one that was not.
func checkCut(t *testing.T, r, free *allocation.Result) {
	t.Helper()
	if !r.CutShort || r.Reporting == 0 {
		t.Errorf("%v: cut short is %v, with %d sensors", r.Objective, r.CutShort, r.Reporting)
	}
	switch {
	case r.Objective == allocation.Information:
		if !math.IsNaN(r.Gap) || !math.IsNaN(r.Limit) {
			t.Errorf("%v: gap %v and limit %v of a search that was cut short", r.Objective, r.Gap, r.Limit)
		}
	case math.IsNaN(r.Limit):
		if !math.IsNaN(r.Gap) {
			t.Errorf("%v: gap %v to no limit", r.Objective, r.Gap)
		}
	case r.Objective == allocation.Bound: // minimised
		if r.Limit > free.Value*(1+1e-9) || r.Limit <= 0 {
			t.Errorf("%v: the limit %v is no lower bound on %v", r.Objective, r.Limit, free.Value)
		}
	case r.Limit < free.Value*(1-1e-9):
		t.Errorf("%v: the limit %v is no upper bound on %v", r.Objective, r.Limit, free.Value)
	}
}

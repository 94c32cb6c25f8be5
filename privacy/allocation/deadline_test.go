// SPDX-License-Identifier: Apache-2.0

package allocation_test

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy/allocation"
)

// TestLimitIsHonoured: wherever the work ends, each objective returns private weights, the same at any number of
// workers; a limit that does not bind changes no bit; and Limit is a bound or NaN.
func TestLimitIsHonoured(t *testing.T) {
	g, labels, err := graph.SBM(60, 3, .3, .03, 5)
	if err != nil {
		t.Fatal(err)
	}
	m, d := model(t, g, laplacian.Combinatorial, 1)
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, o := range []allocation.Objective{allocation.Separation, allocation.Location, allocation.Information} {
		opts := allocation.Options{Objective: o, Noise: 1}
		free, err := allocation.Optimize(t.Context(), m, d, labels, opts)
		if err != nil {
			t.Fatal(err)
		}
		cut, done := 0, false
		for opts.Time = 1; !done; opts.Time *= 2 {
			var r [2]*allocation.Result
			for k, workers := range []int{1, 3} {
				runtime.GOMAXPROCS(workers)
				if r[k], err = allocation.Optimize(t.Context(), m, d, labels, opts); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(r[0].Weights, r[1].Weights) || r[0].CutShort != r[1].CutShort {
				t.Errorf("%v, %v: one worker and three differ", o, opts.Time)
			}
			if done = !r[0].CutShort; done {
				if !slices.Equal(r[0].Weights, free.Weights) {
					t.Errorf("%v: a limit that does not bind changes the result", o)
				}
				continue
			}
			cut++
			checkCut(t, r[0], free)
		}
		if cut < 5 {
			t.Errorf("%v: %d limits cut the search, so that little was tested", o, cut)
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
		if !math.IsNaN(r.Limit) {
			t.Errorf("%v: limit %v, of which none is proven", r.Objective, r.Limit)
		}
	case r.Limit < free.Value*(1-1e-9): // or NaN, where candidates were left out
		t.Errorf("%v: the limit %v is no upper bound on %v", r.Objective, r.Limit, free.Value)
	}
}

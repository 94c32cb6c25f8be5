// SPDX-License-Identifier: Apache-2.0

package graphcloak_test

import (
	"math"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/allocation"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/privacy"
)

// The gap of a plan is that of the noise that is added, with all that is certified for, and is proven; another budget keeps that alone which no noise changes.
func TestGapOfAPlan(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	job := paperJob()
	m, _ := testkit.Planned(t, s, job)
	plan := func(o allocation.Objective, weightError float64) *graphcloak.Plan {
		t.Helper()
		opts := job.Plan
		opts.Measured, opts.Allocation.Uniform, opts.Allocation.Objective = true, false, o
		opts.Uncertainty = privacy.Uncertainty{WeightError: weightError}
		p, err := m.Plan(t.Context(), opts)
		if err != nil || p.Allocated == nil {
			t.Fatalf("%s, %v: %v, not allocated", o, weightError, err)
		}
		return p
	}
	for _, o := range []allocation.Objective{allocation.Energy, allocation.Separation} {
		sure, unsure := plan(o, 0), plan(o, .02)
		if a := sure.Allocated; a.Gap == nil || !a.GapProven {
			t.Fatalf("%s: gap %v, proven %v", o, a.Gap, a.GapProven)
		}
		if u := unsure.Allocated; u.Gap == nil || !u.GapProven {
			t.Errorf("%s: no gap, or an estimate, where weights are uncertain", o)
		} else if *u.Gap < *sure.Allocated.Gap+.05 {
			t.Errorf("%s: gap %v, where all noise is larger %v", o, *sure.Allocated.Gap, *u.Gap)
		}
		b := sure.Budget
		b.Epsilon /= 2
		q, err := m.WithBudget(sure, b)
		if err != nil {
			t.Fatal(err)
		}
		switch a := q.Allocated; {
		case o == allocation.Energy && (a.Gap != nil || a.GapProven):
			t.Errorf("%s: a gap of %v at another budget", o, *a.Gap)
		case o == allocation.Separation && (a.Gap == nil || !a.GapProven || math.Abs(*a.Gap-*sure.Allocated.Gap) > .01):
			t.Errorf("%s: another budget has another gap than %v, or none, or an unproven one", o, *sure.Allocated.Gap)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package study

import (
	"errors"
	"testing"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/recovery"
)

// TestBreakdownOfPlan: the bracket is one, and less noise takes more liars.
func TestBreakdownOfPlan(t *testing.T) {
	m := loadExample(t, "karate", 2)
	before := 0
	for _, epsilon := range []float64{4, 200} {
		opts := plainNoise()
		opts.Epsilon, opts.Measured = epsilon, true
		p, err := m.Plan(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		b, err := BreakdownOf(t.Context(), m, p, analyst.Options{}, 6)
		if err != nil {
			t.Fatal(err)
		}
		if b.FaultRate != analyst.DefaultFaultRate || b.Answers < 1 || b.AtLeast[0] < 1 || b.AtLeast[0] > b.AtMost[0] || b.AtLeast[1] > b.AtMost[1] || b.AtMost[1] <= before {
			t.Errorf("ε = %v: %+v", epsilon, b)
		}
		before = b.AtMost[1]
		t.Logf("%+v", b)
	}
	p, err := m.Plan(t.Context(), plainNoise())
	if err != nil {
		t.Fatal(err)
	}
	bad := 1.0
	if _, err := BreakdownOf(t.Context(), m, p, analyst.Options{FaultRate: &bad}, 6); !errors.Is(err, recovery.ErrInvalid) {
		t.Errorf("rate 1: %v", err)
	}
	if _, err := BreakdownOf(t.Context(), m, p, analyst.Options{}, 0); !errors.Is(err, ErrNoBreakdown) {
		t.Errorf("no trial: %v", err)
	}
}

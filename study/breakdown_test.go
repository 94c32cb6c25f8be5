// SPDX-License-Identifier: Apache-2.0

package study

import (
	"errors"
	"testing"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/report"
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
		b, err := BreakdownOf(t.Context(), m, p, analyst.Options{}, Sample{Trials: 6})
		if err != nil {
			t.Fatal(err)
		}
		if b.FaultRate != analyst.DefaultFaultRate || b.Answers < 1 || !b.Possible(len(p.Sensors)) || b.AtMost.Median <= before {
			t.Errorf("ε = %v: %+v", epsilon, b)
		}
		before = b.AtMost.Median
		t.Logf("%+v", b)
	}
	for name, bad := range map[string]report.Breakdown{
		"no answer":         {FaultRate: .01, AtLeast: report.Liars{Tenth: 1, Median: 1}, AtMost: report.Liars{Tenth: 1, Median: 1}},
		"rate 1":            {FaultRate: 1, Answers: 1, AtLeast: report.Liars{Tenth: 1, Median: 1}, AtMost: report.Liars{Tenth: 1, Median: 1}},
		"no liar":           {FaultRate: .01, Answers: 1, AtMost: report.Liars{Tenth: 1, Median: 1}},
		"proven above seen": {FaultRate: .01, Answers: 1, AtLeast: report.Liars{Tenth: 1, Median: 3}, AtMost: report.Liars{Tenth: 1, Median: 2}},
		"more than all":     {FaultRate: .01, Answers: 1, AtLeast: report.Liars{Tenth: 1, Median: 3}, AtMost: report.Liars{Tenth: 1, Median: 9}},
	} {
		if bad.Possible(7) {
			t.Errorf("%s: possible", name)
		}
	}
	p, err := m.Plan(t.Context(), plainNoise())
	if err != nil {
		t.Fatal(err)
	}
	bad := 1.0
	if _, err := BreakdownOf(t.Context(), m, p, analyst.Options{FaultRate: &bad}, Sample{Trials: 6}); !errors.Is(err, recovery.ErrInvalid) {
		t.Errorf("rate 1: %v", err)
	}
	if _, err := BreakdownOf(t.Context(), m, p, analyst.Options{}, Sample{}); !errors.Is(err, ErrNoBreakdown) {
		t.Errorf("no trial: %v", err)
	}
}

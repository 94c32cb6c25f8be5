// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/allocation"
	"github.com/graphcloak/graphcloak/privacy"
)

// Where only the search for an allocation simulated, the table has what it found, with its
// interval, and a sentence says what the gap is of, and whether it is proven.
func TestSearchedPlan(t *testing.T) {
	gap := .123
	p := &graphcloak.Plan{Plan: &privacy.Plan{}, Allocated: &graphcloak.Allocated{
		Objective: allocation.Energy, Gap: &gap,
		Simulated: &allocation.Simulated{Trials: 64, Right: .5, Equal: .0625}, Uniform: graphcloak.Uniform{SensorCount: 9},
	}}
	rows := fmt.Sprint(planChoices(p))
	for _, want := range []string{"0.38–0.62", "0.02–0.15", "9"} {
		if !strings.Contains(rows, want) {
			t.Errorf("%s lacks %s", rows, want)
		}
	}
	if s := gapSentence(p); !strings.Contains(s, "loses about 12 %, by an estimate") {
		t.Error(s)
	}
	if s := allocationGap(p.Allocated); !strings.Contains(s, "about") {
		t.Error(s)
	}
	gap = .1204
	if p.Allocated.GapProven = true; !strings.Contains(gapSentence(p), "loses at most 13 %, which is proven") || !strings.HasPrefix(allocationGap(p.Allocated), "0.13 of") {
		t.Errorf("a gap that is at most .1204: %s %s", gapSentence(p), allocationGap(p.Allocated))
	}
	if p.Allocated.Objective = allocation.Separation; gapSentence(p) != "" {
		t.Error("another objective's gap is taken for one of energy")
	}
	if p.Allocated.Gap = nil; !strings.Contains(allocationGap(p.Allocated), "other noise") {
		t.Error(allocationGap(p.Allocated))
	}
}

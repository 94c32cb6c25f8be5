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
// interval, and a sentence says what the gap is of, which is an estimate.
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
	if p.Allocated.Objective = allocation.Separation; gapSentence(p) != "" {
		t.Error("another objective's gap is taken for one of energy")
	}
	if p.Allocated.GapProven = true; strings.Contains(allocationGap(p.Allocated), "about") {
		t.Error("a proven gap is taken for an estimate")
	}
	if p.Allocated.Gap = nil; !strings.Contains(allocationGap(p.Allocated), "other noise") {
		t.Error(allocationGap(p.Allocated))
	}
}

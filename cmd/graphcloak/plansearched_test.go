// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/allocation"
)

// Where only the search for an allocation simulated, the table has what it found, with its
// interval.
func TestSearchedPlan(t *testing.T) {
	p := &graphcloak.Plan{Plan: &privacy.Plan{}, Allocated: &plan.Allocated{
		Objective: allocation.Energy,
		Simulated: &allocation.Simulated{Trials: 64, Right: .5, Equal: .0625}, Uniform: plan.Uniform{SensorCount: 9},
	}}
	rows := fmt.Sprint(planChoices(p))
	for _, want := range []string{"0.38–0.62", "0.02–0.15", "9"} {
		if !strings.Contains(rows, want) {
			t.Errorf("%s lacks %s", rows, want)
		}
	}
}

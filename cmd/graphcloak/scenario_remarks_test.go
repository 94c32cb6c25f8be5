// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/study/simulate"
)

// TestScenarioRemarks: what cannot happen to readings that are computed is told, and of what no
// row shows nothing is said.
func TestScenarioRemarks(t *testing.T) {
	const never = "cannot happen: tau-half, tau-double, weights, relationships, faulty-sensors, silent-sensors, " +
		"drifting-sensors, background."
	for _, c := range []struct {
		args      []string
		list      []simulate.Scenario
		want, not string
	}{
		{nil, simulate.Scenarios(), never, "blob"},
		{nil, simulate.Scenarios(), "With two sources", "no-source"},
		{[]string{"--measurement-property", "heat"}, simulate.Scenarios(), "With two sources", "cannot happen"},
		{nil, simulate.Scenarios()[:1], "", "two sources"},
	} {
		a, _, _ := kit(t, c.args...)
		if got := strings.Join(a.scenarioRemarks(c.list), " "); !strings.Contains(got, c.want) || strings.Contains(got, c.not) {
			t.Errorf("%v: %q, want %q and not %q", c.args, got, c.want, c.not)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/plan"
)

// The caption does not claim a rule of choice where there is nothing to choose by.
func TestJudgedBy(t *testing.T) {
	for hopeless, want := range map[bool]string{true: "better than chance, which is 0.186", false: "the smallest tau within half a point"} {
		c := &plan.TauChoice{Chance: .18556, Hopeless: hopeless}
		if got := judgedBy(c); !strings.Contains(got, want) || strings.Contains(got, "smallest") == hopeless {
			t.Errorf("hopeless %t: %q", hopeless, got)
		}
	}
}

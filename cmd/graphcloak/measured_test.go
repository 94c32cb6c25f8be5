// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

// TestMeasuredNoise: where sensors measure and nothing is declared, noise is uniform and a note
// says why in every format; who names --allocation optimal, by a flag or in a file, gets it.
func TestMeasuredNoise(t *testing.T) {
	kit(t)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	const plan = "plan --from example:karate --measurement-property heat --tau 2 --epsilon 4 --delta 0.01 --trials 0"
	const why = "Note: Noise is uniform: sensors measure"
	for args, allocated := range map[string]bool{plan: false, plan + " --allocation optimal": true, plan + " --allocation uniform": false} {
		exit, stdout, stderr := called(t, strings.Fields(args+" --format json")...)
		if exit != 0 || strings.Contains(stdout, `"allocation":`) != allocated {
			t.Errorf("%s: exit %d, allocated is not %v: %s", args, exit, allocated, stderr)
		}
		if strings.Contains(stderr, why) != (args == plan) {
			t.Errorf("%s: %s", args, stderr)
		}
	}
	if _, stdout, _ := called(t, strings.Fields(plan+" --format table")...); !strings.Contains(strings.Join(strings.Fields(stdout), " "), "--tau FROM..TO, --relationship-error or --scenario FILE declares it") {
		t.Errorf("the table does not say how to declare:\n%s", stdout)
	}
}

// TestPlanSaysTauRange: the range that is declared stands in the answer and in the table of -v.
func TestPlanSaysTauRange(t *testing.T) {
	kit(t)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	const plan = "plan --from example:karate --measurement-property heat --tau 1.5..2.5 --epsilon 4 --delta 0.01 --trials 20 --format table -v"
	_, stdout, _ := called(t, strings.Fields(plan)...)
	text := strings.Join(strings.Fields(stdout), " ")
	for _, want := range []string{"certified for any τ from 1.5 to 2.5, the answer", "│ tau │ 1.5 to 2.5; "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, stdout)
		}
	}
}

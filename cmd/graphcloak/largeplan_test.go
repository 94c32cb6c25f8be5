// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

// TestLargePlanIsSimulated: a plan of a graph that is too large for its own simulation warns of its accuracy as one of a small
// graph does, also as a file, which does not hold what was simulated for the reader; and without trials nothing is.
func TestLargePlanIsSimulated(t *testing.T) {
	kit(t)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	const plan = "plan --from generate:grid,rows=79,cols=79 --tau 1 --epsilon 1 --delta 1e-6 --allocation uniform"
	const warning = "% interval"
	exit, stdout, stderr := called(t, strings.Fields(plan+" --trials 20 --format table")...)
	if text := strings.Join(strings.Fields(stdout), " "); exit != 0 || !strings.Contains(stderr, warning) || !strings.Contains(stderr, "from 20 simulated runs") || !strings.Contains(text, "the answer would be right in") {
		t.Errorf("exit %d: %s%s", exit, stdout, stderr)
	}
	exit, stdout, stderr = called(t, strings.Fields(plan+" --trials 20 --format json")...)
	if exit != 0 || !strings.Contains(stderr, "from 20 simulated runs") || strings.Contains(stdout, `"expectedAccuracy"`) {
		t.Errorf("exit %d: the file holds an accuracy, or there is no warning: %s", exit, stderr)
	}
	if _, stdout, stderr = called(t, strings.Fields(plan+" --trials 0 --format table")...); strings.Contains(stderr, "simulated") || !strings.Contains(strings.Join(strings.Fields(stdout), " "), "was not simulated") {
		t.Errorf("%s%s", stdout, stderr)
	}
}

// TestNodesOnAverage: thousands are written out.
func TestNodesOnAverage(t *testing.T) {
	for n, want := range map[float64]string{1: "1 node", 18.94: "18.9 nodes", 999.6: "1000 nodes", 18_940: "18900 nodes", 1_234_567: "1230000 nodes"} {
		if got := nodesOnAverage(n); got != want {
			t.Errorf("%v: %q, want %q", n, got, want)
		}
	}
}

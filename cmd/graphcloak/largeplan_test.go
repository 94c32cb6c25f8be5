// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy/allocation"
)

// TestLargePlanIsSimulated: a plan of a graph that is too large for its own simulation warns of its accuracy as one of a small
// graph does, also as a file, which does not hold what was simulated for the reader; and without trials nothing is.
func TestLargePlanIsSimulated(t *testing.T) {
	kit(t)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	const plan = "plan --from generate:grid,rows=79,cols=79 --tau 1 --epsilon 1 --delta 1e-6 --allocation uniform"
	const warning = "% interval"
	exit, stdout, stderr := called(t, strings.Fields(plan+" --trials 20 --format table")...)
	if text := strings.Join(strings.Fields(stdout), " "); exit != 0 || !strings.Contains(stderr, warning) ||
		!strings.Contains(stderr, "from 20 simulated runs") || !strings.Contains(text, "the answer would be right in") {
		t.Errorf("exit %d: %s%s", exit, stdout, stderr)
	}
	exit, stdout, stderr = called(t, strings.Fields(plan+" --trials 20 --format json")...)
	if exit != 0 || !strings.Contains(stderr, "from 20 simulated runs") || strings.Contains(stdout, `"expectedAccuracy"`) {
		t.Errorf("exit %d: the file holds an accuracy, or there is no warning: %s", exit, stderr)
	}
	if _, stdout, stderr = called(t, strings.Fields(plan+" --trials 0 --format table")...); strings.Contains(stderr, "simulated") ||
		!strings.Contains(strings.Join(strings.Fields(stdout), " "), "was not simulated") {
		t.Errorf("%s%s", stdout, stderr)
	}
}

// TestSearchedLargePlanIsNotSimulatedAgain: where the search for an allocation has simulated the plan, whatever it took, that
// is told, and nothing is simulated that hangs on the speed of the machine.
func TestSearchedLargePlanIsNotSimulatedAgain(t *testing.T) {
	a, _, _ := kit(t, "--from", "generate:grid,rows=79,cols=79", "--tau", "1", "--epsilon", "1", "--delta", "1e-6",
		"--allocation", "uniform")
	_, m, p, job := planned(t, a)
	for _, c := range []struct {
		simulated *allocation.Simulated
		allocated *plan.Allocated
		want      bool
	}{
		{nil, nil, true},
		{&allocation.Simulated{Trials: 64}, nil, false},
		{nil, &plan.Allocated{Simulated: &allocation.Simulated{Trials: 64}}, false},
	} {
		p.Simulated, p.Allocated = c.simulated, c.allocated
		if made, err := a.largeAccuracy(t.Context(), m, p, job.Recover, 2); err != nil || (made != nil) != c.want {
			t.Errorf("the search simulated %v, %v: %v is simulated, %v", c.simulated, c.allocated, made, err)
		}
	}
}

// TestLargeRunIsSimulated: a run on such a graph warns before it spends as its plan does, without naming a search that takes small graphs
// only, and is refused at chance.
func TestLargeRunIsSimulated(t *testing.T) {
	kit(t)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	const job = "run --from generate:grid,rows=79,cols=79 --source-property source --mode stats --tau 1 --epsilon 1 --delta 1e-6 " +
		"--allocation uniform"
	exit, _, stderr := called(t, strings.Fields(job)...)
	if exit != exitValidation || !strings.Contains(stderr, "from 1000 simulated runs") || !strings.Contains(stderr, "nothing was spent") ||
		strings.Contains(stderr, "--target-accuracy") {
		t.Errorf("exit %d: %s", exit, stderr)
	}
}

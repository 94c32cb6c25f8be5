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

// TestLargePlanIsSimulated: a plan of a graph that is too large for its own simulation warns of its accuracy as one of a small
// graph does, also as a file, which does not hold what was simulated for the reader; and without trials nothing is.
func TestLargePlanIsSimulated(t *testing.T) {
	kit(t)
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
	const job = "run --from generate:grid,rows=79,cols=79 --source-property source --mode stats --tau 1 --epsilon 1 --delta 1e-6 " +
		"--allocation uniform"
	exit, _, stderr := called(t, strings.Fields(job)...)
	if exit != exitValidation || !strings.Contains(stderr, "from 1000 simulated runs") || !strings.Contains(stderr, "nothing was spent") ||
		strings.Contains(stderr, "--target-accuracy") {
		t.Errorf("exit %d: %s", exit, stderr)
	}
}

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

// TestPlanOfOtherCommunities: a plan that is evaluated, and a release that is recovered from, with other communities than it
// was made for is not so in silence, though they be as many; and with its own there is nothing to say.
func TestPlanOfOtherCommunities(t *testing.T) {
	kit(t)
	writeGraph(t, "g", "id,source,end,side,risk\n0,1,a,x,1\n1,0,a,y,1\n2,0,a,x,2\n3,0,b,y,1\n4,0,b,x,1\n5,0,b,y,1\n",
		"source,target\n0,1\n1,2\n0,2\n2,3\n3,4\n4,5\n3,5\n")
	const plan = "plan --from folder:g --tau 0.1 --epsilon 100 --delta 0.01 --trials 20 -o plan.json --force --community-property end " +
		"--allocation "
	const why = "the plan was made for other communities than these"
	do := func(args, want, not string) {
		t.Helper()
		exit, _, stderr := called(t, strings.Fields(args)...)
		if text := strings.Join(strings.Fields(stderr), " "); exit != 0 || !strings.Contains(text, want) || not != "" &&
			strings.Contains(text, not) {
			t.Errorf("%s: exit %d, %q, and not %q, in %s", args, exit, want, not, stderr)
		}
	}
	for _, noise := range []string{"uniform", "optimal"} {
		do(plan+noise, "", "")
		const release = "release --from folder:g --plan plan.json --source-property source -o release.json --force"
		do(release, "", "")
		const evaluate, recover = "evaluate --from folder:g --plan plan.json --trials 20 --format json ",
			"recover --from folder:g --release release.json --format json "
		do(evaluate+"--gamma 100", why, "")
		do(evaluate, "", "was made for") // they are detected, and the same
		for _, command := range []string{evaluate, recover} {
			do(command+"--community-property side", why, "")
			do(command+"--community-property end", "", "was made for")
		}
	}
}

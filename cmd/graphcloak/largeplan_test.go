// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy/allocation"
	"github.com/graphcloak/graphcloak/study"
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

// TestLargeRunIsNotHeldUp: a note says why nothing was simulated, and what takes the time; another error is one.
func TestLargeRunIsNotHeldUp(t *testing.T) {
	a, _, stderr := kit(t)
	for _, err := range []error{study.ErrLong, fmt.Errorf("evaluation: %w", plan.ErrMemory)} {
		stderr.Reset()
		accuracy, err := a.orNote(nil, err, adviceTime, "`graphcloak plan` takes more time")
		if err != nil || accuracy != nil ||
			!strings.Contains(stderr.String(), "more than about 10s, or more memory; `graphcloak plan` takes more time") {
			t.Errorf("%v, %v: %s", accuracy, err, stderr)
		}
	}
	if _, err := a.orNote(nil, context.Canceled, adviceTime, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestRangeIsForeseen: only an allocation for a range of τ that may take minutes is told of beforehand.
func TestRangeIsForeseen(t *testing.T) {
	for _, c := range []struct {
		from, tau, allocation string
		want                  bool
	}{
		{"generate:grid,rows=50,cols=50", "1..4", "optimal", true},
		{"generate:grid,rows=50,cols=50", "1..4", "uniform", false},
		{"generate:grid,rows=50,cols=50", "2", "optimal", false},
		{"example:karate", "1..4", "optimal", false},
	} {
		a, _, stderr := kit(t, "--from", c.from, "--measurement-property", "source", "--tau", c.tau, "--epsilon", "4", "--delta", "1e-5",
			"--allocation", c.allocation)
		job, err := a.job()
		if err != nil {
			t.Fatal(err)
		}
		s, err := a.openStore(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		m, err := a.load(t.Context(), s, job)
		if err != nil {
			t.Fatal(err)
		}
		a.noteRange(m, job)
		if told := strings.Contains(stderr.String(), "at every τ from 1 to 4, which may take up to "); told != c.want {
			t.Errorf("%+v: %s", c, stderr)
		}
	}
}

// TestTrialsOf: no more than are asked for, 50 up to 200,000 nodes, and 20 at least.
func TestTrialsOf(t *testing.T) {
	for _, c := range [][3]int{{200, 6001, 50}, {200, 200_000, 50}, {200, 300_000, 33}, {200, 1_000_000, 20}, {7, 300_000, 7}} {
		if got := trialsOf(c[0], c[1]); got != c[2] {
			t.Errorf("%d of %d nodes: %d trials, want %d", c[0], c[1], got, c[2])
		}
	}
}

// TestNodesOnAverage: thousands are written out.
func TestNodesOnAverage(t *testing.T) {
	for n, want := range map[float64]string{
		1: "1 node", 18.94: "18.9 nodes", 999.6: "1000 nodes", 18_940: "18900 nodes",
		1_234_567: "1230000 nodes",
	} {
		if got := nodesOnAverage(n); got != want {
			t.Errorf("%v: %q, want %q", n, got, want)
		}
	}
}

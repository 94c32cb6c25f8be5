// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy/allocation"
)

// called runs a whole command in a folder of its own and returns what it left behind.
func called(t *testing.T, args ...string) (exit int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	exit = execute(t.Context(), args, strings.NewReader(""), &out, &errs)
	return exit, out.String(), errs.String()
}

// succeeds runs a command that ends well, and returns what it printed.
func succeeds(t *testing.T, args ...string) (stdout string) {
	t.Helper()
	exit, stdout, stderr := called(t, args...)
	if exit != exitOK {
		t.Fatalf("graphcloak %s: exit %d\n%s", strings.Join(args, " "), exit, stderr)
	}
	return stdout
}

// TestRunWarnsBeforeItSpends: pipes longer than α hide nothing. The run says so, in its
// JSON too, and under --strict spends nothing.
func TestRunWarnsBeforeItSpends(t *testing.T) {
	kit(t)
	writeGraph(t, "pipes", "id,zone,leak\n1,a,0\n2,a,1\n3,b,0\n4,b,0\n", "source,target,length\n1,2,2\n2,3,5\n3,4,2\n")
	args := []string{
		"run", "--from", "folder:pipes", "--source-property", "leak", "--metric", "length", "--community-property", "zone",
		"--epsilon", "0.1", "--format", "json",
	}
	if exit, _, stderr := called(t, append(args, "--strict")...); exit != exitBudget {
		t.Errorf("--strict without a cap: exit %d\n%s", exit, stderr)
	}
	if _, err := os.Stat(filepath.Join("pipes", ".graphcloak", "store.db")); err == nil {
		t.Error("--strict: something was recorded")
	}
	succeeds(t, "budget", "set", "--from", "folder:pipes", "--create", "--budget-scope", "property=leak",
		"--epsilon", "9", "--delta", "0.1")
	exit, _, stderr := called(t, append(args, "--strict")...)
	if exit != exitValidation || !strings.Contains(stderr, " warnings; nothing was spent") {
		t.Errorf("--strict: exit %d\n%s", exit, stderr)
	}
	if _, said, _ := called(t, "budget", "show", "--from", "folder:pipes"); !strings.Contains(said, `"releases": 0`) {
		t.Errorf("--strict: something was spent: %s", said)
	}
	exit, stdout, stderr := called(t, args...)
	var rep struct{ Warnings []string }
	if err := json.Unmarshal([]byte(stdout), &rep); err != nil || exit != exitOK {
		t.Fatalf("exit %d, %v\n%s", exit, err, stderr)
	}
	for _, text := range []string{`α = 1 while the shortest "length" is 2: no source is hidden`, "chance is 50 %"} {
		if !strings.Contains(strings.Join(rep.Warnings, "\n"), text) || !strings.Contains(stderr, text) {
			t.Errorf("no warning %q in %q and\n%s", text, rep.Warnings, stderr)
		}
		if exit, stdout, _ := called(t, "runs", "list", "--from", "folder:pipes", "--format", "csv"); exit != exitOK ||
			!strings.Contains(strings.ReplaceAll(stdout, `""`, `"`), text) {
			t.Errorf("the history does not keep %q: exit %d\n%s", text, exit, stdout)
		}
	}
}

// TestAtChanceNothingIsSpent: what simulation does not tell from chance is refused before the spend, by run and release alike, and
// plan, doctor and init say so; --spend-at-chance spends.
func TestAtChanceNothingIsSpent(t *testing.T) {
	kit(t)
	writeGraph(t, "path", "id,leak\n1,0\n2,1\n3,0\n4,0\n5,0\n6,0\n", "source,target\n1,2\n2,3\n1,3\n3,4\n4,5\n5,6\n4,6\n")
	const epsilon = "0.01"
	from := []string{"--from", "folder:path", "--epsilon", epsilon, "--delta", "1e-9"}
	for _, args := range [][]string{{"plan", "-o", "plan.json"}, {"doctor"}, {"init", "--source-property", "leak"}} {
		exit, _, stderr := called(t, append(args, from...)...)
		if text := strings.Join(strings.Fields(stderr), " "); exit != exitOK ||
			!strings.Contains(text, "from 1000 simulated runs); chance is 50 %, and it cannot be distinguished from that") ||
			!strings.Contains(text, "; a run is refused unless --spend-at-chance is given; raise ε") {
			t.Errorf("%s: exit %d\n%s", args[0], exit, stderr)
		}
	}
	commands := [][]string{
		append([]string{"run", "--source-property", "leak", "--mode", "stats", "--format", "json"}, from...),
		{"release", "--from", "folder:path", "--plan", "plan.json", "--source-property", "leak", "--format", "json"},
	}
	for _, args := range commands {
		exit, _, stderr := called(t, args...)
		if exit != exitValidation || !strings.Contains(stderr, "the answer cannot be distinguished from chance: right") ||
			!strings.Contains(stderr, "nothing was spent") {
			t.Errorf("%s: exit %d\n%s", args[0], exit, stderr)
		}
	}
	if _, err := os.Stat(filepath.Join("path", ".graphcloak", "store.db")); err == nil {
		t.Error("something was recorded")
	}
	for _, args := range commands {
		succeeds(t, append(args, "--spend-at-chance")...)
	}
}

// TestPlanKeepsItsWarnings: they are in the plan file, and a release takes it.
func TestPlanKeepsItsWarnings(t *testing.T) {
	kit(t)
	writeGraph(t, "path", "id,leak\n1,0\n2,1\n3,0\n", "source,target\n1,2\n2,3\n")
	succeeds(t, "plan", "--from", "folder:path", "--delta", "0.5", "-o", "plan.json")
	text, err := os.ReadFile("plan.json")
	var file struct{ Warnings []string }
	if err != nil || json.Unmarshal(text, &file) != nil || !strings.Contains(strings.Join(file.Warnings, "\n"), "δ = 0.5 is above 1/n") {
		t.Errorf("%v, warnings %q", err, file.Warnings)
	}
	succeeds(t, "release", "--from", "folder:path", "--plan", "plan.json", "--source-property", "leak", "-o",
		"release.json")
}

// TestPlanWarnsWithoutSimulation: where no release is simulated, the search for τ tells
// that nothing would be found.
func TestPlanWarnsWithoutSimulation(t *testing.T) {
	kit(t)
	for epsilon, warned := range map[string]bool{"0.3": true, "8": false} {
		exit, _, stderr := called(t, "plan", "--from", "example:karate", "--epsilon", epsilon, "--allocation", "uniform", "--trials", "0",
			"--format", "json")
		if exit != exitOK || strings.Contains(stderr,
			"in a rough simulation the answer is right 36 % of the time; chance is 35 %") != warned {
			t.Errorf("ε = %s: exit %d, warning wanted: %v\n%s", epsilon, exit, warned, stderr)
		}
	}
}

// TestSearchedAllocationWarns: where the accuracy of a plan is known by the search for its noise alone, as above 10,000 nodes,
// it is held against chance all the same.
func TestSearchedAllocationWarns(t *testing.T) {
	a, _, stderr := kit(t, "--from", "example:karate", "--community-property", "club", "--tau", "1", "--delta", "0.01",
		"--allocation", "uniform")
	_, m, p, _ := planned(t, a)
	for _, c := range []struct {
		right float64
		want  string
	}{
		{.11, "in a rough simulation the answer is right 11 % of the time; chance is 50 %"},
		{0, "the answer is right 0 % of the time; chance is 50 %"},
		{.9, ""},
	} {
		stderr.Reset()
		p.Allocated = &plan.Allocated{Simulated: &allocation.Simulated{Trials: 64, Right: c.right}}
		must.Do(t, a.advise(t.Context(), m, p, nil))
		text := strings.Join(strings.Fields(stderr.String()), " ")
		if !strings.Contains(text, c.want) || c.want == "" && strings.Contains(text, "of the time") {
			t.Errorf("right in %v: %q, want %q", c.right, text, c.want)
		}
	}
}

// TestPlanWithNothingGiven: on graphs of all kinds
// a plan with the defaults comes more than half of the way from chance to certainty, or its
// warning says how far it comes and what to change; what cannot be planned ends in a hint.
func TestPlanWithNothingGiven(t *testing.T) {
	kit(t)
	const served = "path,n=80" // whose answer is useful
	graphs := []string{"sbm,n=60,k=2,in=0.3,out=0.02", served, "complete,n=12", "star,n=12", "rmat,n=32,edges=60", "path,n=1"}
	for i := range graphs {
		graphs[i] = "generate:" + graphs[i]
	}
	graphs = append(graphs, "example:karate")
	useful := make(map[string]bool)
	for _, g := range graphs {
		args := []string{"plan", "--from", g, "--trials", "30"}
		if strings.HasPrefix(g, "generate:rmat,") {
			args = append(args, "--isolated", "drop")
		}
		if g != "generate:"+served { // the others take less time for a worse plan
			args = append(args, "--allocation", "uniform")
		}
		exit, stdout, stderr := called(t, args...)
		if exit != exitOK {
			if exit != exitValidation || !strings.Contains(stderr, "the graph has no relationship") || !strings.Contains(stderr, "Hint: ") {
				t.Errorf("%s: exit %d without a reason and a hint:\n%s", g, exit, stderr)
			}
			continue
		}
		var p graphcloak.Plan
		if err := json.Unmarshal([]byte(stdout), &p); err != nil || p.Accuracy == nil {
			t.Fatalf("%s: %v, %+v", g, err, p.Accuracy)
		}
		if a := p.Accuracy; a.Chance < .99 && 2*(a.Probability-a.Chance) > 1-a.Chance {
			useful[g] = true
			continue
		}
		why := strings.Contains(stderr, "; chance is ") || strings.Contains(stderr, "there is a single community")
		change := strings.Contains(stderr, "--target-accuracy 0.9` finds") || strings.Contains(stderr, "give a --community-property")
		if !strings.Contains(stderr, "Warning: ") || !why || !change {
			t.Errorf("%s: right in %v, chance %v, and nobody is told why and what to change:\n%s", g, p.Accuracy.Probability,
				p.Accuracy.Chance, stderr)
		}
	}
	if !useful["generate:"+served] {
		t.Errorf("the defaults do not serve %s", served)
	}
}

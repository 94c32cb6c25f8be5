// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
)

// spoken runs commands on a terminal of 80 columns, in a folder of their own with a graph of five
// nodes, and looks for what the last of each row says.
type spoken struct {
	name      string
	before    []string
	args      string
	want, not string
	exit      int
}

func (c spoken) check(t *testing.T) {
	t.Helper()
	kit(t)
	t.Setenv("COLUMNS", "80")
	writeGraph(t, "hall", "id,leak,part\n1,0,a\n2,1,a\n3,0,b\n4,0,b\n5,0,b\n", "source,target\n1,2\n2,3\n3,4\n4,5\n")
	for _, args := range c.before {
		if _, stderr, code := onTerminal(t, strings.Fields(args)...); code != exitOK {
			t.Fatalf("%s: exit %d: %s", args, code, stderr)
		}
	}
	stdout, stderr, code := onTerminal(t, strings.Fields(c.args)...)
	text := strings.Join(strings.Fields(stdout+stderr), " ")
	if code != c.exit || !strings.Contains(text, c.want) || c.not != "" && strings.Contains(text, c.not) {
		t.Errorf("exit %d, want %d; %q, and not %q, in %s%s", code, c.exit, c.want, c.not, stdout, stderr)
	}
}

const (
	hallRun   = "run --from folder:hall --source-property leak --tau 1 --delta 0.01 --allocation uniform"
	hallStats = hallRun + " --mode stats"
)

// TestWhatIsTold: what a reader asks first is said.
func TestWhatIsTold(t *testing.T) {
	for _, c := range []spoken{
		{name: "an empty ledger", args: "budget show --from folder:hall", want: "Nothing was spent yet, and no cap is set", not: "scope"},
		{
			name: "ε at the δ of the last release", before: []string{hallStats}, args: "budget show --from folder:hall",
			want: "│ property=leak │ 1 │ 1 │ 0.01 │", not: "rho",
		},
		{
			name: "ε at a δ that was asked for", before: []string{hallStats}, args: "budget show --from folder:hall --delta 0.05",
			want: "│ 0.05 │",
		},
		{
			name: "what was written", args: hallRun,
			want: "Written 35 values in the columns gc… of hall/nodes.csv; `graphcloak run --undo 0",
			not:  "RUNID",
		},
		{name: "how what was written is taken out", args: hallRun, want: " --from folder:hall` takes them out"},
		{name: "nothing was written", args: hallStats, want: "Spent ε = 1", not: "Written"},
		{name: "a single node", args: "plan --from folder:hall --tau 0.1 --epsilon 500 --delta 0.01 --allocation uniform --trials 20 " +
			"--community-property part", want: "hidden among 1 node on average"},
		{name: "communities side by side", args: "evaluate --from folder:hall --tau 1 --delta 0.01 --allocation uniform --trials 40 " +
			"--community-property part", want: "│ community │ nodes │ sources │ found │ conf. │ cover │ set │", not: "right if named:"},
		{
			name: "a limit on sensors that is not kept", args: "plan --from generate:complete,n=5 --tau 1 --delta 0.01 --max-sensors 2",
			want: "--max-sensors 2 is not kept: an allocation was searched for, and none was found under which more can be told of the " +
				"community; so all 5 sensors report, not at most 2; leave it out, or name the sensors by --sensor-property",
		},
		{name: "a limit on sensors that is kept", args: "plan --from folder:hall --tau 1 --delta 0.01 --community-property part " +
			"--max-sensors 2", want: "│ optimal │ 2 │", not: "is not kept"},
		{
			name: "a handful of runs", args: "plan --from folder:hall --tau 1 --delta 0.01 --allocation uniform --trials 1",
			want: "is not told by 1 simulated run: --trials 20 or more are", not: "% of the runs",
		},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t) })
	}
}

// TestWrittenFilesAreNamed: on a terminal a command whose result goes to a file says so, and
// one that spent says what and how to go on.
func TestWrittenFilesAreNamed(t *testing.T) {
	kit(t)
	t.Setenv("COLUMNS", "200")
	for _, c := range []struct{ args, want string }{
		{"graph generate example:karate club", ""},
		{"plan --from folder:club --tau 1 --epsilon 4 --delta 0.01 --trials 0 -o plan.json", "Wrote plan.json."},
		{
			"release --from folder:club --plan plan.json --source-property source -o release.json",
			"Spent ε = 4 at δ = 0.01 from scope property=source; next: `graphcloak recover --release release.json`",
		},
	} {
		if _, stderr, code := onTerminal(t, strings.Fields(c.args)...); code != exitOK ||
			!strings.Contains(strings.Join(strings.Fields(stderr), " "), c.want) {
			t.Errorf("%s: exit %d, %q is not in %s", c.args, code, c.want, stderr)
		}
	}
}

// TestHints: a mistake is found before anything is searched for, and the hint says what to
// do, or is none where the message has said it.
func TestHints(t *testing.T) {
	kit(t)
	writeGraph(t, "path", "id,leak,zone\n1,0,a\n2,1,a\n3,0,b\n", "source,target\n1,2\n2,3\n")
	writeGraph(t, "hot", "id,leak\n1,0\n2,1.5\n3,0\n", "source,target\n1,2\n2,3\n")
	writeGraph(t, "alone", "id,leak\n1,0\n", "source,target\n")
	writeGraph(t, "astray", "id,leak\n1,0\n2,1\n", "source,target\n1,2\n1,7\n")
	writeGraph(t, "gaps", "id,leak\n1,0\n2,1\n3,0\n", "source,target,type,length\n1,2,ROAD,2\n2,3,PATH,\n")
	must.Do(t, os.WriteFile(settingsFile, []byte("from: folder:path\n"), 0o600))
	const none = "no hint"
	for _, c := range []struct {
		args      string
		exit      int
		says, how string
	}{
		{"run --from folder:path --source-property leek", exitNotFound, `there is no property "leek"; did you mean "leak"?`, none},
		{"run --from folder:path --source-property nothing", exitNotFound, `there is no property "nothing"`, "numbers are in leak"},
		{"plan --from folder:path --source-property nothing", exitNotFound, `there is no property "nothing"`, "numbers are in leak"},
		{"plan --from folder:path --measurement-property soon --tau 1", exitOK, `there is no property "soon", so far`, none},
		{"plan --from folder:alone", exitValidation, "the graph has no relationship", "check labels"},
		{
			"plan --from folder:path --tau 1..2", exitValidation, "GraphCloak computes is certain",
			"name the readings by --measurement-property, or leave",
		},
		{
			"run --from folder:hot --source-property leak", exitValidation, `"leak" is outside [0, 1] on 1 node`,
			"fix the values, or name another property",
		},
		{"run --from folder:astray --source-property leak", exitValidation, "1 relationship has an end that is not in nodes.csv", ""},
		{"plan --from folder:path --epsilon much", exitUsage, `epsilon is "much" (flag --epsilon)`, none},
		{
			"plan --from folder:path --target-accuracy 0.9 --epsilon 4", exitUsage, "--epsilon says which ε, and a target finds one",
			"leave --epsilon out",
		},
		{"evaluate --from folder:path --plan nix.json", exitNotFound, "read nix.json", "`graphcloak plan -o FILE` makes one"},
		{"plan", exitUsage, "no graph is named", settingsFile + " lies here: give --config " + settingsFile},
		{"runs --from folder:path", exitUsage, "unknown flag: --from", "does not use it"},
		{"graph generate path,n=5 -o path5", exitUsage, "takes SPEC DIR, and was given 1 word", "usage:"},
		{"inspect --from folder:path", exitOK, "this is at τ = 2; without --tau", none},
		{"init gaps.yaml --from folder:gaps", exitOK, `some of the relationships lack "length"`, none},
		{"runs show", exitUsage, "takes RUNID, and was given none", "usage:"},
	} {
		exit, _, stderr := called(t, append(strings.Fields(c.args), "--format", "table")...)
		if exit != c.exit || !strings.Contains(stderr, c.says) || !strings.Contains(stderr, c.how) && c.how != none || c.how == none &&
			strings.Contains(stderr, "Hint:") {
			t.Errorf("%s: exit %d, want %d with %q and %q:\n%s", c.args, exit, c.exit, c.says, c.how, stderr)
		}
		if strings.Contains(stderr, "was chosen of") && c.exit != exitOK {
			t.Errorf("%s: τ was searched for first", c.args)
		}
	}
}

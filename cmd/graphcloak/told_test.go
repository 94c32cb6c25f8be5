// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
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
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("COLUMNS", "80")
	t.Chdir(t.TempDir())
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
		{
			name: "what an estimate of evaluate is of", args: "estimate --from folder:hall --source-property leak --tau 1 --delta 0.01",
			want: "The seconds of evaluate are those of 1,000 trials",
		},
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

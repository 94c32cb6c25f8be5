// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivo/uniseg"

	"github.com/graphcloak/graphcloak/internal/must"
)

// onTerminal runs a command as on a terminal of COLUMNS without progress, and returns what it
// prints on standard output and standard error.
func onTerminal(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	a := newApp(args, strings.NewReader(""), &out, &errs)
	a.tty.out, a.tty.err, a.console.Terminal = true, true, true
	code = a.execute(t.Context(), newRootCommand(a))
	return out.String(), errs.String(), code
}

// tooWide are the lines that are wider than a screen though they could be broken.
func tooWide(text string, columns int) (lines []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if uniseg.StringWidth(line) > columns && len(strings.Fields(line)) > 1 {
			lines = append(lines, line)
		}
	}
	return lines
}

// TestNothingIsWiderThanTheScreen runs every kind of command, with what they say on the way
// and how they fail.
func TestNothingIsWiderThanTheScreen(t *testing.T) {
	t.Setenv("TERM", "dumb")
	release := must.Get(filepath.Abs(goldenPath("net3", "release")))(t)
	kit(t)
	for _, c := range screenCommands(release) {
		t.Setenv("COLUMNS", fmt.Sprint(c.columns))
		stdout, stderr, code := onTerminal(t, strings.Fields(c.args)...)
		if code != c.exit {
			t.Errorf("%s: exit %d, want %d: %s", c.args, code, c.exit, stderr)
		}
		for _, line := range append(tooWide(stdout, c.columns), tooWide(stderr, c.columns)...) {
			t.Errorf("%s: at %d columns %d are taken: %s", c.args, c.columns, uniseg.StringWidth(line), line)
		}
		if stdout+stderr == "" {
			t.Errorf("%s says nothing", c.args)
		}
	}
}

// screenCommand is a command with the code that it ends with.
type screenCommand struct {
	columns int
	args    string
	exit    int
}

func screenCommands(release string) []screenCommand {
	const noise = " --tau 2 --epsilon 4 --delta 0.1 --allocation uniform"
	const graph = " --from folder:g"
	return []screenCommand{
		{80, "graph generate sbm,n=40,k=4,in=0.6,out=0.02,seed=3 g", exitOK},
		{80, "graph list", exitOK},
		{80, "plan --from example:karate -v --trials 20" + noise, exitOK},
		{80, "plan --from example:karate --trials 20 --epsilon 0.5 --allocation uniform", exitOK},
		{80, "plan --from example:karate --tau 1..2", exitValidation},
		{80, "plan --from example:karate --tau 1e9", exitValidation},
		{80, "evaluate --from example:karate --trials 20" + noise, exitOK},
		{80, "inspect --from example:karate --tau 2", exitOK},
		{80, "recover -v --mode stream --from example:net3 --release " + release, exitOK},
		{80, "run -v --source-property source --mode write" + noise + graph, exitOK},
		{120, "run -v --source-property source --mode stats --force" + noise + graph, exitOK},
		{80, "run --source-property nope" + noise + graph, exitNotFound},
		{80, "run --source-property source --strict" + noise + graph, exitBudget},
		{80, "runs list" + graph, exitOK},
		{80, "budget set --create --epsilon 10 --delta 0.1 --budget-scope property=source" + graph, exitOK},
		{80, "budget show" + graph, exitOK},
		{80, "doctor --tau 2" + graph, exitOK},
		{80, "job list" + graph, exitUsage},
		{80, "config view", exitOK},
		{80, "version", exitOK},
		{80, "exit-codes", exitOK},
		{80, "plan --epsilonn 4", exitUsage},
		{80, "nothing", exitUsage},
	}
}

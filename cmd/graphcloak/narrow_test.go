// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/jobs"
)

// TestListsFitTheScreen: what lists things is a table on 80 columns, too, and a run's id that
// it shortens is taken by the commands that want one.
func TestListsFitTheScreen(t *testing.T) {
	kit(t)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	writeGraph(t, "path", "id,leak\n1,0\n2,1\n3,0\n4,0\n", "source,target\n1,2\n2,3\n3,4\n")
	const at = " --from folder:path --format table"
	if exit, _, stderr := called(t,
		strings.Fields("run --source-property leak --tau 1 --epsilon 8 --delta 0.01 --allocation uniform"+at)...); exit != exitOK {
		t.Fatalf("exit %d\n%s", exit, stderr)
	}
	for _, columns := range []string{"80", "130"} {
		t.Setenv("COLUMNS", columns)
		for _, args := range []string{
			"runs list", "budget show", "estimate --tau 1",
			"evaluate --trials 20 --scenario all --tau 1 --allocation uniform",
		} {
			exit, stdout, stderr := called(t, strings.Fields(args+at)...)
			if exit != exitOK || !strings.Contains(stdout, "┌") {
				t.Errorf("%s at %s columns: exit %d%s\n%s", args, columns, exit, stderr, stdout)
			}
			if args != "runs list" {
				continue
			}
			id := strings.Fields(strings.Split(stdout, "\n")[3])[4]
			if len(id) != shortRunID {
				t.Errorf("at %s columns the id is %q:\n%s", columns, id, stdout)
			}
			if exit, stdout, stderr := called(t, "runs", "show", id, "--from", "folder:path", "--format", "json"); exit != exitOK ||
				!strings.Contains(stdout, `"runId": "`+id) {
				t.Errorf("runs show %s: exit %d %s\n%s", id, exit, stderr, stdout)
			}
		}
	}
}

func TestBeginningsOfIDs(t *testing.T) {
	runs := []jobs.Run{
		{RunID: "01a2060e-d754-71ec-82f8-c2ec5a99cf76"},
		{RunID: "01a2060e-d754-81ec-82f8-c2ec5a99cf76"},
		{RunID: "01a2060e-e754-71ec-82f8-c2ec5a99cf76"},
		{RunID: "night"},
		{RunID: "nightly"},
	}
	for start, want := range map[string]string{
		"01a2060e-e": runs[2].RunID, "01a": "01a", "nothing": "nothing", "night": "night", "nigh": "", "01a2060e-d754": "",
	} {
		if got, err := idBegunBy(start, runs); got != want || (err == nil) == (want == "") {
			t.Errorf("%q is %q, %v, want %q", start, got, err, want)
		}
	}
	if a, b := shortID(runs[0].RunID, runs), shortID(runs[2].RunID, runs); a != runs[0].RunID || b != "01a2060e-e754" {
		t.Errorf("shortened to %q and %q", a, b)
	}
}

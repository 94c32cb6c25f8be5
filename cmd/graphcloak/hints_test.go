// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
)

// TestHints: a mistake is found before anything is searched for, and the hint says what to
// do, or is none where the message has said it.
func TestHints(t *testing.T) {
	kit(t)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
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

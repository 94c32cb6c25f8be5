// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

// TestWrittenFilesAreNamed: on a terminal a command whose result goes to a file says so, and
// one that spent says what and how to go on.
func TestWrittenFilesAreNamed(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("COLUMNS", "200")
	t.Chdir(t.TempDir())
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

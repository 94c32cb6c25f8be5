// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"testing"
)

// TestPagePromisesNoMore: the page of a run whose guarantee is of each sensor, or of measured
// readings, says so beside ε and where it says what is promised, and so does the terminal.
func TestPagePromisesNoMore(t *testing.T) {
	kit(t)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	writeGraph(t, "path", "id,leak,heat\n1,0,0.2\n2,1,0.5\n3,0,0.2\n", "source,target\n1,2\n2,3\n")
	const all = "any result is at most"
	for args, want := range map[string]string{
		"--source-property leak": "",
		"--source-property leak --guarantee perSensor --budget-scope each": "for each sensor",
		"--measurement-property heat":                                      "where the process is as the guarantee in words supposes",
		"--measurement-property heat --tau 0.5..1.5":                       "where the process is as the guarantee in words supposes",
	} {
		path := "r.html"
		_ = os.Remove(path)
		exit, stdout, stderr := called(t, strings.Fields("run --from folder:path --tau 1 --epsilon 4 --delta 0.01 --new --mode stream --format table --report "+path+" "+args)...)
		page, err := os.ReadFile(path)
		if exit != exitOK || err != nil {
			t.Fatalf("%s: exit %d, %v: %s", args, exit, err, stderr)
		}
		if text := string(page); strings.Contains(text, all) != (want == "") || want != "" && strings.Count(text, want) < 2 || strings.Contains(text, "makes no published result") == strings.Contains(args, "perSensor") {
			t.Errorf("%s: the page promises something else", args)
		}
		if want != "" && !strings.Contains(strings.Join(strings.Fields(stdout), " "), want) {
			t.Errorf("%s: the terminal does not say %q:\n%s", args, want, stdout)
		}
	}
}

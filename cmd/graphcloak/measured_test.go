// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
)

// TestMeasuredNoise: where sensors measure and nothing is declared, noise is uniform and a note
// says why in every format; who names --allocation optimal, by a flag or in a file, gets it.
func TestMeasuredNoise(t *testing.T) {
	kit(t)
	const plan = "plan --from example:karate --measurement-property heat --tau 2 --epsilon 4 --delta 0.01 --trials 0"
	const why = "Note: Noise is uniform: sensors measure"
	for args, allocated := range map[string]bool{plan: false, plan + " --allocation optimal": true, plan + " --allocation uniform": false} {
		exit, stdout, stderr := called(t, strings.Fields(args+" --format json")...)
		if exit != 0 || strings.Contains(stdout, `"allocation":`) != allocated {
			t.Errorf("%s: exit %d, allocated is not %v: %s", args, exit, allocated, stderr)
		}
		if strings.Contains(stderr, why) != (args == plan) {
			t.Errorf("%s: %s", args, stderr)
		}
	}
	if _, stdout, _ := called(t, strings.Fields(plan+" --format table")...); !strings.Contains(strings.Join(strings.Fields(stdout), " "),
		"--tau FROM..TO or --scenario FILE declares it") {
		t.Errorf("the table does not say how to declare:\n%s", stdout)
	}
}

// TestPromiseInText: without -v too, plan and run say that ε is of each sensor alone, with the
// ε of all together, and of which process it holds where sensors measure; the page and what is
// not protected say it as well, also where it is made from the record.
func TestPromiseInText(t *testing.T) {
	kit(t)
	words := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	for _, c := range []struct{ settings, want, exposed string }{
		{
			"--source-property source --tau 2 --guarantee perSensor", "of any single sensor's value; together all sensors promise ε = ",
			"what the values of several sensors say together",
		},
		{
			"--measurement-property source --tau 2", "as far as the process is the model, with τ = 2 and the stated weights",
			"a source whose process is not the model",
		},
		{
			"--measurement-property source --tau 1.5..2.5", "for every τ from 1.5 to 2.5, as far as the process is the model beside that",
			"a source whose process is not the model",
		},
	} {
		t.Setenv("XDG_STATE_HOME", t.TempDir())
		with := strings.Fields(c.settings + " --epsilon 4 --delta 0.01 --format table")
		exit, stdout, stderr := called(t, append(strings.Fields("plan --from example:karate --trials 20"), with...)...)
		if text := words(stdout); exit != 0 || !strings.Contains(text, "Promised ε and δ are "+c.want) ||
			strings.Contains(c.want, "single") != strings.Contains(text,
				"each sensor's value by itself (of all together ε is larger), the answer") {
			t.Errorf("plan %s: exit %d\n%s%s", c.settings, exit, stdout, stderr)
		}
		if code, text := told(t, "", "graph", "generate", "example:karate", "g"); code != 0 {
			t.Fatal(text)
		}
		exit, stdout, stderr = called(t, append(strings.Fields("run --from folder:g --report r.html"), with...)...)
		if text := words(stdout); exit != 0 || !strings.Contains(text, "Promised ε and δ are "+c.want) {
			t.Errorf("run %s: exit %d\n%s%s", c.settings, exit, stdout, stderr)
		}
		listed := decoded[struct{ Runs []struct{ RunID string } }](t, "runs", "list", "--from", "folder:g")
		if code, text := told(t, "", "report", listed.Runs[0].RunID, "--from", "folder:g", "--report", "again.html"); code != 0 {
			t.Fatal(text)
		}
		for _, name := range []string{"r.html", "again.html"} {
			page := must.Get(os.ReadFile(name))(t)
			html := strings.ReplaceAll(string(page), "&#39;", "'")
			if n := strings.Count(html, c.want); n < 3 || !strings.Contains(html, "<li>"+c.exposed) {
				t.Errorf("%s of %s says %q %d times, want the card, the section and the cost; it lists %q: %v", name, c.settings, c.want, n,
					c.exposed, strings.Contains(html, c.exposed))
			}
			os.Remove(name)
		}
		os.RemoveAll("g")
	}
}

// TestTruthValuesAreNoReadings: a property of truth values is refused as readings by its type, before anything is spent and whatever
// the values are; a number, which 0 and 1 are, is not.
func TestTruthValuesAreNoReadings(t *testing.T) {
	kit(t)
	said := map[string]bool{}
	for _, values := range [][3]string{{"true", "false", "true"}, {"false", "false", "false"}, {"1", "0", "1"}} {
		nodes := fmt.Sprintf("id,heard\na,%s\nb,%s\nc,%s\n", values[0], values[1], values[2])
		writeGraph(t, "g", nodes, "source,target\na,b\nb,c\n")
		const run = "run --from folder:g --measurement-property heard --tau 1 --epsilon 1 --delta 0.01 --mode stats --format json"
		exit, stdout, stderr := called(t, strings.Fields(run)...)
		switch {
		case values[0] == "1":
			if exit != exitOK {
				t.Errorf("numbers: exit %d: %s%s", exit, stdout, stderr)
			}
		case exit != exitUsage || !strings.Contains(stdout, "--answer-property heard"):
			t.Errorf("exit %d: %s%s", exit, stdout, stderr)
		default:
			said[stdout+stderr] = true
		}
	}
	if len(said) != 1 {
		t.Errorf("what is said depends on the values: %v", said)
	}
}

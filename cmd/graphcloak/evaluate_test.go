// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/study/simulate"
)

// The hint on an unknown scenario names the graphs of the plan, or the one that is like it.
func TestUnknownScenarioNamesThePlans(t *testing.T) {
	planned := []plan.Alternative{{Name: "closed valve"}}
	for name, want := range map[string]string{"zzzzzzzz": ", closed valve", "closed vlave": `did you mean "closed valve"?`} {
		if _, err := simulate.Find(name, planned); !errors.Is(err, simulate.ErrScenario) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v does not say %q", name, err, want)
		}
	}
}

// TestScenarioFileRefused: what is wrong with a file of alternative graphs is said with its line or
// the scenario's name, and with a hint that is about such a file.
func TestScenarioFileRefused(t *testing.T) {
	kit(t)
	for rows, c := range map[string]struct {
		exit      int
		says, how string
	}{
		"a,0,1,2\na,1,0,3": {exitValidation, `line 3: "1"–"0" is given twice in the scenario "a"`, "scenario,source,target,weight"},
		"a,0,1,1":          {exitValidation, `alternative graph "a" changes nothing`, "the message names the scenario"},
		"a,0,33,0":         {exitValidation, `alternative graph "a": no such change: "0"–"33"`, "the message names the scenario"},
		"a,0,1,1e308":      {exitValidation, `alternative graph "a": the weights at a node`, "the message names the scenario"},
		"model,0,1,2":      {exitValidation, `a graph is called "model"`, "another name"},
		"a,0,1,-1":         {exitValidation, "line 2: weight is", "scenario,source,target,weight"},
	} {
		must.Do(t, os.WriteFile("s.csv", []byte("scenario,source,target,weight\n"+rows+"\n"), 0o600))
		refusesScenario(t, "s.csv", c.exit, c.says, c.how)
	}
	refusesScenario(t, "none.csv", exitNotFound, "no such file", "scenario,source,target,weight")
	refusesScenario(t, ".", exitValidation, "is a folder", "scenario,source,target,weight")
}

func refusesScenario(t *testing.T, path string, exit int, says, how string) {
	t.Helper()
	got, _, stderr := called(t, "plan", "--from", "example:karate", "--measurement-property", "heat", "--tau", "2", "--scenario", path,
		"--format", "table")
	said, hint, _ := strings.Cut(stderr, "Hint:")
	if got != exit || !strings.Contains(said, says) || !strings.Contains(hint, how) {
		t.Errorf("%s: exit %d, want %d with %q and the hint %q:\n%s", path, got, exit, says, how, stderr)
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestDoctorNamesWhyAJobWillFail: the exit code and what to do are those of the cause.
func TestDoctorNamesWhyAJobWillFail(t *testing.T) {
	for _, c := range []struct {
		name, job, detail, fix string
		exit                   int
	}{
		{
			"a property that is missing", "sourceProperty: nope", "has the property",
			"fix the job, or give the nodes the property", exitNotFound,
		},
		{
			"a scope without a cap", "sourceProperty: leak", "has no cap",
			"limit it first: `graphcloak budget set --create --budget-scope property=leak", exitBudget,
		},
		{"a job that can run", "sourceProperty: leak", "", "", exitOK},
	} {
		t.Run(c.name, func(t *testing.T) {
			spoken{args: "version"}.check(t)
			jobsOnFolders(t)
			if c.exit == exitOK {
				spoken{args: "budget set --from folder:hall --create --budget-scope property=leak " +
					"--epsilon 9 --delta 0.1"}.check(t)
			}
			write(t, "night.yaml", "jobs:\n  - {name: nightly, schedule: \"@daily\", "+c.job+"}\n", 0o600)
			exit, stdout, stderr := called(t, "doctor", "--from", "folder:hall", "--config", "night.yaml", "--format", "json")
			var said struct {
				Checks []struct{ Name, Detail, Fix string }
			}
			if err := json.Unmarshal([]byte(stdout), &said); err != nil {
				t.Fatal(err, stdout)
			}
			check := said.Checks[len(said.Checks)-1]
			if exit != c.exit || c.exit != exitOK &&
				(check.Name != "job nightly" || !strings.Contains(check.Detail, c.detail) || !strings.HasPrefix(check.Fix, c.fix) ||
					strings.Contains(check.Detail, c.fix)) {
				t.Errorf("exit %d, want %d; %+v\n%s", exit, c.exit, check, stderr)
			}
		})
	}
}

// TestJobListNamesWhatWillFail: a job of a property that the store lacks, or without a cap, is
// named before its first run, and one that can run is not.
func TestJobListNamesWhatWillFail(t *testing.T) {
	spoken{args: "version"}.check(t)
	jobsOnFolders(t)
	settings := `jobs:
  - {name: lacking, schedule: "@daily", sourceProperty: nope}
  - {name: uncapped, schedule: "@daily", sourceProperty: leak}
  - {name: fine, schedule: "@daily", sourceProperty: part}
`
	if err := os.WriteFile("night.yaml", []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	at := []string{"--from", "folder:hall", "--config", "night.yaml"}
	if exit, _, stderr := called(t,
		append(strings.Fields("budget set --budget-scope property=part --create --epsilon 1 --delta 0.01"), at[:2]...)...); exit != exitOK {
		t.Fatal(stderr)
	}
	exit, stdout, stderr := called(t, append([]string{"job", "list", "--format", "csv"}, at...)...)
	want := map[string]string{"fine": "", "lacking": `no node of the store has the property ""nope""`, "uncapped": "has no cap"}
	for _, row := range strings.Split(strings.TrimSpace(stdout), "\n")[1:] {
		name, rest, _ := strings.Cut(row, ",")
		if text := want[name]; !strings.Contains(rest, text) || text == "" && strings.Contains(rest, "first run will") {
			t.Errorf("%s: %s, want %q", name, rest, text)
		}
		delete(want, name)
	}
	if exit != exitOK || len(want) > 0 {
		t.Errorf("exit %d, not listed: %v: %s", exit, want, stderr)
	}
}

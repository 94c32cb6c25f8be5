// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
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

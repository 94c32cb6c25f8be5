// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
)

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
	must.Do(t, os.WriteFile("night.yaml", []byte(settings), 0o600))
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

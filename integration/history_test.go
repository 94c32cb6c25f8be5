// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/internal/must"
)

// byID are the runs of an answer of `runs list` that began with these ids.
func byID(t *testing.T, answer map[string]any, ids ...string) map[string]map[string]any {
	t.Helper()
	found := map[string]map[string]any{}
	for _, v := range answer["runs"].([]any) {
		r := v.(map[string]any)
		for _, id := range ids {
			if r["runId"] == id {
				found[id] = r
			}
		}
	}
	return found
}

// TestHistoryOfCommands: runs in every mode stand in the history of the server, with
// their times by its clock, beside what they wrote.
func TestHistoryOfCommands(t *testing.T) {
	c, label, suffix := newCLI(t), Load(t, Shipped("karate")), token()
	source(t, label, 16)
	property := secret(t, label)
	args := func(more ...string) []string {
		return append([]string{
			"run", "--node-labels", label, "--node-key", "id", "--source-property", property, "--community-property", "club",
			"--epsilon", "2", "--delta", "0.1", "--allocation", "uniform", "--property-prefix", "hy",
		}, more...)
	}
	before := must.Get(connect(t).Jobs().Now(t.Context()))(t)
	stats, write := "stats-"+suffix, "write-"+suffix
	c.ok(t, args("--mode", "stats", "--release-id", stats)...)
	c.ok(t, args("--release-id", write)...)
	found := byID(t, c.ok(t, "runs", "list", "--since", before.Add(-2*time.Second).Format(time.RFC3339)), stats, write)
	for id, mode := range map[string]string{stats: "stats", write: "write"} {
		r := found[id]
		if r["status"] != "FINISHED" || r["mode"] != mode || r["budgetScope"] != "property="+property || r["epsilonSpent"] != 2.0 ||
			r["answer"] == nil {
			t.Errorf("%s is told as %v", id, r)
		}
	}
	shown := c.ok(t, "runs", "show", stats)
	if rep, ok := shown["report"].(map[string]any); !ok || rep["runId"] != stats {
		t.Errorf("shown without its report: %v", slices.Sorted(maps.Keys(shown)))
	}
	c.ok(t, "run", "--undo", write)
	if r := byID(t, c.ok(t, "runs", "list"), write)[write]; r["status"] != "FINISHED" {
		t.Errorf("after its undoing the run is told as %v", r)
	}
	c.refused(t, 3, "there is no run", "runs", "show", "nothing-"+suffix)
	Query(t, "MATCH (r:GraphCloakRun) WHERE r.runId IN $ids DELETE r", map[string]any{"ids": []string{stats, write}})
}

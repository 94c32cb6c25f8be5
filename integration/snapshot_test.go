// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"path/filepath"
	"testing"
)

// TestSnapshot: a graph of the database is mapped from a file, and everything else comes from the database and goes there: the source,
// communities, budget and results. A node that is new is noticed.
func TestSnapshot(t *testing.T) {
	setUp(t)
	c := newCLI(t)
	label := Load(t, Shipped("karate"), ownType)
	file, source := filepath.Join(t.TempDir(), "karate.snapshot"), "began"+token()
	Query(t, "MATCH (a:`"+label+"`) SET a.`"+source+"` = CASE a.id WHEN 5 THEN 1.0 ELSE 0.0 END", nil)
	chosen := []string{"--node-labels", label, "--relationship-types", label, "--node-key", "id"}
	made := c.ok(t, append([]string{"graph", "snapshot", file}, chosen...)...)
	if made["nodeCount"].(float64) != 34 || made["relationshipCount"].(float64) != 78 {
		t.Errorf("%v nodes, %v relationships", made["nodeCount"], made["relationshipCount"])
	}
	Query(t, "MATCH (:`"+label+"`)-[r:`"+label+"`]->() WITH r SKIP 1 DELETE r", nil) // they are in the file
	run := append([]string{
		"run", "--from", "snapshot:" + file, "--source-property", source, "--community-property", "club", "--epsilon", "8",
		"--delta", "0.01", "--mode", "write", "--spend-at-chance",
	}, chosen...)
	report := c.ok(t, run...)
	if n := report["relationshipCount"].(float64); n != 78 {
		t.Errorf("a run on %v relationships", n)
	}
	written := Query(t, "MATCH (a:`"+label+"`) WHERE a.gcRunId = $id RETURN count(a)", map[string]any{"id": report["runId"]})
	if n := written[0][0]; n != int64(34) {
		t.Errorf("%v nodes carry the run", n)
	}
	Query(t, "CREATE (:`"+label+"` {id: 1000, club: 'none'})", nil)
	c.refused(t, 5, "", run...)
}

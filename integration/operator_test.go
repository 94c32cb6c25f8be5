// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"os"
	"path/filepath"
	"testing"
)

// TestStoredOperator: an operator that stands in the database as relationships with a response, at two times, is the one of a file
// with the same entries; readings are lists on the nodes; the graph is of another type.
func TestStoredOperator(t *testing.T) {
	setUp(t)
	c := newCLI(t)
	label := Load(t, Shipped("karate"), ownType)
	kind, property := "RESPONDS"+token(), "level"+token()
	Query(t, "MATCH (a:`"+label+"`)-[:`"+label+"`]-(b:`"+label+"`) CREATE (a)-[:`"+kind+"` {response: 0.1, time: 12}]->(b)", nil)
	Query(t, "MATCH (a:`"+label+"`) CREATE (a)-[:`"+kind+"` {response: 0.5, time: 6}]->(a), (a)-[:`"+kind+
		"` {response: 0.4, time: 12}]->(a)", nil)
	Query(t, "MATCH (a:`"+label+"`) SET a.`"+property+"` = [CASE a.id WHEN 5 THEN 0.5 ELSE 0.0 END, 0.1]", nil)
	file := filepath.Join(t.TempDir(), "flow.csv")
	text := "sensor,node,response,time\n"
	for _, row := range Query(t, "MATCH (a:`"+label+"`)-[r:`"+kind+"`]->(b) "+
		"RETURN toString(a.id) + ',' + b.id + ',' + r.response + ',' + r.time", nil) {
		text += row[0].(string) + "\n"
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := func(operator string, more ...string) []string {
		return append([]string{
			"run", "--node-labels", label, "--relationship-types", label, "--node-key", "id", "--measurement-property", property,
			"--community-property", "club", "--epsilon", "8", "--delta", "0.01", "--operator", operator, "--spend-at-chance",
		}, more...)
	}
	stored := c.ok(t, args("relationships:"+kind, "--mode", "write")...)
	read := c.ok(t, args(file, "--mode", "stats")...)
	if d := stored["operatorDigest"]; d == nil || d != read["operatorDigest"] {
		t.Errorf("digest %v in the database, %v in a file", d, read["operatorDigest"])
	}
	if stored["operator"] != "relationships:"+kind || stored["nodePropertiesWritten"].(float64) <= 34*5 {
		t.Errorf("operator %v, %v properties written", stored["operator"], stored["nodePropertiesWritten"])
	}
	c.refused(t, 3, "", args("relationships:NONE"+token(), "--mode", "stats")...)
	Query(t, "MATCH (a:`"+label+"` {id: 5})-[r:`"+kind+"`]->(a) SET r.response = 'much'", nil)
	c.refused(t, 6, "", args("relationships:"+kind, "--mode", "stats")...)
}

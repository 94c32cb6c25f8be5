// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
)

// waterworks is a small network beside other data of the same database: people who work
// there, and a company whose key the pipes do not have.
const waterworks = `CREATE (j1:%[1]s {code: 'j1', zone: 'a', sensor: true, leak: 0.0, place: point({x: 0, y: 0})}),
	(j2:%[1]s {code: 'j2', zone: 'a', sensor: true, leak: 0.8675309, place: point({x: 1, y: 0})}),
	(j3:%[1]s {code: 'j3', zone: 'b', sensor: true, leak: 0.0, place: point({x: 2, y: 0})}),
	(j4:%[1]s {code: 'j4', zone: 'b', sensor: true, leak: 0.0, place: point({x: 3, y: 0})}),
	(p:Worker%[1]s {name: 'Ada', vat: 1})-[:KEEPS%[1]s]->(j1),
	(j1)-[:PIPE%[1]s {length: 2.0, since: 1970}]->(j2), (j2)-[:PIPE%[1]s {length: 5.0, since: 1970}]->(j3), (j3)-[:PIPE%[1]s {length: 2.0, since: 1970}]->(j4),
	(j3)-[:PIPE%[1]s {length: 2.0, since: 1999}]->(j4)`

// testInit proposes from the schema of a real database, and what it writes runs as it is.
func testInit(t *testing.T, c cli) {
	label := "Node" + token()
	t.Cleanup(func() {
		Query(t, "MATCH (n) WHERE any(l IN labels(n) WHERE l ENDS WITH $label) DETACH DELETE n", map[string]any{"label": label})
		Query(t, "DROP CONSTRAINT `init"+label+"` IF EXISTS", nil)
	})
	Query(t, fmt.Sprintf(waterworks, label), nil)
	Query(t, "CREATE CONSTRAINT `init"+label+"` FOR (n:`"+label+"`) REQUIRE n.code IS UNIQUE", nil)
	setUp(t)
	path := filepath.Join(t.TempDir(), "settings.yaml")
	r := c.run(t, "init", path, "--node-labels", label, "--epsilon", "8", "--delta", "0.01")
	if r.exit != 0 {
		t.Fatalf("exit %d\n%s", r.exit, r.stderr)
	}
	file := must.Get(os.ReadFile(path))(t)
	for _, line := range []string{
		"from: neo4j", "  - " + label, "  - PIPE" + label, "nodeKey: code", "communityProperty: zone", "metric: length", "alpha: 2",
		"sourceProperty: leak",
		"sensorProperty: sensor", "epsilon: 8", "aggregation: SUM",
	} {
		if !slices.Contains(strings.Split(string(file), "\n"), line) {
			t.Errorf("no %q in\n%s", line, file)
		}
	}
	if text := r.stdout + r.stderr + string(file); strings.Contains(text, "8675309") || strings.Contains(string(file), Server(t).Password) {
		t.Errorf("a secret is shown:\n%s", text)
	}
	if !strings.Contains(r.stderr, "1 of 4 relationships join nodes that another joins already") {
		t.Errorf("no warning of the parallel pipe:\n%s", r.stderr)
	}
	var result struct{ Next []string }
	if err := json.Unmarshal([]byte(r.stdout), &result); err != nil || len(result.Next) != 2 {
		t.Fatalf("%v in\n%s", err, r.stdout)
	}
	for _, next := range result.Next {
		args := strings.Fields(strings.TrimPrefix(next, "graphcloak "))
		if args[0] == "run" { // four nodes in two communities: init says that this is refused
			args = append(args, "--spend-at-chance")
		}
		c.ok(t, args...)
	}
	if rows := Query(t, "MATCH (n:`"+label+"`) WHERE n.gcRunId IS NOT NULL RETURN count(n)", nil); rows[0][0] != int64(4) {
		t.Errorf("%v nodes were written, want 4", rows[0][0])
	}
	again := c.ok(t, "init", path, "--force", "--node-labels", label)["settings"].(map[string]any)
	if again["sourceProperty"] != "leak" || again["communityProperty"] != "zone" {
		t.Errorf("after a run init proposes %v", again)
	}
	if rows := Query(t, "MATCH (n:`"+label+"`) REMOVE n.leak RETURN count(n)", nil); rows[0][0] != int64(4) {
		t.Fatalf("%v nodes", rows)
	}
	c.refused(t, 64, "init does not know which property is private", "init", path, "--force", "--node-labels", label)
}

// testHostileSchema: a database whose names quote, escape and are many is read as any
// other, and steers neither Cypher nor the terminal.
func testHostileSchema(t *testing.T, c cli) {
	mark := token()
	label := "x`) MATCH (n) DETACH DELETE n //\\u0060 '\" " + mark
	kind := "\x1b[2J`]-() " + mark
	many := make(map[string]any, 1_001)
	for k := range 1_000 {
		many[fmt.Sprintf("p`%d' \"", k)] = k
	}
	many["leak"] = 0.0
	t.Cleanup(func() { Query(t, "MATCH (n {hostile: $mark}) DETACH DELETE n", map[string]any{"mark": mark}) })
	quoted := func(name string) string {
		return "`" + strings.NewReplacer("`", "``", `\`, `\u005C`).Replace(name) + "`"
	}
	Query(t, "UNWIND range(0, 3) AS i CREATE (n:"+quoted(label)+" {hostile: $mark, i: i}) SET n += $many WITH collect(n) AS all "+
		"UNWIND range(0, 2) AS i WITH all[i] AS a, all[i+1] AS b CREATE (a)-[:"+quoted(kind)+"]->(b), (a)-[:"+quoted("R"+mark)+"]->(b)",
		map[string]any{"mark": mark, "many": many})
	path := filepath.Join(t.TempDir(), "settings.yaml")
	given := `"` + strings.ReplaceAll(label, `"`, `""`) + `"`
	r := c.run(t, "init", path, "--node-labels", given, "--source-property", "leak", "--format", "table")
	if r.exit != 0 {
		t.Fatalf("exit %d\n%.2000s", r.exit, r.stderr)
	}
	if text := r.stdout + r.stderr; strings.Contains(text, "\x1b") || len(text) > 10_000 {
		t.Errorf("the terminal gets %d bytes: %.3000q", len(text), text)
	}
	file, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(file), "  - R"+mark) || strings.Contains(string(file), "[2J") {
		t.Errorf("%v\n%s", err, file)
	}
	if rows := Query(t, "MATCH (n {hostile: $mark}) RETURN count(n)", map[string]any{"mark": mark}); rows[0][0] != int64(4) {
		t.Errorf("%v nodes are left, want 4", rows[0][0])
	}
}

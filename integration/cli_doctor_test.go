// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
)

// testDoctor ends with the exit code of what is wrong.
func testDoctor(t *testing.T, c cli) {
	label := Load(t, Shipped("karate"))
	setUp(t)
	if rep := c.ok(t, "doctor", "--node-labels", label, "--node-key", "id"); rep["healthy"] != true {
		t.Errorf("a prepared database: %v", rep)
	}
	setup, _ := c.ok(t, "doctor", "--print-setup", "--node-labels", label, "--node-key", "id")["cypher"].([]any)
	if len(setup) == 0 {
		t.Error("--print-setup prints nothing")
	}
	for _, statement := range setup { // each runs on this server
		database := Server(t).Database
		if strings.HasPrefix(statement.(string), "GRANT") || strings.HasPrefix(statement.(string), "CREATE ROLE") {
			database = "system"
		}
		if _, err := Server(t).run(database, statement.(string), nil); err != nil {
			t.Errorf("--print-setup prints %s: %v", statement, err)
		}
	}
	Query(t, "MATCH (n:`"+label+"`) SET n.number = n.id", nil)
	Query(t, "CREATE INDEX FOR (n:`"+label+"`) ON (n.number)", nil)
	if out := c.ok(t, "doctor", "--node-labels", label, "--node-key", "number"); !strings.Contains(fmt.Sprint(out), "has the index") {
		t.Errorf("a key with an index and without a constraint: %v", out)
	}
	r := c.run(t, "doctor", "--node-labels", label, "--node-key", "id", "--metric", "weight", "--alpha", "0.5", "--delta", "0.1")
	for _, text := range []string{"δ = 0.1 is above 1/n", "α = 0.5 while the shortest "} {
		if !strings.Contains(r.stdout, text) || !strings.Contains(r.stderr, text) {
			t.Errorf("no %q in\n%s%s", text, r.stdout, r.stderr)
		}
	}
	for _, test := range []struct {
		exit      int
		hint, env string
		args      []string
	}{
		{exit: 3, hint: "name a label", args: []string{"--node-labels", label + "x"}},
		{exit: 3, hint: "name a property that the nodes have", args: []string{"--node-labels", label, "--node-key", "gcRunId"}},
		{exit: 3, hint: "check NEO4J_DATABASE", args: []string{"--database", "neo4jj"}},
		{exit: 4, hint: "check NEO4J_USERNAME", env: "NEO4J_PASSWORD=not-the-password"},
		{
			exit: 6, hint: "run CREATE CONSTRAINT",
			args: []string{"--node-labels", label, "--node-key", "club"},
		},
		{exit: 8, hint: "check that the server runs", env: "NEO4J_URI=bolt://127.0.0.1:9"},
	} {
		r := cli{c.path, append(c.env, test.env)}.run(t, append([]string{"doctor"}, test.args...)...)
		if r.exit != test.exit || !strings.Contains(r.stderr, "Hint: "+test.hint) || strings.Contains(r.stderr, "`graphcloak doctor`") {
			t.Errorf("doctor %v %s: exit %d, want %d with %q:\n%s", test.args, test.env, r.exit, test.exit, test.hint, r.stderr)
		}
	}
}

// testUnusedWeight: a weight or a length that nothing uses is told of, and only where the chosen
// relationships have it.
func testUnusedWeight(t *testing.T, c cli) {
	label := Load(t, Shipped("karate"))
	for kind, property := range map[string]string{"W": "weight", "D": "distance", "Y": "year"} {
		Query(t, "MATCH (a:`"+label+"`)-[r]->(b:`"+label+"`) WHERE r.distance IS NULL AND r.year IS NULL AND NOT type(r) STARTS WITH "+
			"'W' CREATE (a)-[:`"+kind+label+"` {"+property+": 2}]->(b)", nil)
	}
	for _, test := range []struct {
		name, kind, note string
		more             []string
	}{
		{"a weight", "W", `the property "weight", and it is not used: every relationship weighs 1; --relationship-weight-property weight uses it`, nil},
		{"a length", "D", `the property "distance", and it is not used: each is one hop; --metric distance takes it for their length`, nil},
		{"neither", "Y", "", nil},
		{"a weight that is used", "W", "", []string{"--relationship-weight-property", "weight"}},
	} {
		r := c.run(t, append([]string{
			"plan", "--node-labels", label, "--node-key", "id", "--relationship-types", test.kind + label,
			"--tau", "1", "--delta", "0.02", "--allocation", "uniform", "--trials", "20",
		}, test.more...)...)
		if r.exit != 0 || !strings.Contains(r.stderr, test.note) || test.note == "" && strings.Contains(r.stderr, "is not used") {
			t.Errorf("%s: exit %d, %q is not in\n%s", test.name, r.exit, test.note, r.stderr)
		}
	}
}

// testSuperseded resumes a run after a later one was finished: not without --force
// do its values take the place of the later ones.
func testSuperseded(t *testing.T, c cli) {
	label := Load(t, Shipped("karate"))
	source(t, label, 16)
	args := []string{
		"run", "--node-labels", label, "--node-key", "id", "--source-property", secret(t, label), "--allocation", "uniform",
		"--epsilon", "4", "--delta", "0.1", "--property-prefix", "sup",
	}
	cmd, file := c.start(t, args...)
	kept := must.Get(os.ReadFile(file))(t)
	must.Do(t, cmd.Wait())
	old := strings.TrimSuffix(filepath.Base(file), ".json")
	fresh, _ := c.ok(t, args...)["runId"].(string)
	if fresh <= old {
		t.Fatalf("run %s follows %s; ids should ascend with time", fresh, old)
	}
	if err := os.WriteFile(file, kept, 0o600); err != nil { // as if the first had died before its write
		t.Fatal(err)
	}
	holder := func() any {
		return Query(t, "MATCH (n:`"+label+"`) RETURN collect(DISTINCT n.supRunId)", nil)[0][0].([]any)[0]
	}
	c.refused(t, 5, "run "+fresh+" was finished on this graph since", "run", "--resume", old)
	if holder() != fresh {
		t.Errorf("the nodes carry run %v, want %s", holder(), fresh)
	}
	c.ok(t, "run", "--resume", old, "--force")
	if holder() != old {
		t.Errorf("with --force the nodes carry run %v, want %s", holder(), old)
	}
}

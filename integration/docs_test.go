// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/connector/neo4j"
)

// TestDocumentedJob: the Cypher that the page on the scheduler shows files a job that the
// scheduler takes and runs, once its graph is there; it pays from the server's scope.
func TestDocumentedJob(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "how-to", "serve.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```cypher\n")
	statement, _, found := strings.Cut(rest, "```")
	if !found || strings.Contains(rest[len(statement)+3:], "```cypher") {
		t.Fatal("the page has not one block of Cypher")
	}
	c, name := newCLI(t), "risk"+token()
	label := Load(t, Shipped("karate"), func(o *neo4j.ImportOptions) { o.RelationshipType = "KNOWS" })
	Query(t, "MATCH (n:`"+label+"` {id: 16}) SET n.risk = 1.0", nil)
	t.Cleanup(func() { Query(t, "MATCH (j:GraphCloakJob {name: $name}) DELETE j", map[string]any{"name": name}) })
	forgetJob(t, name)
	Query(t, strings.NewReplacer("'Person'", "'"+label+"'", "'risk', s", "'"+name+"', s").Replace(statement), nil)
	c.ok(t, "budget", "set", "--create", "--budget-scope", name, "--epsilon", "2", "--delta", "1e-5", "--per", "30d")
	c.ok(t, "job", "run", name, "--budget-scope", name, "--node-key", "id")
	runs := Query(t, "MATCH (r:GraphCloakRun) WHERE r.budgetScope = $name RETURN r.status, r.epsilonSpent", map[string]any{"name": name})
	if len(runs) != 1 || runs[0][0] != "FINISHED" || runs[0][1] != 0.5 {
		t.Errorf("the job of the page left the runs %v, want one that is finished and spent ε = 0.5", runs)
	}
}

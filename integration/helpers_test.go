// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	driver "github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/connector/neo4j"
	"github.com/graphcloak/graphcloak/connector/storetest"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/report"
)

// connect opens the server's store.
func connect(t testing.TB, change ...func(*neo4j.Options)) *neo4j.Store {
	t.Helper()
	o := Server(t).Options()
	for _, f := range change {
		f(&o)
	}
	s, err := neo4j.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

// setUp makes the constraints of runs and the ledger, as an administrator does.
func setUp(t testing.TB) {
	t.Helper()
	for _, statement := range neo4j.SetupConstraints(graph.Selection{}) {
		Query(t, statement, nil)
	}
}

// token is a name that no other test has.
func token() string { return rand.Text()[:8] }

// Load imports a folder under a label of its own, with the key id, and returns
// the label. The nodes go when the test ends. Change adjusts the import.
func Load(t testing.TB, csv *folder.CSV, change ...func(*neo4j.ImportOptions)) (label string) {
	t.Helper()
	label = "Test" + token()
	o := neo4j.ImportOptions{NodeLabel: label}
	for _, f := range change {
		f(&o)
	}
	t.Cleanup(func() {
		Query(t, "MATCH (n:`"+label+"`) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS", nil)
		for _, row := range Query(t, "SHOW CONSTRAINTS YIELD name, labelsOrTypes WHERE $label IN labelsOrTypes RETURN name", map[string]any{"label": label}) {
			Query(t, "DROP CONSTRAINT `"+row[0].(string)+"`", nil)
		}
	})
	if _, err := connect(t).Import(t.Context(), csv, o); err != nil {
		t.Fatal(err)
	}
	return label
}

// Shipped is a folder of examples/data.
func Shipped(name string) *folder.CSV {
	return &folder.CSV{FS: os.DirFS(filepath.Join("..", "examples", "data", name))}
}

// Files is a folder in memory.
func Files(nodes, relationships string) *folder.CSV {
	return &folder.CSV{FS: fstest.MapFS{"nodes.csv": {Data: []byte(nodes)}, "relationships.csv": {Data: []byte(relationships)}}}
}

// Query runs Cypher on the server, in a transaction of its own, and returns the
// rows.
func Query(t testing.TB, cypher string, params map[string]any) [][]any {
	t.Helper()
	rows, err := Server(t).run(Server(t).Database, cypher, params)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func (n Neo4j) run(database, cypher string, params map[string]any) (rows [][]any, err error) {
	ctx := context.Background()
	client, err := driver.NewDriverWithContext(n.URI, driver.BasicAuth(n.Username, n.Password, ""))
	if err != nil {
		return nil, err
	}
	defer client.Close(ctx)
	session := client.NewSession(ctx, driver.SessionConfig{DatabaseName: database})
	defer session.Close(ctx)
	result, err := session.Run(ctx, cypher, params)
	if err != nil {
		return nil, err
	}
	for result.Next(ctx) {
		rows = append(rows, result.Record().Values)
	}
	return rows, result.Err()
}

// newTable is what a run writes on a graph.
func newTable(t testing.TB, g *graph.Graph, runID string, sensors ...int) report.Table {
	return storetest.Table(t, g, runID, "it", sensors...)
}

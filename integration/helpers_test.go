// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"

	driver "github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j/config"

	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/connector/neo4j"
	"github.com/graphcloak/graphcloak/connector/storetest"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/report"
)

// connect opens the server's store.
func connect(t testing.TB, change ...func(*neo4j.Options)) *neo4j.Store {
	t.Helper()
	o := Server(t).Options()
	for _, f := range change {
		f(&o)
	}
	s := must.Get(neo4j.New(t.Context(), o))(t)
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

// labels are those whose nodes have gone. The constraint that an import makes stays with
// its label until the tests end: at a change of its schema the server forgets how it runs
// every statement.
var labels struct {
	sync.Mutex
	free, made []string
}

// takeLabel returns a label that no other test has at this time.
func takeLabel() (label string) {
	labels.Lock()
	defer labels.Unlock()
	if n := len(labels.free); n > 0 {
		label, labels.free = labels.free[n-1], labels.free[:n-1]
		return label
	}
	label = "Test" + token()
	labels.made = append(labels.made, label)
	return label
}

// emptyLabel deletes the nodes of a label and the constraints that the test has made on it.
func emptyLabel(t testing.TB, label string) {
	Query(t, "MATCH (n:`"+label+"`) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS", nil)
	for _, row := range Query(t, "SHOW CONSTRAINTS YIELD name, labelsOrTypes, properties WHERE $label IN labelsOrTypes AND properties "+
		"<> ['id'] RETURN name", map[string]any{"label": label}) {
		Query(t, "DROP CONSTRAINT `"+row[0].(string)+"`", nil)
	}
	labels.Lock()
	defer labels.Unlock()
	labels.free = append(labels.free, label)
}

// dropLabels removes what the labels have left in the schema.
func dropLabels(n Neo4j) error {
	rows, err := n.run(n.Database, "SHOW CONSTRAINTS YIELD name, labelsOrTypes WHERE labelsOrTypes[0] IN $labels RETURN name",
		map[string]any{"labels": labels.made})
	for _, row := range rows {
		_, dropped := n.run(n.Database, "DROP CONSTRAINT `"+row[0].(string)+"`", nil)
		err = errors.Join(err, dropped)
	}
	return err
}

// Load imports a folder under a label that no other test has meanwhile, with the key id,
// and returns the label. The nodes go when the test ends. Change adjusts the import.
func Load(t testing.TB, csv *folder.CSV, change ...func(*neo4j.ImportOptions)) (label string) {
	t.Helper()
	label = takeLabel()
	o := neo4j.ImportOptions{NodeLabel: label}
	for _, f := range change {
		f(&o)
	}
	t.Cleanup(func() { emptyLabel(t, label) })
	must.Get(connect(t).Import(t.Context(), csv, o))(t)
	return label
}

// ownType gives an import a relationship type with the name of its label. A test that runs
// beside others selects it: without a type, every relationship of the database counts as a
// change of the graph.
func ownType(o *neo4j.ImportOptions) { o.RelationshipType = o.NodeLabel }

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
	return must.Get(Server(t).run(Server(t).Database, cypher, params))(t)
}

// drivers are those of the servers, by address.
var drivers sync.Map

// driver returns the server's, which is shared and asks before each use whether a
// connection is alive: servers are killed here.
func (n Neo4j) driver() (driver.DriverWithContext, error) {
	if d, ok := drivers.Load(n.URI); ok {
		return d.(driver.DriverWithContext), nil
	}
	d, err := driver.NewDriverWithContext(n.URI, driver.BasicAuth(n.Username, n.Password, ""),
		func(c *config.Config) { c.ConnectionLivenessCheckTimeout = 0 })
	if err != nil {
		return nil, err
	}
	kept, _ := drivers.LoadOrStore(n.URI, d)
	return kept.(driver.DriverWithContext), nil
}

func (n Neo4j) run(database, cypher string, params map[string]any) (rows [][]any, err error) {
	ctx := context.Background()
	client, err := n.driver()
	if err != nil {
		return nil, err
	}
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

// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/connector/neo4j"
	"github.com/graphcloak/graphcloak/connector/storetest"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
)

// The same bits from Neo4j and from the folder, on real graphs, in one chunk and
// in many.
func TestRealGraphs(t *testing.T) {
	for _, test := range []struct {
		name string
		sel  graph.Selection
	}{
		{"net3", graph.Selection{RelationshipTypes: []string{"PIPE"}, LengthProperty: "length"}},
		{"minnesota", graph.Selection{}},
		{"karate", graph.Selection{RelationshipWeightProperty: "weight"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			csv := Shipped(test.name)
			expect := must.Get(csv.Graph(t.Context(), test.sel))(t)
			label := Load(t, csv)
			sel := test.sel
			sel.NodeLabels, sel.NodeKey = []string{label}, "id"
			for _, batch := range []int{0, 37} {
				if batch != 0 && test.name != "net3" {
					continue
				}
				s := connect(t, func(o *neo4j.Options) { o.BatchSize = batch })
				got := must.Get(s.Graph(t.Context(), sel))(t)
				if got.Digest() != expect.Digest() || got.Dropped() != expect.Dropped() {
					t.Errorf("batch %d: %d nodes, %d edges, dropped %+v; the folder has %d, %d, %+v", batch,
						got.Order(), got.Size(), got.Dropped(), expect.Order(), expect.Size(), expect.Dropped())
				}
			}
		})
	}
}

// A value of any other type is refused like a bad number.
func TestOddValues(t *testing.T) {
	label := Load(t, Files("id,key\n1,a\n2,b\n3,c\n", "source,target,w\n1,2,1\n2,3,1\n"))
	s := connect(t)
	sel := graph.Selection{NodeLabels: []string{label}, NodeKey: "id", RelationshipWeightProperty: "w"}
	for cypher, says := range map[string]string{
		"'heavy'":             `weight is the text "heavy"`,
		"[1.0, 2.0]":          "is a list",
		"date()":              "is a",
		"true":                "is a bool",
		"[]":                  "is a list", // not missing
		"0.0/0.0":             "is NaN",
		"-1":                  "is -1",
		"9223372036854775807": "",
	} {
		Query(t, "MATCH (:`"+label+"` {id: 1})-[r]->() SET r.w = "+cypher, nil)
		_, err := s.Graph(t.Context(), sel)
		if says == "" {
			if err != nil {
				t.Errorf("w = %s: %v", cypher, err)
			}
		} else if !errors.Is(err, connector.ErrInput) || !strings.Contains(err.Error(), strings.TrimPrefix(says, "weight ")) {
			t.Errorf("w = %s: %v, want ErrInput that says %q", cypher, err, says)
		}
	}
	Query(t, "MATCH (n:`"+label+"` {id: 3}) SET n.key = 1.5", nil)
	sel.NodeKey = "key"
	if _, err := s.Graph(t.Context(), sel); !errors.Is(err, connector.ErrInput) || !strings.Contains(err.Error(), "1.5") {
		t.Errorf("a number with a fraction as a key: %v, want ErrInput", err)
	}
}

// Names that would end a quotation, or a statement, are only names.
func TestUnsafeNames(t *testing.T) {
	const odd = "a`b) DETACH DELETE (n); //"
	csv := Files("id,"+odd+"\n1,0.25\n2,0.5\n", "source,target,type,"+odd+"\n1,2,"+odd+",3\n")
	label := Load(t, csv)
	Query(t, "MATCH (n:`"+label+"`) SET n:`"+strings.ReplaceAll(odd+label, "`", "``")+"`", nil)
	s := connect(t)
	g := must.Get(s.Graph(t.Context(), graph.Selection{
		NodeLabels: []string{odd + label}, NodeKey: "id", RelationshipTypes: []string{odd}, RelationshipWeightProperty: odd,
		LengthProperty: odd,
	}))(t)
	if e, ok := g.Edge(0, 1); !ok || e.Weight != 3 || e.Length != 3 {
		t.Errorf("the edge is %+v", e)
	}
	if y, err := s.Signal(t.Context(), g, odd); err != nil || y[0] != 0.25 || y[1] != 0.5 {
		t.Errorf("the signal is %v, %v", y, err)
	}
	table := storetest.Table(t, g, "unsafe-"+token(), odd)
	must.Do(t, errors.Join(s.Check(t.Context(), g, table, false), s.Write(t.Context(), g, table, false)))
	if y, err := s.Signal(t.Context(), g, odd+"Source"); err != nil || y[1] != 1.0/7 {
		t.Errorf("the written source is %v, %v, want 1/7", y, err)
	}
	if n, err := s.Undo(t.Context(), table.RunID()); err != nil || n != 2 {
		t.Errorf("undone %d nodes, %v, want 2", n, err)
	}
	if _, err := s.Signal(t.Context(), g, odd+"'"); !errors.Is(err, connector.ErrNotFound) {
		t.Errorf("%v, want ErrNotFound", err)
	}
}

func TestQueries(t *testing.T) {
	csv := Files("id,age\n1,10\n2,20\n3,30\n", "source,target,w\n1,2,1.5\n2,3,2.5\n")
	key := "key" + token() // which no other node has
	label := Load(t, csv, func(o *neo4j.ImportOptions) { o.NodeKey = key })
	s := connect(t)
	for _, test := range []struct{ ref, key string }{{"%", key}, {"%." + key, key}, {"%", ""}, {"elementId(%)", ""}} {
		of := func(x string) string { return strings.ReplaceAll(test.ref, "%", x) }
		sel := graph.Selection{
			NodeKey: test.key, RelationshipWeightProperty: "w",
			NodeQuery: "MATCH (n:" + label + ")--() WHERE n.age < 40 RETURN " + of("n") + " AS id",
			RelationshipQuery: "MATCH (a:" + label + ")-[r]->(b) RETURN " + of("a") + " AS source, " + of("b") +
				" AS target, r.w AS weight",
		}
		g, err := s.Graph(t.Context(), sel)
		if err != nil {
			t.Fatalf("%s: %v", test.ref, err)
		}
		sel.NodeQuery, sel.RelationshipQuery, sel.NodeLabels = "", "", []string{label}
		expect := must.Get(s.Graph(t.Context(), sel))(t)
		if g.Digest() != expect.Digest() || g.Order() != 3 {
			t.Errorf("%s: read %d nodes and %d edges", test.ref, g.Order(), g.Size())
		}
	}
	for query, says := range map[string]string{
		"CREATE (n:" + label + ") RETURN n AS id":                                                      "must not write",
		"MATCH (n:" + label + ") SET n.age = 1 RETURN n AS id":                                         "must not write",
		"MATCH (n:" + label + " RETURN n AS id":                                                        "Invalid input",
		"MATCH (n:" + label + ") RETURN n AS node":                                                     "want id",
		"MATCH (n:" + label + ") RETURN n.age * 1.5 AS id":                                             "returns a float64 as id",
		"MATCH (n:" + label + ") RETURN elementId(n) AS id":                                            "of which 0 are those of nodes",
		"UNWIND [1000000000] AS id RETURN id":                                                          "of which 0 are those of nodes",
		"MATCH (n:" + label + ") RETURN [n." + key + "] AS id":                                         "returns a []interface {} as id",
		"MATCH (n:" + label + ") RETURN CASE n." + key + " WHEN 1 THEN 7 ELSE n." + key + " END AS id": "returns 3 ids of which 2",
	} {
		_, err := s.Graph(t.Context(), graph.Selection{NodeKey: key, NodeQuery: query})
		if !errors.Is(err, connector.ErrInput) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want ErrInput that says %q", query, err, says)
		}
	}
	if n := Query(t, "MATCH (n:"+label+") RETURN count(n), max(n.age)", nil)[0]; n[0] != int64(3) || n[1] != int64(30) {
		t.Errorf("a query that writes changed the data: %v", n)
	}
}

// A property resembles an internal id: without a key it is refused, and with one it is
// the key of a node, never the id of a stranger.
func TestQueryOfStrangers(t *testing.T) {
	key := "key" + token()
	label := Load(t, Files("id,name\n1,a\n2,b\n3,c\n", "source,target\n1,2\n2,3\n"), func(o *neo4j.ImportOptions) { o.NodeKey = key })
	s := connect(t)
	for property, value := range map[string]string{key: "id(n)", "name": "elementId(n)"} {
		Query(t, "MATCH (n:"+label+") WITH n, "+value+" AS v ORDER BY v WITH collect(n) AS ns, collect(v) AS vs UNWIND range(0, 2) AS i "+
			"WITH ns[i] AS n, vs[(i + 1) % 3] AS v SET n."+property+" = v", nil) // each holds the id of the next
	}
	for _, test := range []struct {
		sel  graph.Selection
		says string
	}{
		{
			graph.Selection{NodeQuery: "MATCH (n:" + label + ") RETURN n." + key + " AS id"},
			"returns a int64 as id, want a node (RETURN n AS id) or its elementId()",
		},
		{graph.Selection{NodeQuery: "MATCH (n:" + label + ") RETURN id(n) AS id"}, "returns a int64 as id"},
		{graph.Selection{NodeLabels: []string{label}, RelationshipQuery: "MATCH (a:" + label + ")-->(b) RETURN a." + key +
			" AS source, b AS target"}, "returns a int64 as source"},
		{graph.Selection{NodeLabels: []string{label}, RelationshipQuery: "MATCH (a:" + label +
			")-->(b) RETURN a AS source, id(b) AS target"}, "returns a int64 as target"},
		{graph.Selection{NodeLabels: []string{label}, NodeKey: key, RelationshipQuery: "MATCH (a:" + label +
			")-->(b) RETURN a AS source, b.name AS target"}, "outside the selected nodes: row 1"},
	} {
		_, err := s.Graph(t.Context(), test.sel)
		if !errors.Is(err, connector.ErrInput) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%+v: %v, want ErrInput that says %q", test.sel, err, test.says)
		}
	}
	none, err := s.Graph(t.Context(), graph.Selection{
		NodeQuery: "MATCH (n:" + label + ") WHERE false RETURN n AS id", RelationshipQuery: "MATCH (a:" + label +
			")-->(b) RETURN a AS source, b AS target",
	})
	if err != nil || none.Order() != 0 { // whose relationships are at fault would mislead
		t.Errorf("a node query that selects nothing: %v, want an empty graph", err)
	}
	want := must.Get(s.Graph(t.Context(), graph.Selection{NodeLabels: []string{label}, NodeKey: key}))(t)
	got, err := s.Graph(t.Context(), graph.Selection{
		NodeKey: key, NodeQuery: "MATCH (n:" + label + ") RETURN n." + key + " AS id",
		RelationshipQuery: "MATCH (a:" + label + ")-->(b) RETURN a." + key + " AS source, b." + key + " AS target",
	})
	if err != nil || got.Digest() != want.Digest() {
		t.Errorf("keys that are the internal ids of others: %v, or another graph", err)
	}
	Query(t, "CREATE (n:"+label+"Other) WITH n MATCH (m:"+label+") WITH n, min(m."+key+") AS least SET n."+key+" = least", nil)
	t.Cleanup(func() { Query(t, "MATCH (n:"+label+"Other) DELETE n", nil) })
	_, err = s.Graph(t.Context(), graph.Selection{NodeKey: key, NodeQuery: "MATCH (n:" + label + ") RETURN n." + key + " AS id"})
	if !errors.Is(err, connector.ErrInput) || !strings.Contains(err.Error(), "RETURN n AS id") {
		t.Errorf("a key that two nodes have: %v, want ErrInput", err)
	}
}

// No import takes a label of the ledger or of runs, be it by an option, by the column
// labels or on the nodes that it would replace.
func TestImportSparesTheLedger(t *testing.T) {
	label := Load(t, Files("id\n1\n", "source,target\n"))
	Query(t, "CREATE (:GraphCloakEntry:`"+label+"` {key: $label})", map[string]any{"label": label})
	s, entries := connect(t), "MATCH (n:GraphCloakEntry {key: $label}) RETURN count(n)"
	empty, labelled := "source,target\n", Files("id,labels\n1,A;GraphCloakBudget\n", "source,target\n")
	for _, own := range []string{"GraphCloakEntry", "GraphCloakBudget", "GraphCloakLock", "GraphCloakRun", label} {
		_, err := s.Import(t.Context(), Files("id\n1\n", empty), neo4j.ImportOptions{NodeLabel: own, Replace: true})
		if !errors.Is(err, connector.ErrInput) {
			t.Errorf("an import that replaces %s: %v, want ErrInput", own, err)
		}
	}
	if _, err := s.Import(t.Context(), labelled, neo4j.ImportOptions{NodeLabel: label + "x"}); !errors.Is(err, connector.ErrInput) {
		t.Errorf("an import of a node with a label of the ledger: %v, want ErrInput", err)
	}
	if n := Query(t, entries, map[string]any{"label": label})[0][0]; n != int64(1) {
		t.Errorf("the imports left %v entries, want 1", n)
	}
}

// A folder that is refused leaves nothing.
func TestRefusedImport(t *testing.T) {
	label := "Test" + token()
	_, err := connect(t).Import(t.Context(), Files("id\n1\n1\n", "source,target\n1,7\n"), neo4j.ImportOptions{NodeLabel: label})
	if !errors.Is(err, connector.ErrInput) {
		t.Errorf("a folder with a double id: %v, want ErrInput", err)
	}
	if n := Query(t, "MATCH (n:`"+label+"`) RETURN count(n)", nil)[0][0]; n != int64(0) {
		t.Errorf("a refused import left %v nodes", n)
	}
}

// The same graph is read whether its ids lie close together or far apart, between
// those of other labels and types and of what was deleted, in large chunks and in
// small ones, with gaps among the weights or without.
func TestExtents(t *testing.T) {
	const n = 60
	for _, between := range []int{2, 30} { // nodes and relationships of others
		t.Run(fmt.Sprint(between), func(t *testing.T) {
			label, want := spread(t, n, between)
			for _, batch := range []int{0, 3} {
				s := connect(t, func(o *neo4j.Options) { o.BatchSize = batch })
				for _, sel := range []graph.Selection{
					{NodeLabels: []string{label}, RelationshipTypes: []string{label}},
					{NodeLabels: []string{label, label + "Half"}, RelationshipTypes: []string{label, label}},
					{NodeLabels: []string{label}},
					{NodeLabels: []string{label + "Half"}, RelationshipTypes: []string{label}},
				} {
					sel.NodeKey, sel.RelationshipWeightProperty = "id", "w"
					expect := want(slices.Contains(sel.NodeLabels, label))
					if g, err := s.Graph(t.Context(), sel); err != nil || g.Digest() != expect.Digest() {
						t.Errorf("batch %d, %v %v: %v, %v, want %d nodes and %d edges", batch, sel.NodeLabels, sel.RelationshipTypes, g,
							err, expect.Order(), expect.Size())
					}
				}
			}
			Query(t, "MATCH (:`"+label+"` {id: 30})-[r:`"+label+"`]->() REMOVE r.w", nil)
			sel := graph.Selection{
				NodeLabels: []string{label}, NodeKey: "id", RelationshipTypes: []string{label},
				RelationshipWeightProperty: "w",
			}
			if _, err := connect(t).Graph(t.Context(), sel); !errors.Is(err, connector.ErrInput) ||
				!strings.Contains(err.Error(), `"30"–"31": w is missing`) {
				t.Errorf("a missing weight: %v, want ErrInput that names the relationship", err)
			}
		})
	}
}

// spread makes a line of n nodes with others between, of which half are deleted,
// and a label on the even nodes and the first ten. It returns what should be read.
func spread(t *testing.T, n, between int) (label string, want func(all bool) *graph.Graph) {
	label = "Test" + token()
	t.Cleanup(func() { Query(t, "MATCH (n) WHERE n:`"+label+"` OR n:`"+label+"Other` DETACH DELETE n", nil) })
	Query(t, "UNWIND range(0, $n - 1) AS i CREATE (:`"+label+"` {id: i}) FOREACH (k IN range(1, $between) | CREATE (:`"+label+
		"Other` {id: k}))",
		map[string]any{"n": n, "between": between})
	Query(t, "MATCH (n:`"+label+"`) WHERE n.id < 10 OR n.id % 2 = 0 SET n:`"+label+"Half`", nil)
	Query(t, "MATCH (a:`"+label+"`) MATCH (b:`"+label+"` {id: a.id + 1}) CREATE (a)-[:`"+label+"` {w: a.id + 0.5}]->(b) "+
		"FOREACH (k IN range(1, $between) | CREATE (a)-[:`"+label+"Other` {w: 1}]->(:`"+label+"Other` {id: -k}))",
		map[string]any{"between": between})
	Query(t, "MATCH (n:`"+label+"Other`) WHERE n.id % 2 = 0 DETACH DELETE n", nil)
	return label, func(all bool) *graph.Graph {
		b := &graph.Builder{}
		order := rand.Perm(n) // of arrival, which should not matter
		for _, i := range order {
			if all || i < 10 || i%2 == 0 {
				must.Get(b.AddNode(graph.ID(fmt.Sprint(i))))(t)
			}
		}
		for i := range n - 1 {
			u, ok := b.Handle(graph.ID(fmt.Sprint(i)))
			v, also := b.Handle(graph.ID(fmt.Sprint(i + 1)))
			if ok && also {
				must.Do(t, b.Connect(u, v, float64(i)+0.5, 1))
			}
		}
		return must.Get(b.Graph())(t)
	}
}

// The start and the end of a run are times of the database.
func TestRunTimes(t *testing.T) {
	sel := line(t, 3)
	s := connect(t)
	g := must.Get(s.Graph(t.Context(), sel))(t)
	id := "times-" + token()
	must.Do(t, s.Write(t.Context(), g, newTable(t, g, id), false))
	row := Query(t, "MATCH (r:GraphCloakRun {runId: $id}) RETURN valueType(r.startedAt), valueType(r.finishedAt), r.startedAt < "+
		"r.finishedAt", map[string]any{"id": id})[0]
	if row[0] != "ZONED DATETIME NOT NULL" || row[1] != row[0] || row[2] != true {
		t.Errorf("start and end are %v", row)
	}
}

// A run is undone where ids are far apart as where they are close.
func TestUndoOfSparseIDs(t *testing.T) {
	label := "Test" + token()
	t.Cleanup(func() { Query(t, "MATCH (n:`"+label+"`|`"+label+"Other`) DETACH DELETE n", nil) })
	// The server gives freed ids again, so the ends are chosen once all are there.
	Query(t, "UNWIND range(1, 20000) AS i CREATE (:`"+label+"Other`)", nil)
	Query(t, "MATCH (n:`"+label+"Other`) WITH n ORDER BY id(n) WITH collect(n) AS all WITH all[0] AS a, all[-1] AS b "+
		"SET a.id = 0, a:`"+label+"`, b.id = 1, b:`"+label+"` REMOVE a:`"+label+"Other`, b:`"+label+"Other` CREATE (a)-[:`"+label+
		"`]->(b)", nil)
	Query(t, "MATCH (n:`"+label+"Other`) DELETE n", nil)
	if row := Query(t, "MATCH (n) RETURN count(n), max(id(n)) - min(id(n))", nil)[0]; row[1].(int64) <= 4*row[0].(int64) {
		t.Fatalf("%v nodes over %v ids are not sparse", row[0], row[1])
	}
	s := connect(t)
	g, err := s.Graph(t.Context(), graph.Selection{NodeLabels: []string{label}, NodeKey: "id", RelationshipTypes: []string{label}})
	if err != nil {
		t.Fatal(err)
	}
	id := "sparse-" + token()
	must.Do(t, s.Write(t.Context(), g, newTable(t, g, id), false))
	if n, err := s.Undo(t.Context(), id); err != nil || n != 2 {
		t.Errorf("undo of 2 nodes: %d, %v", n, err)
	}
	if row := Query(t, "MATCH (n:`"+label+"`) RETURN count(n), count(n.gcRunId)", nil)[0]; row[0] != int64(2) || row[1] != int64(0) {
		t.Errorf("nodes and those that carry a run: %v", row)
	}
}

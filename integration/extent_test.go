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
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
)

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

// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/connector/neo4j"
	"github.com/graphcloak/graphcloak/connector/storetest"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/jobs"
)

// childBatch is the number of nodes in a transaction of a writer that is watched.
const childBatch = 10

// line loads n nodes in a line and returns the selection of them.
func line(t *testing.T, n int) graph.Selection {
	t.Helper()
	var nodes, relationships strings.Builder
	nodes.WriteString("id\n")
	relationships.WriteString("source,target\n")
	for i := range n {
		fmt.Fprintf(&nodes, "%d\n", i)
		if i > 0 {
			fmt.Fprintf(&relationships, "%d,%d\n", i-1, i)
		}
	}
	return graph.Selection{NodeLabels: []string{Load(t, Files(nodes.String(), relationships.String()))}, NodeKey: "id"}
}

// written counts the nodes that carry a run's id.
func written(t *testing.T, label, runID string) int64 {
	t.Helper()
	return Query(t, "MATCH (n:`"+label+"` {itRunId: $run}) RETURN count(n)", map[string]any{"run": runID})[0][0].(int64)
}

// A batch for which the server has too little memory is halved until it fits.
func testMemoryPool(t *testing.T, server Neo4j) {
	const n = 8_000
	run := func(cypher string) (rows [][]any, err error) {
		return server.run(server.Database, cypher, map[string]any{"n": n})
	}
	must.Get(run("UNWIND range(1, $n) AS i CALL (i) { CREATE (:Big {id: i}) } IN TRANSACTIONS OF 1000 ROWS"))(t)
	_, err := run("MATCH (n:Big) SET n.x = 0.5, n.y = 0.5, n.z = 'some text', n.u = 0.1, n.v = 1")
	if err == nil || !strings.Contains(err.Error(), "MemoryPoolOutOfMemory") {
		t.Fatalf("one transaction for all nodes: %v; the pool is too large for this test", err)
	}
	o := server.Options()
	o.BatchSize = n
	s := must.Get(neo4j.New(t.Context(), o))(t)
	defer s.Close(context.Background())
	g := must.Get(s.Graph(t.Context(), graph.Selection{NodeLabels: []string{"Big"}, NodeKey: "id"}))(t)
	table := newTable(t, g, "pool", 0, 1, 2)
	must.Do(t, s.Write(t.Context(), g, table, false))
	rows, err := run("MATCH (n:Big {itRunId: 'pool'}) RETURN count(n)")
	if err != nil || rows[0][0] != int64(n) {
		t.Errorf("%v of %d nodes are written, %v", rows, n, err)
	}
	if k, err := s.Undo(t.Context(), "pool"); err != nil || k != n {
		t.Errorf("undone %d of %d nodes, %v", k, n, err)
	}
	must.Get(run("MATCH (n:Big) WHERE n.id <= $n CALL (n) { DELETE n } IN TRANSACTIONS OF 1000 ROWS"))(t)
}

// What comes while the graph is read is noticed by the counts.
func TestChangedWhileRead(t *testing.T) {
	for stage, change := range map[string]string{
		"relationships": "CREATE (:`LABEL` {id: 1000})",
		"nodes":         "MATCH (a:`LABEL` {id: 3}), (b:`LABEL` {id: 9}) CREATE (a)-[:`LABEL`]->(b)",
	} {
		sel, done := line(t, 50), false
		s := connect(t, func(o *neo4j.Options) {
			o.Progress = func(at string, _, _ int64) {
				if at == stage && !done {
					done = true
					Query(t, strings.ReplaceAll(change, "LABEL", sel.NodeLabels[0]), nil)
				}
			}
		})
		if _, err := s.Graph(t.Context(), sel); !errors.Is(err, connector.ErrConflict) {
			t.Errorf("%s: %v, want ErrConflict", stage, err)
		}
		if _, err := s.Graph(t.Context(), sel); err != nil {
			t.Errorf("%s, read again: %v", stage, err)
		}
	}
}

// A node that was deleted leaves its internal id to the next one that is created,
// which then stands where the selected one was: it is not read, and gets no value.
// Here the node itself becomes another, since an id is given away only later.
func TestStranger(t *testing.T) {
	for name, test := range map[string]struct {
		sel    func(label string) graph.Selection
		become string // of node n
	}{
		"another key": {
			func(l string) graph.Selection { return graph.Selection{NodeLabels: []string{l}, NodeKey: "id"} },
			"SET n.id = 1000",
		},
		"a key of no type": {
			func(l string) graph.Selection { return graph.Selection{NodeLabels: []string{l}, NodeKey: "id"} },
			"SET n.id = point({x: 1, y: 2})",
		},
		"another label": {
			func(l string) graph.Selection { return graph.Selection{NodeLabels: []string{l}} },
			"REMOVE n:$LABEL SET n:Stranger",
		},
		"a label, by a query": {func(l string) graph.Selection {
			return graph.Selection{NodeQuery: "MATCH (n:" + l + ") RETURN n AS id"}
		}, "REMOVE n:$LABEL SET n:Stranger"},
		"a key, by a query": {func(l string) graph.Selection {
			return graph.Selection{NodeKey: "id", NodeQuery: "MATCH (n:" + l + ") RETURN n AS id"}
		}, "SET n.id = 1000"},
	} {
		t.Run(name, func(t *testing.T) {
			label := line(t, 20).NodeLabels[0]
			Query(t, "MATCH (n:"+label+") SET n.risk = 0.5", nil)
			s := connect(t)
			g := must.Get(s.Graph(t.Context(), test.sel(label)))(t)
			victim := Query(t, "MATCH (n:"+label+" {id: 7}) "+strings.ReplaceAll(test.become, "$LABEL", label)+
				" RETURN elementId(n)", nil)[0][0]
			t.Cleanup(func() { Query(t, "MATCH (n) WHERE elementId(n) = $e DETACH DELETE n", map[string]any{"e": victim}) })
			if _, err := s.Signal(t.Context(), g, "risk"); !errors.Is(err, connector.ErrConflict) {
				t.Errorf("its signal is read: %v, want ErrConflict", err)
			}
			table := newTable(t, g, "stranger-"+token())
			if err := s.Reserve(t.Context(), g, table, false); !errors.Is(err, connector.ErrConflict) {
				t.Errorf("the run is reserved: %v, want ErrConflict", err)
			}
			table = newTable(t, g, "stranger-"+token())
			err := s.Write(t.Context(), g, table, false)
			if !errors.Is(err, connector.ErrConflict) || !strings.Contains(err.Error(), "1 of 20 nodes") ||
				!strings.Contains(err.Error(), "--undo "+table.RunID()) {
				t.Errorf("%v, want ErrConflict that counts and says how to clean up", err)
			}
			if got := Query(t, "MATCH (n) WHERE elementId(n) = $e RETURN [k IN keys(n) WHERE k STARTS WITH 'it']",
				map[string]any{"e": victim})[0][0].([]any); len(got) != 0 {
				t.Errorf("the stranger carries %v", got)
			}
			if n, err := s.Undo(t.Context(), table.RunID()); err != nil || n != 19 {
				t.Errorf("undone %d nodes, %v, want 19", n, err)
			}
		})
	}
}

// shared content: the label that every node of a store under test carries.
type labelled struct {
	*neo4j.Store
	label string
}

// TestStore is the contract of a store, with that of jobs. Labels of the
// fixture carry the token of their store, for the database is shared.
func TestStore(t *testing.T) {
	storetest.Run(t, storetest.Suite{
		Open: func(t *testing.T, nodes, relationships string) storetest.Store {
			csv := Files(nodes, relationships)
			label := Load(t, csv)
			for _, l := range []string{"Sensor", "City", "Village"} {
				Query(t, "MATCH (n:`"+label+"`:"+l+") REMOVE n:"+l+" SET n:`"+label+l+"`", nil)
			}
			return labelled{connect(t), label}
		},
		Select: func(s storetest.Store, sel graph.Selection) graph.Selection {
			label := s.(labelled).label
			if len(sel.NodeLabels) == 0 {
				sel.NodeLabels = []string{label}
			} else {
				names := make([]string, len(sel.NodeLabels))
				for i, l := range sel.NodeLabels {
					names[i] = label + l
				}
				sel.NodeLabels = names
			}
			if sel.NodeKey == "" {
				sel.NodeKey = "id"
			}
			return sel
		},
		Reopen: func(t *testing.T, s storetest.Store) storetest.Store {
			return labelled{connect(t), s.(labelled).label}
		},
		Alias: func(t *testing.T, s storetest.Store) storetest.Store {
			return labelled{connect(t, func(o *neo4j.Options) { o.URI = "bolt://" + relay(t, "127.0.0.1:0") }), s.(labelled).label}
		},
		History: func(s storetest.Store) jobs.History { return s.(labelled).History() },
		Jobs:    func(s storetest.Store) jobs.Store { return s.(labelled).Jobs() },
	})
}

// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/connector/neo4j"
	"github.com/graphcloak/graphcloak/connector/storetest"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
)

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

const (
	childLabel   = "GRAPHCLOAK_TEST_LABEL"
	childRelease = "GRAPHCLOAK_TEST_RELEASE"
	childBatch   = 10
)

// TestKilledInWrite kills a process with SIGKILL while it writes: the run stays
// RUNNING, is in the way of another, and can be completed or removed.
func TestKilledInWrite(t *testing.T) {
	const n = 1000
	sel := line(t, n)
	label := sel.NodeLabels[0]
	s := connect(t)
	g, err := s.Graph(t.Context(), sel)
	if err != nil {
		t.Fatal(err)
	}
	for _, end := range []string{"resume", "undo"} {
		t.Run(end, func(t *testing.T) {
			release := storetest.Release(t, g, end+"-"+token())
			id := release.ID()
			killInWrite(t, label, release)
			if k := written(t, label, id); k == 0 || k >= n {
				t.Fatalf("the killed process wrote %d of %d nodes; it should have been in the middle", k, n)
			}
			if run, err := s.Run(t.Context(), id); err != nil || run.Status != connector.Running {
				t.Fatalf("the run is %+v, %v, want RUNNING", run, err)
			}
			other := newTable(t, g, "other-"+token())
			err := s.Check(t.Context(), g, other, true)
			if way, ok := errors.AsType[*connector.UnfinishedError](err); !ok || way.RunID != id || !errors.Is(err, connector.ErrConflict) {
				t.Errorf("another run: %v, want ErrConflict that names the run in the way", err)
			}
			if err := s.Write(t.Context(), g, other, true); !errors.Is(err, connector.ErrConflict) {
				t.Errorf("another run writes: %v, want ErrConflict", err)
			}
			if end == "resume" {
				if err := s.Write(t.Context(), g, storetest.TableOf(t, g, release, "it"), false); err != nil {
					t.Fatal(err)
				}
				if k := written(t, label, id); k != n {
					t.Errorf("%d of %d nodes are written after the resume", k, n)
				}
				if run, err := s.Run(t.Context(), id); err != nil || run.Status != connector.Finished || run.Nodes != n {
					t.Errorf("the run is %+v, %v, want FINISHED with %d nodes", run, err, n)
				}
			}
			if _, err := s.Undo(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			left := Query(t, "MATCH (n:`"+label+"`) WHERE any(k IN keys(n) WHERE k STARTS WITH 'it') RETURN count(n)", nil)[0][0]
			if left != int64(0) {
				t.Errorf("%v nodes still carry values after the undo", left)
			}
		})
	}
}

// killInWrite starts TestChild in a process of its own and kills it after a batch.
func killInWrite(t *testing.T, label string, release *privacy.Release) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "release.json")
	data, err := json.Marshal(release)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$", "-test.count=1")
	cmd.Env = append(append(os.Environ(), Server(t).Env()...), childLabel+"="+label, childRelease+"="+file)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "in the middle" {
		t.Log(lines.Text())
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	cmd.Wait() // it was killed
}

// TestChild is the process that is killed; in a test run of its own it has
// nothing to do.
func TestChild(t *testing.T) {
	label, file := os.Getenv(childLabel), os.Getenv(childRelease)
	if label == "" {
		return
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var release privacy.Release
	if err := json.Unmarshal(data, &release); err != nil {
		t.Fatal(err)
	}
	s := connect(t, func(o *neo4j.Options) {
		o.BatchSize = childBatch
		o.Progress = func(stage string, done, _ int64) {
			if stage == "write" && done >= 3*childBatch {
				fmt.Println("in the middle")
			}
		}
	})
	g, err := s.Graph(t.Context(), graph.Selection{NodeLabels: []string{label}, NodeKey: "id"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Write(t.Context(), g, storetest.TableOf(t, g, &release, "it"), false); err != nil {
		t.Fatal(err)
	}
}

// A batch for which the server has too little memory is halved until it fits.
func TestMemoryPool(t *testing.T) {
	t.Parallel()
	const n = 20_000
	server, err := startLocal([]string{"NEO4J_HEAP=512m"}, "dbms.memory.transaction.total.max=10m")
	if err != nil {
		t.Fatal(err)
	}
	defer server.stop()
	run := func(cypher string) (rows [][]any, err error) {
		return server.run(server.Database, cypher, map[string]any{"n": n})
	}
	if _, err := run("UNWIND range(1, $n) AS i CALL (i) { CREATE (:Big {id: i}) } IN TRANSACTIONS OF 1000 ROWS"); err != nil {
		t.Fatal(err)
	}
	_, err = run("MATCH (n:Big) SET n.x = 0.5, n.y = 0.5, n.z = 'some text', n.u = 0.1, n.v = 1")
	if err == nil || !strings.Contains(err.Error(), "MemoryPoolOutOfMemory") {
		t.Fatalf("one transaction for all nodes: %v; the pool is too large for this test", err)
	}
	o := server.Options()
	o.BatchSize = n
	s, err := neo4j.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	g, err := s.Graph(t.Context(), graph.Selection{NodeLabels: []string{"Big"}, NodeKey: "id"})
	if err != nil {
		t.Fatal(err)
	}
	table := newTable(t, g, "pool", 0, 1, 2)
	if err := s.Write(t.Context(), g, table, false); err != nil {
		t.Fatal(err)
	}
	rows, err := run("MATCH (n:Big {itRunId: 'pool'}) RETURN count(n)")
	if err != nil || rows[0][0] != int64(n) {
		t.Errorf("%v of %d nodes are written, %v", rows, n, err)
	}
	if k, err := s.Undo(t.Context(), "pool"); err != nil || k != n {
		t.Errorf("undone %d of %d nodes, %v", k, n, err)
	}
}

// A node that comes while the relationships are read is noticed by the counts.
func TestChangedWhileRead(t *testing.T) {
	sel := line(t, 50)
	label, done := sel.NodeLabels[0], false
	s := connect(t, func(o *neo4j.Options) {
		o.Progress = func(stage string, _, _ int64) {
			if stage == "relationships" && !done {
				done = true
				Query(t, "CREATE (:`"+label+"` {id: 1000})", nil)
			}
		}
	})
	if _, err := s.Graph(t.Context(), sel); !errors.Is(err, connector.ErrConflict) {
		t.Errorf("%v, want ErrConflict", err)
	}
	if _, err := s.Graph(t.Context(), sel); err != nil {
		t.Errorf("read again: %v", err)
	}
}

// A node that goes between reading and writing leaves the run unfinished.
func TestNodeGone(t *testing.T) {
	sel := line(t, 20)
	s := connect(t)
	g, err := s.Graph(t.Context(), sel)
	if err != nil {
		t.Fatal(err)
	}
	table := newTable(t, g, "gone-"+token())
	Query(t, "MATCH (n:`"+sel.NodeLabels[0]+"` {id: 7}) DETACH DELETE n", nil)
	err = s.Write(t.Context(), g, table, false)
	if !errors.Is(err, connector.ErrConflict) || !strings.Contains(err.Error(), "--undo "+table.RunID()) {
		t.Errorf("%v, want ErrConflict that says how to clean up", err)
	}
	if n, err := s.Undo(t.Context(), table.RunID()); err != nil || n != 19 {
		t.Errorf("undone %d nodes, %v, want 19", n, err)
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
			g, err := s.Graph(t.Context(), test.sel(label))
			if err != nil {
				t.Fatal(err)
			}
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
			err = s.Write(t.Context(), g, table, false)
			if !errors.Is(err, connector.ErrConflict) || !strings.Contains(err.Error(), "1 of 20 nodes") {
				t.Errorf("%v, want ErrConflict that counts", err)
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

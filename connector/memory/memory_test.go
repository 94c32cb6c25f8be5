// SPDX-License-Identifier: Apache-2.0

package memory_test

import (
	"encoding/csv"
	"errors"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/connector/memory"
	"github.com/graphcloak/graphcloak/connector/storetest"
	"github.com/graphcloak/graphcloak/graph"
)

// rows reads CSV as records by the names of the header, and the values of the columns
// that are not set apart.
func rows(t *testing.T, text string, apart ...string) (records []map[string]string, properties []memory.Properties) {
	t.Helper()
	all, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, fields := range all[1:] {
		record, values := map[string]string{}, memory.Properties{}
		for k, name := range all[0] {
			record[name] = fields[k]
			values[name] = connector.Parse(fields[k])
		}
		for _, name := range apart {
			delete(values, name)
		}
		records, properties = append(records, record), append(properties, values)
	}
	return records, properties
}

func load(t *testing.T, nodes, relationships string) *memory.Store {
	t.Helper()
	var ns []memory.Node
	records, values := rows(t, nodes, "id", "labels")
	for k, r := range records {
		n := memory.Node{ID: graph.ID(r["id"]), Properties: values[k]}
		if r["labels"] != "" {
			n.Labels = strings.Split(r["labels"], ";")
		}
		ns = append(ns, n)
	}
	var rs []memory.Relationship
	records, values = rows(t, relationships, "source", "target", "type")
	for k, r := range records {
		rs = append(rs, memory.Relationship{
			Source: graph.ID(r["source"]), Target: graph.ID(r["target"]), Type: r["type"],
			Properties: values[k],
		})
	}
	s, err := memory.New(ns, rs)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) {
	same := func(_ *testing.T, s storetest.Store) storetest.Store { return s }
	storetest.Run(t, storetest.Suite{
		Open: func(t *testing.T, nodes, relationships string) storetest.Store {
			return load(t, nodes, relationships)
		},
		Select: func(_ storetest.Store, sel graph.Selection) graph.Selection { return sel },
		Reopen: same,
		Alias:  same,
	})
}

// A graph that was built comes back with the same digest, where the selection names
// its weights and lengths.
func TestFromGraph(t *testing.T) {
	var b graph.Builder
	for _, id := range []graph.ID{"a", "b", "c", "d"} {
		if _, err := b.AddNode(id); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range []graph.Edge{{U: 0, V: 1, Weight: 2, Length: 3}, {U: 1, V: 2, Weight: 1, Length: 0.5}} {
		if err := b.Connect(e.U, e.V, e.Weight, e.Length); err != nil {
			t.Fatal(err)
		}
	}
	g, err := b.Graph()
	if err != nil {
		t.Fatal(err)
	}
	s := memory.FromGraph(g)
	again, err := s.Graph(t.Context(),
		graph.Selection{RelationshipWeightProperty: memory.WeightProperty, LengthProperty: memory.LengthProperty})
	if err != nil {
		t.Fatal(err)
	}
	if again.Digest() != g.Digest() {
		t.Error("the graph came back as another")
	}
	if _, err := s.Graph(t.Context(), graph.Selection{NodeQuery: "MATCH (n) RETURN n AS id"}); !errors.Is(err, connector.ErrInput) {
		t.Errorf("a query: %v, want ErrInput", err)
	}
}

func TestSet(t *testing.T) {
	g, err := graph.Path(3)
	if err != nil {
		t.Fatal(err)
	}
	s := memory.FromGraph(g)
	if err := s.Set("heat", map[graph.ID]any{g.ID(0): 0.5, "nobody": 1.0}); !errors.Is(err, connector.ErrNotFound) {
		t.Errorf("a node that is not there: %v, want ErrNotFound", err)
	}
	if err := s.Set("club", map[graph.ID]any{g.ID(0): "red", g.ID(2): "blue"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Set("club", map[graph.ID]any{g.ID(1): 7}); err != nil {
		t.Fatal(err)
	}
	mine, err := s.Graph(t.Context(), graph.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Labels(t.Context(), mine, "club"); err != nil || strings.Join(got, ",") != ",7," {
		t.Errorf("%q, %v, want the second set alone", got, err)
	}
}

func TestNewRefuses(t *testing.T) {
	two := []memory.Node{{ID: "1"}, {ID: "2"}}
	for what, c := range map[string]struct {
		nodes         []memory.Node
		relationships []memory.Relationship
	}{
		"an id twice": {nodes: append(two, memory.Node{ID: "1"})},
		"no id":       {nodes: append(two, memory.Node{})},
		"a stranger":  {nodes: two, relationships: []memory.Relationship{{Source: "1", Target: "3"}}},
	} {
		if s, err := memory.New(c.nodes, c.relationships); !errors.Is(err, connector.ErrInput) {
			t.Errorf("%s: %v, %v, want ErrInput", what, s, err)
		}
	}
}

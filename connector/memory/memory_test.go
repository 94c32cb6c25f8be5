// SPDX-License-Identifier: Apache-2.0

package memory_test

import (
	"encoding/csv"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/connector/memory"
	"github.com/graphcloak/graphcloak/connector/storetest"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
)

// load builds the graph of two files and gives its nodes the columns of the first.
func load(t *testing.T, nodes, relationships string) *memory.Store {
	t.Helper()
	files := &folder.CSV{FS: fstest.MapFS{"nodes.csv": {Data: []byte(nodes)}, "relationships.csv": {Data: []byte(relationships)}}}
	g := must.Get(files.Graph(t.Context(), graph.Selection{}))(t)
	s := memory.FromGraph(g)
	records := must.Get(csv.NewReader(strings.NewReader(nodes)).ReadAll())(t)
	for k, name := range records[0] {
		values := map[graph.ID]any{}
		for _, fields := range records[1:] {
			values[graph.ID(fields[0])] = connector.Parse(fields[k])
		}
		must.Do(t, s.Set(name, values))
	}
	return s
}

func TestStore(t *testing.T) {
	same := func(_ *testing.T, s storetest.Store) storetest.Store { return s }
	storetest.Run(t, storetest.Suite{
		Open:   func(t *testing.T, nodes, relationships string) storetest.Store { return load(t, nodes, relationships) },
		Reopen: same,
		Alias:  same,
	})
}

// A graph that was built comes back with the same digest, where the selection names
// its weights and lengths.
func TestFromGraph(t *testing.T) {
	var b graph.Builder
	for _, id := range []graph.ID{"a", "b", "c", "d"} {
		must.Get(b.AddNode(id))(t)
	}
	for _, e := range []graph.Edge{{U: 0, V: 1, Weight: 2, Length: 3}, {U: 1, V: 2, Weight: 1, Length: 0.5}} {
		must.Do(t, b.Connect(e.U, e.V, e.Weight, e.Length))
	}
	g := must.Get(b.Graph())(t)
	s := memory.FromGraph(g)
	again, err := s.Graph(t.Context(),
		graph.Selection{RelationshipWeightProperty: memory.WeightProperty, LengthProperty: memory.LengthProperty})
	must.Do(t, err)
	if again.Digest() != g.Digest() {
		t.Error("the graph came back as another")
	}
	if plain, err := s.Graph(t.Context(), graph.Selection{}); err != nil || !plain.Unweighted() || !plain.UnitLengths() {
		t.Errorf("weights and lengths that nobody names count: %v", err)
	}
	if rest, err := s.Graph(t.Context(), graph.Selection{Isolated: graph.DropIsolated}); err != nil || rest.Order() != 3 {
		t.Errorf("without isolated nodes: %v", err)
	}
	for _, sel := range []graph.Selection{{NodeQuery: "MATCH (n) RETURN n AS id"}, {NodeLabels: []string{"A"}}, {NodeKey: "name"}} {
		if _, err := s.Graph(t.Context(), sel); !errors.Is(err, connector.ErrInput) {
			t.Errorf("%+v: %v, want ErrInput", sel, err)
		}
	}
	if _, err := s.Graph(t.Context(), graph.Selection{LengthProperty: "km"}); !errors.Is(err, connector.ErrNotFound) {
		t.Errorf("lengths under another name: %v, want ErrNotFound", err)
	}
}

func TestSet(t *testing.T) {
	g := must.Get(graph.Path(3))(t)
	s := memory.FromGraph(g)
	if err := s.Set("heat", map[graph.ID]any{g.ID(0): 0.5, "nobody": 1.0}); !errors.Is(err, connector.ErrNotFound) {
		t.Errorf("a node that is not there: %v, want ErrNotFound", err)
	}
	must.Do(t, s.Set("club", map[graph.ID]any{g.ID(0): "red", g.ID(2): "blue"}))
	must.Do(t, s.Set("club", map[graph.ID]any{g.ID(1): 7}))
	mine := must.Get(s.Graph(t.Context(), graph.Selection{}))(t)
	if got, err := s.Labels(t.Context(), mine, "club"); err != nil || strings.Join(got, ",") != ",7," {
		t.Errorf("%q, %v, want the second set alone", got, err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package folder_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/graph/snapshot"
	"github.com/graphcloak/graphcloak/internal/must"
)

// TestSnapshot: without relationships.csv a folder and its snapshot hand over what the folder did, whatever names the nodes, and rows
// that are not those of the snapshot are refused.
func TestSnapshot(t *testing.T) {
	const (
		nodes = "id,name,labels,heat,team\n" +
			"3,c,Person,1.5,red\n10,a,Person;Boss,2.5,blue\n2,bb,Person,,red\n7,alone,Person,9,red\n5,a,Shop,7,\n6,,Shop,8,\n"
		relationships = "source,target\n3,10\n10,2\n2,10\n3,3\n"
	)
	other, wrong := connector.ErrConflict, connector.ErrInput
	changes := []struct {
		what, from, to string
		want           [4]error // of the selections
	}{
		{"one is gone", "2,bb,Person,,red\n", "", [4]error{other, other, other, other}},
		{"one has come", "6,,", "9,new,Person,8,\n6,,", [4]error{other, other, other, other}},
		{"one for another", "2,bb", "4,dd", [4]error{other, other, other, other}},
		{"one for another that was alone", "7,alone", "8,new", [4]error{nil, nil, other, nil}},
		{"a label is gone", "2,bb,Person", "2,bb,Shop", [4]error{nil, other, other, other}},
		{"an id twice", "6,,", "10,x,Shop,8,\n6,,", [4]error{wrong, wrong, wrong, wrong}},
		{"that of one alone twice", "6,,", "7,x,Shop,8,\n6,,", [4]error{wrong, wrong, wrong, wrong}},
		{"a name twice", "6,,", "9,bb,Person,8,\n6,,", [4]error{other, other, wrong, wrong}},
		{"that of one alone twice", "6,,", "9,alone,Person,8,\n6,,", [4]error{other, other, wrong, wrong}},
		{"no name", "2,bb", "2,", [4]error{nil, nil, wrong, wrong}},
	}
	for k, sel := range []graph.Selection{
		{Isolated: graph.DropIsolated},
		{NodeLabels: []string{"Person"}, Isolated: graph.DropIsolated},
		{NodeLabels: []string{"Person"}, NodeKey: "name"},
		{NodeLabels: []string{"Person"}, NodeKey: "name", Isolated: graph.DropIsolated},
	} {
		dir := files(t, nodes, relationships)
		path := filepath.Join(dir, "graph.snapshot")
		reads := func(s *folder.Store) (*graph.Graph, []any) {
			t.Helper()
			g := must.Get(s.Graph(t.Context(), sel))(t)
			signal := must.Get(s.Labels(t.Context(), g, "heat"))(t) // text, for NaN is not itself
			return g, []any{
				g.Digest(), g.Dropped(), signal, must.Get(s.Labels(t.Context(), g, "team"))(t),
				must.Get(s.Sensors(t.Context(), g, graph.SensorSelection{Property: "heat"}))(t),
			}
		}
		g, want := reads(open(t, dir))
		must.Do(t, snapshot.Write(path, g, sel))
		must.Do(t, os.Remove(filepath.Join(dir, "relationships.csv")))
		s := must.Get(folder.New(t.Context(), dir, folder.Options{Snapshot: path}))(t)
		if _, got := reads(s); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: got %v, want %v", sel, got, want)
		}
		if names := must.Get(s.Properties(t.Context()))(t); !reflect.DeepEqual(names, []string{"heat", "id", "name", "team"}) {
			t.Errorf("%+v: the properties are %v", sel, names)
		}
		for _, change := range changes {
			must.Do(t, os.WriteFile(filepath.Join(dir, "nodes.csv"), []byte(strings.Replace(nodes, change.from, change.to, 1)), 0o600))
			if _, err := s.Graph(t.Context(), sel); !errors.Is(err, change.want[k]) {
				t.Errorf("%+v: %s: %v, want %v", sel, change.what, err, change.want[k])
			}
		}
	}
}

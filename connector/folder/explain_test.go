// SPDX-License-Identifier: Apache-2.0

package folder_test

import (
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
)

// TestUnusedWeightIsTold: a column that is named weight and not read is told of.
func TestUnusedWeightIsTold(t *testing.T) {
	for _, c := range []struct {
		header string
		sel    graph.Selection
		told   bool
	}{
		{"weight", graph.Selection{}, true},
		{"Weight", graph.Selection{}, true},
		{"weight", graph.Selection{RelationshipWeightProperty: "weight"}, false},
		{"weight", graph.Selection{LengthProperty: "weight"}, false},
		{"km", graph.Selection{}, false},
	} {
		s := open(t, files(t, "id\n1\n2\n", "source,target,"+c.header+"\n1,2,3\n"))
		must.Get(s.Graph(t.Context(), c.sel))(t)
		if told := strings.Contains(strings.Join(s.Unused(), "\n"), "is not used"); told != c.told {
			t.Errorf("%s, %+v: %q", c.header, c.sel, s.Unused())
		}
	}
	s, err := folder.New(t.Context(), files(t, "id\n1\n2\n", "source,target,weight\n1,2,3\n"), folder.Options{Generated: true})
	must.Do(t, err)
	if _, err := s.Graph(t.Context(), graph.Selection{}); err != nil || len(s.Unused()) > 0 {
		t.Errorf("%v, of a graph that ships: %q", err, s.Unused())
	}
}

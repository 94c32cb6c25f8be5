// SPDX-License-Identifier: Apache-2.0

package folder_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
)

// The same graph in every way in which its files are written.
var dialects = map[string][2]string{
	"comma":     {"id,labels,level\na,Town,1.5\nb,Town;Port,2\nc,Hill,\n", "source,target,type,km\na,b,ROAD,3\nb,c,SEA,4\n"},
	"semicolon": {"id;labels;level\na;Town;1.5\nb;\"Town;Port\";2\nc;Hill;\n", "source;target;type;km\na;b;ROAD;3\nb;c;SEA;4\n"},
	"tab": {
		"id\tlabels\tlevel\na\tTown\t1.5\nb\tTown;Port\t2\nc\tHill\t\n",
		"source\ttarget\ttype\tkm\na\tb\tROAD\t3\nb\tc\tSEA\t4\n",
	},
	"bar": {"\n\nid|labels|level\na|Town|1.5\nb|Town;Port|2\nc|Hill|\n", "source|target|type|km\na|b|ROAD|3\nb|c|SEA|4\n"},
}

func TestDialects(t *testing.T) {
	for name, text := range dialects {
		t.Run(name, func(t *testing.T) {
			s := open(t, files(t, text[0], text[1]))
			g, err := s.Graph(t.Context(),
				graph.Selection{NodeLabels: []string{"Town"}, RelationshipTypes: []string{"ROAD"}, RelationshipWeightProperty: "km"})
			must.Do(t, err)
			if g.Order() != 2 || g.Size() != 1 {
				t.Errorf("%d nodes and %d relationships, want 2 and 1", g.Order(), g.Size())
			}
			for e := range g.Edges() {
				if e.Weight != 3 {
					t.Errorf("weight %g, want 3", e.Weight)
				}
			}
			level, err := s.Signal(t.Context(), g, "level")
			if err != nil || !slices.Equal(level, []float64{1.5, 2}) {
				t.Errorf("level %v (%v), want 1.5 and 2", level, err)
			}
		})
	}
}

// A colon is part of a name, and a column without a name is nobody's property.
func TestColonsAndUnnamedColumns(t *testing.T) {
	s := open(t, files(t, ",id,a:int\n0,x,1\n1,y,2\n", ",source,target\n7,x,y\n"))
	g := must.Get(s.Graph(t.Context(), graph.Selection{}))(t)
	if _, err := s.Signal(t.Context(), g, "a:int"); err != nil {
		t.Error(err)
	}
	if _, err := s.Signal(t.Context(), g, "a"); !errors.Is(err, connector.ErrNotFound) {
		t.Errorf("%v, want %v", err, connector.ErrNotFound)
	}
	for e := range g.Edges() {
		if e.Weight != 1 {
			t.Errorf("weight %g, want 1: the column without a name is no weight", e.Weight)
		}
	}
}

// TestProperties: what means something to one file alone is a property of the other.
func TestProperties(t *testing.T) {
	s := open(t, files(t, "id,labels,source,\n1,A,0,\n", "source,target,type,labels\n1,1,R,x\n"))
	if got, err := s.Properties(t.Context()); err != nil || !slices.Equal(got, []string{"id", "labels", "source"}) {
		t.Errorf("%q, %v, want id, labels and source", got, err)
	}
}

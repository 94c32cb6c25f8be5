// SPDX-License-Identifier: Apache-2.0

package folder_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/graph"
)

// TestHeaderIsNotShown: a first line that lacks a column may be data.
func TestHeaderIsNotShown(t *testing.T) {
	for _, c := range []struct{ nodes, relationships, never string }{
		{"to,infected\nat,healthy\n", "source,target\n", "infected"},
		{"ann\x01,1\nbob,2\n", "source,target\n", "ann"},
		{"id\nann\nbob\n", "ann,bob\n", "ann"},
	} {
		s := open(t, files(t, c.nodes, c.relationships))
		_, err := s.Graph(t.Context(), graph.Selection{})
		if err == nil || !strings.Contains(err.Error(), "its first line has 2 columns, not shown") ||
			strings.Contains(err.Error(), c.never) {
			t.Errorf("%v, want the number of columns and not %q", err, c.never)
		}
	}
}

// TestFolderErrorsSayWhatToDo: an error about a folder has a hint of its own.
func TestFolderErrorsSayWhatToDo(t *testing.T) {
	for _, c := range []struct{ nodes, relationships, want string }{
		{"", "source,target\n", "name the columns in the first line"},
		{"id\n", "source,target\n", "give each node a row"},
		{"name\na\n", "source,target\n", "name the columns in the first line"},
		{"id,x\n1\n", "source,target\n", "a field for every column"},
		{"id\n1\n", "source,target\n\"1,1\n", "each mark in it twice"},
	} {
		s := open(t, files(t, c.nodes, c.relationships))
		_, err := s.Graph(t.Context(), graph.Selection{})
		checkHint(t, err, c.want)
	}
	_, err := folder.New(t.Context(), t.TempDir(), folder.Options{})
	checkHint(t, err, "a folder has nodes.csv with a column id")
}

func checkHint(t *testing.T, err error, want string) {
	t.Helper()
	hint, ok := errors.AsType[interface {
		error
		Suggestion() string
	}](err)
	if !ok || !strings.Contains(hint.Suggestion(), want) {
		t.Errorf("%v has the hint %v, want %q", err, hint, want)
	}
}

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
		if _, err := s.Graph(t.Context(), c.sel); err != nil {
			t.Fatal(err)
		}
		if told := strings.Contains(strings.Join(s.Unused(), "\n"), "is not used"); told != c.told {
			t.Errorf("%s, %+v: %q", c.header, c.sel, s.Unused())
		}
	}
	s, err := folder.New(t.Context(), files(t, "id\n1\n2\n", "source,target,weight\n1,2,3\n"), folder.Options{Generated: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Graph(t.Context(), graph.Selection{}); err != nil || len(s.Unused()) > 0 {
		t.Errorf("%v, of a graph that ships: %q", err, s.Unused())
	}
}

// SPDX-License-Identifier: Apache-2.0

package folder_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/connector/storetest"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/jobs"
)

func files(t *testing.T, nodes, relationships string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"nodes.csv": nodes, "relationships.csv": relationships} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

func open(t *testing.T, dir string) *folder.Store {
	t.Helper()
	return must.Get(folder.New(t.Context(), dir, folder.Options{}))(t)
}

func TestStore(t *testing.T) {
	storetest.Run(t, storetest.Suite{
		Open: func(t *testing.T, nodes, relationships string) storetest.Store {
			return open(t, files(t, nodes, relationships))
		},
		Select: func(_ storetest.Store, sel graph.Selection) graph.Selection { return sel },
		Reopen: func(t *testing.T, s storetest.Store) storetest.Store {
			return open(t, strings.TrimPrefix(s.Name(), "folder:"))
		},
		Alias: func(t *testing.T, s storetest.Store) storetest.Store {
			link := filepath.Join(t.TempDir(), "link")
			must.Do(t, os.Symlink(strings.TrimPrefix(s.Name(), "folder:"), link))
			return open(t, link)
		},
		History: func(s storetest.Store) jobs.History { return s.(*folder.Store).History() },
	})
}

// Another process that writes nodes.csv while a run copies it loses nothing: another run waits
// for its turn, and an edit of the user stays and stops the run, which goes on when it is
// repeated.
func TestOtherWriters(t *testing.T) {
	const nodes = "id\n1\n2\n3\n"
	for name, prefix := range map[string]string{"a run": "xx", "the user": "mine"} {
		t.Run(name, func(t *testing.T) {
			dir := files(t, nodes, "source,target\n1,2\n2,3\n")
			other := open(t, dir)
			mine := must.Get(other.Graph(t.Context(), graph.Selection{}))(t)
			others := storetest.Table(t, mine, "other", prefix)
			beside := func(ctx context.Context) error {
				if name == "a run" {
					return other.Write(ctx, mine, others, false)
				}
				path := filepath.Join(dir, "nodes.csv") // as editors save
				return errors.Join(os.WriteFile(path+"~", []byte("id,"+prefix+"\n1,\n2,x\n3,\n"), 0o600), os.Rename(path+"~", path))
			}
			copying, met := false, error(nil)
			s, err := folder.New(t.Context(), dir, folder.Options{Progress: func(string, int64, int64) {
				if copying {
					copying = false
					ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
					defer cancel()
					met = beside(ctx)
				}
			}})
			must.Do(t, err)
			g := must.Get(s.Graph(t.Context(), graph.Selection{}))(t)
			copying = true
			table := storetest.Table(t, g, "run", "gc")
			err = s.Write(t.Context(), g, table, false)
			if name == "a run" {
				if err != nil || !errors.Is(met, context.DeadlineExceeded) {
					t.Errorf("%v, and the other: %v, want that it waits", err, met)
				}
				err = beside(t.Context())
			} else {
				if !errors.Is(err, connector.ErrConflict) || met != nil {
					t.Errorf("%v (%v), want ErrConflict", err, met)
				}
				err = s.Write(t.Context(), g, table, false)
			}
			text, readErr := os.ReadFile(filepath.Join(dir, "nodes.csv"))
			header, _, _ := strings.Cut(string(text), "\n")
			if err != nil || readErr != nil || !strings.Contains(header, ","+prefix) || !strings.Contains(header, ",gcPrivateHeat") {
				t.Errorf("%v (%v), and the columns are %s, want those of both", err, readErr, header)
			}
		})
	}
}

// The type of a column is the narrowest that takes all its fields.
func TestRows(t *testing.T) {
	csv := folder.CSV{FS: os.DirFS(files(t, "id,whole,number,truth,mixed,empty\n1,1,1,true,1,\n2,,0.5,false,a,\n3,3,,,,\n",
		"source,target\n1,2\n"))}
	var rows []folder.Row
	err := csv.Nodes(t.Context(), 2, func(batch []folder.Row) error { rows = append(rows, batch...); return nil })
	want := []folder.Row{
		{"id": int64(1), "whole": int64(1), "number": 1.0, "truth": true, "mixed": "1"},
		{"id": int64(2), "number": 0.5, "truth": false, "mixed": "a"},
		{"id": int64(3), "whole": int64(3)},
	}
	if err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("%v, %v, want %v", rows, err, want)
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

// TestSignalIsNoPublicColumn: ids and labels are read without noise, so they are no
// signal under any of their names, and other columns are.
func TestSignalIsNoPublicColumn(t *testing.T) {
	for nodes, refused := range map[string][]string{
		"id,labels,x\n1,1,0.5\n2,0,1\n": {"id", "labels"},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"nodes.csv": nodes, "relationships.csv": "source,target\n1,2\n"} {
			must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		c := folder.CSV{FS: os.DirFS(dir)}
		g := must.Get(c.Graph(t.Context(), graph.Selection{}))(t)
		for _, name := range refused {
			if values, err := c.Signal(t.Context(), g, name); !errors.Is(err, connector.ErrInput) {
				t.Errorf("%q: %q is read as %v (%v)", nodes, name, values, err)
			}
		}
		if values, err := c.Signal(t.Context(), g, "x"); err != nil || values[0] != 0.5 {
			t.Errorf("%q: x is %v (%v)", nodes, values, err)
		}
	}
}

// A file that another process replaces again and again, as every run does that writes to the
// folder, is opened all the same.
func TestOpenWhileReplaced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "nodes.csv")
	var done atomic.Bool
	replace := func() {
		if err := os.WriteFile(path+".new", []byte("id\n"), 0o600); err != nil {
			t.Error(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Error(err)
		}
	}
	replace()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for !done.Load() {
			replace()
		}
	}()
	for range 5000 {
		f, err := folder.Dir(dir).Open("nodes.csv")
		if err != nil {
			t.Error(err)
			break
		}
		f.Close()
	}
	done.Store(true)
	<-ended
}

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

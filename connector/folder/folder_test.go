// SPDX-License-Identifier: Apache-2.0

package folder_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/connector/storetest"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/jobs"
)

func files(t *testing.T, nodes, relationships string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"nodes.csv": nodes, "relationships.csv": relationships} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func open(t *testing.T, dir string) *folder.Store {
	t.Helper()
	s, err := folder.New(t.Context(), dir, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
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
			if err := os.Symlink(strings.TrimPrefix(s.Name(), "folder:"), link); err != nil {
				t.Fatal(err)
			}
			return open(t, link)
		},
		History: func(s storetest.Store) jobs.History { return s.(*folder.Store).History() },
	})
}

// What a run adds, its undoing takes away: the file is as it was, quotes included.
func TestUndoRestoresTheFile(t *testing.T) {
	const nodes = "id,note,size\n1,\"a, b\",1.50\n2,\"two\nlines\",\n3,\"say \"\"x\"\"\",007\n"
	dir := files(t, nodes, "source,target\n1,2\n")
	s := open(t, dir)
	g, err := s.Graph(t.Context(), graph.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Write(t.Context(), g, storetest.Table(t, g, "run", "gc"), false); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(filepath.Join(dir, "nodes.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(after), "id,note,size,gcPrivateHeat,") || !strings.Contains(string(after), "\n3,\"say \"\"x\"\"\",007,") {
		t.Errorf("the write changed the user's columns:\n%s", after)
	}
	if _, err := s.Undo(t.Context(), "run"); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "nodes.csv")); err != nil || string(got) != nodes {
		t.Errorf("after the undo: %q, %v, want %q", got, err, nodes)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*.tmp")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
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
			mine, err := other.Graph(t.Context(), graph.Selection{})
			if err != nil {
				t.Fatal(err)
			}
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
			if err != nil {
				t.Fatal(err)
			}
			g, err := s.Graph(t.Context(), graph.Selection{})
			if err != nil {
				t.Fatal(err)
			}
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

func TestBadFiles(t *testing.T) {
	for name, test := range map[string]struct{ nodes, relationships, says string }{
		"empty nodes": {"", "source,target\n", "nodes.csv is empty"},
		"no id": {
			"name\na\n", "source,target\n",
			`nodes.csv needs the column id; its first line has 1 column, not shown because they may be data, and none is "id"`,
		},
		"no target": {"id\n1\n", "source,to\n1,1\n", `none is "target"`},
		"slashes": {
			"id\n1\n", "source/target\n1;1\n",
			"needs the column source and the column target; its first line has 1 column, not shown",
		},
		"a column twice":      {"id,x,x\n1,2,3\n", "source,target\n", `"x" twice`},
		"an id twice":         {"id\n1\n2\n1\n", "source,target\n", `id "1"`},
		"an empty id":         {"id,x\n1,a\n,b\n", "source,target\n", "line 3"},
		"a node that is not":  {"id\n1\n", "source,target\n1,9\n", `line 2: "1"–"9"`},
		"a short row":         {"id,x\n1\n", "source,target\n", "nodes.csv, some row: there are more or fewer fields"},
		"a quote without end": {"id\n\"1\n", "source,target\n", "nodes.csv, some row: a quotation mark is not closed"},
		"an open quote":       {"id\n1\n", "source,target\n\"1,1\n", "relationships.csv, line 2: a quotation mark is not closed"},
		"a header alone":      {"id\n", "source,target\n", "nodes.csv has no row below its header"},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, files(t, test.nodes, test.relationships))
			_, err := s.Graph(t.Context(), graph.Selection{})
			if !errors.Is(err, connector.ErrInput) && !errors.Is(err, connector.ErrNotFound) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want ErrInput or ErrNotFound that says %q", err, test.says)
			}
		})
	}
	s := open(t, files(t, "\ufeffid\r\n1\r\n2\r\n", "source,target\r\n1,2\r\n"))
	if g, err := s.Graph(t.Context(), graph.Selection{}); err != nil || g.Order() != 2 || g.Size() != 1 {
		t.Errorf("a byte-order mark and CRLF: %v", err)
	}
	if _, err := s.Graph(t.Context(), graph.Selection{NodeQuery: "MATCH (n) RETURN n AS id"}); !errors.Is(err, connector.ErrInput) {
		t.Errorf("Cypher for a folder: %v, want ErrInput", err)
	}
	if _, err := folder.New(t.Context(), t.TempDir(), folder.Options{}); !errors.Is(err, connector.ErrNotFound) {
		t.Errorf("a folder without files: %v, want ErrNotFound", err)
	}
}

// The type of a column is the narrowest that takes all its fields.
func TestBatches(t *testing.T) {
	csv := folder.CSV{FS: os.DirFS(files(t, "id,whole,number,truth,mixed,empty\n1,1,1,true,1,\n2,,0.5,false,a,\n3,3,,,,\n",
		"source,target\n1,2\n"))}
	var rows [][]any
	err := csv.NodeBatches(t.Context(), 2, func(b folder.Batch) error {
		for k := range b.Len() {
			var row []any
			for _, c := range b.Columns {
				row = append(row, c[k])
			}
			rows = append(rows, row)
		}
		return nil
	})
	want := [][]any{
		{int64(1), int64(1), 1.0, true, "1", nil},
		{int64(2), nil, 0.5, false, "a", nil},
		{int64(3), int64(3), nil, nil, nil, nil},
	}
	if err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("%v, %v, want %v", rows, err, want)
	}
}

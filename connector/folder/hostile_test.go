// SPDX-License-Identifier: Apache-2.0

package folder_test

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/connector/storetest"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/database"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/jobs"
)

// No link of a folder leads out of it: not that of a graph, which would be
// another's file, nor that of the state, which would be written there.
func TestLinks(t *testing.T) {
	const nodes, relationships = "id\n1\n2\n", "source,target\n1,2\n"
	outside := files(t, nodes, relationships)
	for _, name := range []string{"nodes.csv", "relationships.csv"} {
		for _, target := range []string{filepath.Join(outside, name), "own.csv"} {
			dir := files(t, nodes, relationships)
			if err := errors.Join(os.Rename(filepath.Join(dir, name), filepath.Join(dir, "own.csv")),
				os.Symlink(target, filepath.Join(dir, name))); err != nil {
				t.Skip("links cannot be made here: ", err)
			}
			if _, err := folder.New(t.Context(), dir, folder.Options{}); !errors.Is(err, connector.ErrInput) {
				t.Errorf("%s links to %s: %v, want ErrInput", name, target, err)
			}
			csv := folder.CSV{FS: folder.Dir(dir)}
			if _, err := csv.Graph(t.Context(), graph.Selection{}); !errors.Is(err, connector.ErrInput) {
				t.Errorf("%s links to %s: %v, want ErrInput", name, target, err)
			}
		}
	}
	for name, target := range map[string]string{".graphcloak": outside, ".graphcloak/store.db": filepath.Join(outside, "new.db")} {
		dir := files(t, nodes, relationships)
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700),
			os.Symlink(target, filepath.Join(dir, name))); err != nil {
			t.Fatal(err)
		}
		if err := write(t, open(t, dir)); err == nil {
			t.Errorf("a write through %s", name)
		}
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 2 {
		t.Errorf("outside: %v, %v", entries, err)
	}
}

// write writes a run to the whole graph of a folder.
func write(t *testing.T, s *folder.Store) error {
	t.Helper()
	g := must.Get(s.Graph(t.Context(), graph.Selection{}))(t)
	return s.Write(t.Context(), g, storetest.Table(t, g, "run", "gc"), false)
}

// A state that is cut or is no database stops everything that would spend or
// write, and loses nothing that is there.
func TestDamagedState(t *testing.T) {
	dir := files(t, "id\n1\n2\n", "source,target\n1,2\n")
	must.Do(t, write(t, open(t, dir)))
	path := filepath.Join(dir, ".graphcloak", "store.db")
	good := must.Get(os.ReadFile(path))(t)
	for name, data := range map[string][]byte{
		"empty": nil, "cut": good[:2*os.Getpagesize()], "text": []byte("no database\n"), "zeros": make([]byte, len(good)),
	} {
		must.Do(t, os.WriteFile(path, data, 0o600))
		s := open(t, dir)
		if _, err := s.History().ListRuns(t.Context(), jobs.RunQuery{}); !errors.Is(err, database.ErrDamaged) {
			t.Errorf("%s: %v, want ErrDamaged", name, err)
		}
		if err := write(t, s); !errors.Is(err, database.ErrDamaged) {
			t.Errorf("%s: %v, want ErrDamaged", name, err)
		}
		if _, err := s.Ledger().Scopes(t.Context()); !errors.Is(err, database.ErrDamaged) {
			t.Errorf("%s: %v, want ErrDamaged", name, err)
		}
		if left, err := os.ReadFile(path); err != nil || string(left) != string(data) {
			t.Errorf("%s: the file was changed (%v)", name, err)
		}
	}
	must.Do(t, os.WriteFile(path, good, 0o600))
	if runs, err := open(t, dir).History().ListRuns(t.Context(), jobs.RunQuery{}); err != nil || len(runs) != 1 {
		t.Errorf("restored: %v, %v", runs, err)
	}
}

// What is no graph is refused, with what is wrong and what to do, before a graph is made of it. No
// line of nodes.csv is named: it would be a node, and its field may be private. Nor is a first line
// that lacks a column shown: it may be data.
func TestBadFiles(t *testing.T) {
	const relationships, unseen = "source,target\n1,2\n", "its first line has 2 columns, not shown because they may be data"
	for name, test := range map[string]struct{ nodes, relationships, says, hint, never string }{
		"empty nodes":      {"", relationships, "nodes.csv is empty", "name the columns in the first line", ""},
		"no id":            {"to,infected\nat,healthy\n", relationships, unseen + `, and none is "id"`, "name the columns", "infected"},
		"a row of data":    {"ann\x01,1\nbob,2\n", relationships, unseen, "", "ann"},
		"no id, by marks":  {"anna;size\na;1\n", relationships, unseen, "", "size"},
		"another header":   {"id\n1\n", ":START_ID,size\n1,1\n", unseen, "", "size"},
		"relationships":    {"id\nann\nbob\n", "ann,bob\n", unseen, "", "ann"},
		"no target":        {"id\n1\n", "source,to\n1,1\n", `none is "target"`, "", ""},
		"slashes":          {"id\n1\n", "source/target\n1;1\n", "needs the column source and the column target", "", ""},
		"a column twice":   {"id,x,x\n1,2,3\n", relationships, `"x" twice`, "", ""},
		"an id twice":      {"id\n1\n2\n1\n", relationships, `id "1"`, "", ""},
		"an empty id":      {"id,x\n1,a\n,b\n", relationships, "line 3", "", ""},
		"no such node":     {"id\n1\n", "source,target\n1,9\n", `line 2: "1"–"9"`, "", ""},
		"a header alone":   {"id\n", relationships, "nodes.csv has no row below its header", "give each node a row", ""},
		"an open quote":    {"id\n1\n", "source,target\n\"1,1\n", "relationships.csv, line 2: a quot", "each mark in it twice", ""},
		"a short row":      {"id,x\n1\n", relationships, "nodes.csv, some row: there are more or", "a field for every column", `line \d`},
		"an open quote, 2": {"id\n\"1\n", relationships, "some row: a quotation mark is not closed", "", `line \d`},
		"not UTF-8": {
			"id,x\n1,\x00\n2,\xff\xfe\n3,a\n", relationships,
			`fields of "x" are no text (the first holds a NUL byte), at least 2`, "", `line \d`,
		},
		"a NUL byte":                {"id\n1\n2\x003\n", relationships, "NUL", "", `line \d`},
		"UTF-16":                    {"\xff\xfei\x00d\x00\n\x00", relationships, "UTF-16", "", ""},
		"a name of bytes":           {"id,\xff\n1,a\n", relationships, "column", "", ""},
		"a name that steers":        {"id,\x1b[31mx\n1,a\n", relationships, "column", "", ""},
		"a name twice in two forms": {"id,caf\u00e9,cafe\u0301\n1,a,b\n", relationships, "twice", "", ""},
		"a quote in a field":        {"id,x\n1,a\"b\n", relationships, "a quotation mark is not closed, or stands within", "", `line \d`},
		"a decimal comma":           {"id,x\n1,0,5\n", relationships, "there are more or fewer fields", "", `line \d`},
		"too many columns":          {"id" + columns(1<<16) + "\n", relationships, "65536", "", ""},
		"a row without an end": {
			"id,x\n1,\"" + strings.Repeat(strings.Repeat("x", 1023)+"\n", 17<<10) + "\"\n", relationships, "quotation mark left open", "",
			`line \d`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := open(t, files(t, test.nodes, test.relationships)).Graph(t.Context(), graph.Selection{})
			if !errors.Is(err, connector.ErrInput) || !strings.Contains(err.Error(), test.says) || len(err.Error()) > 1000 {
				t.Fatalf("%v, want ErrInput that says %q in short", err, test.says)
			}
			if test.never != "" && regexp.MustCompile(test.never).MatchString(err.Error()) {
				t.Errorf("%v says %s", err, test.never)
			}
			hint, _ := errors.AsType[interface {
				error
				Suggestion() string
			}](err)
			if test.hint != "" && (hint == nil || !strings.Contains(hint.Suggestion(), test.hint)) {
				t.Errorf("%v has the hint %v, want %q", err, hint, test.hint)
			}
		})
	}
	if _, err := folder.New(t.Context(), t.TempDir(), folder.Options{}); !errors.Is(err, connector.ErrNotFound) {
		t.Errorf("a folder without files: %v, want ErrNotFound", err)
	}
	s := open(t, files(t, "id\n1\n2\n", relationships))
	if _, err := s.Graph(t.Context(), graph.Selection{NodeQuery: "MATCH (n) RETURN n AS id"}); !errors.Is(err, connector.ErrInput) {
		t.Errorf("Cypher for a folder: %v, want ErrInput", err)
	}
	// As many columns as a node can have, and names that differ by case, are fine.
	nodes := "id,ID" + columns(1<<16-2) + "\n1" + strings.Repeat(",", 1<<16-1) + "\n2" + strings.Repeat(",", 1<<16-1) + "\n"
	if g, err := open(t, files(t, nodes, relationships)).Graph(t.Context(), graph.Selection{}); err != nil || g.Order() != 2 {
		t.Errorf("many columns: %v", err)
	}
}

func columns(n int) string {
	var b strings.Builder
	for k := range n {
		fmt.Fprintf(&b, ",c%d", k)
	}
	return b.String()
}

// Wide rows make small batches: no batch takes more memory than the bound and one
// row more, and none is lost.
func TestWideBatches(t *testing.T) {
	const rows, width = 11, 4 << 20
	var nodes strings.Builder
	nodes.WriteString("id,x\n")
	for k := range rows {
		fmt.Fprintf(&nodes, "%d,%s\n", k, strings.Repeat("x", width))
	}
	csv, seen := folder.CSV{FS: fstest.MapFS{"nodes.csv": {Data: []byte(nodes.String())}}}, 0
	err := csv.Nodes(t.Context(), 1000, func(batch []folder.Row) error {
		if len(batch)*width > 32<<20+width {
			t.Errorf("a batch of %d rows of %d bytes", len(batch), width)
		}
		seen += len(batch)
		return nil
	})
	if err != nil || seen != rows {
		t.Errorf("%d of %d rows, %v", seen, rows, err)
	}
}

// An id that no sensor can have is refused with its line, quoted, where its node is to be a sensor.
func TestSensorIDs(t *testing.T) {
	s := open(t, files(t, "id,sensor\na,1\n\"x\ny\",1\nb,0\n\"z\x1b[31m\",1\n\"\u0085\",0\n", "source,target\na,b\n"))
	g := must.Get(s.Graph(t.Context(), graph.Selection{}))(t)
	for property, want := range map[string]string{
		"":       `3 nodes have an id that no sensor can have: nodes.csv line 3: id "x\ny" has a control character; nodes.csv line 6: id "z\x1b[31m" has a control character; nodes.csv line 7: id "\u0085" has a control character; want`,
		"sensor": `2 nodes have an id that no sensor can have: nodes.csv line 3: id "x\ny" has a control character; nodes.csv line 6: id "z\x1b[31m" has a control character; want`,
	} {
		if _, err := s.Sensors(t.Context(), g, graph.SensorSelection{Property: property}); !errors.Is(err, connector.ErrInput) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("sensors by %q: %v, want %s", property, err, want)
		}
	}
}

// A run that is written and undone leaves every byte of the user's columns: byte-order mark,
// delimiter, line ends, blank lines, quotes that nobody needs, formulas and control characters.
func TestRewriteKeepsBytes(t *testing.T) {
	texts := map[string]string{
		"plain":             "id,x\n1,a\n2,b\n",
		"byte-order mark":   "\ufeffid,x\n1,a\n2,b\n",
		"CRLF":              "id,x\r\n1,a\r\n2,b\r\n",
		"mixed ends":        "id,x\r\n1,a\n2,b\r\n",
		"no end":            "id,x\n1,a\n2,b",
		"blank lines":       "id,x\n\n1,a\n\r\n\n2,b\n\n\n",
		"needless quotes":   "\"id\",\"x\"\n\"1\",\"a\"\n2,\"\"\n",
		"lines in a field":  "id,x\n1,\"a\r\nb\"\n2,\"c\n\nd\"\n",
		"lone returns":      "id,x\n1,\"a\rb\"\n2,c\r\r\n",
		"formulas":          "id,x\n1,=1+1\n2,\"@a,b\"\n",
		"an escape":         "id,x\n1,\x1b[31m\n2,\u009b31m\n",
		"spaces":            "id,x\n1, a \n2,\"  \"\n",
		"doubled quotes":    "id,x\n1,\"a \"\"b\"\", c\"\n2,\"\"\"\"\n",
		"a byte mark later": "id,x\n1,\ufeffa\n2,b\n",
	}
	for name, text := range dialects {
		texts[name] = text[0]
	}
	for name, nodes := range texts {
		t.Run(name, func(t *testing.T) {
			dir := files(t, nodes, "source,target\n")
			s := open(t, dir)
			must.Do(t, write(t, s))
			before, after := parsed(t, nodes), parsed(t, string(saved(t, dir)))
			for k, row := range after {
				if !slices.Equal(row[:len(before[k])], before[k]) || slices.Contains(row, "run") != (k > 0) {
					t.Errorf("the write changed %q to %q", before[k], row)
				}
			}
			must.Get(s.Undo(t.Context(), "run"))(t)
			if got := saved(t, dir); string(got) != nodes {
				t.Errorf("after the undo: %q, want %q", got, nodes)
			}
			if left, err := filepath.Glob(filepath.Join(dir, "*.tmp")); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

func saved(t *testing.T, dir string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(filepath.Join(dir, "nodes.csv")))(t)
}

// parsed reads a file of nodes by the standard library.
func parsed(t *testing.T, text string) [][]string {
	t.Helper()
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
	r.Comma = rune(regexp.MustCompile(`id"?([,;|\t])`).FindStringSubmatch(text)[1][0])
	return must.Get(r.ReadAll())(t)
}

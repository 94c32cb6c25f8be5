// SPDX-License-Identifier: Apache-2.0

package folder_test

import (
	"bytes"
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
	g, err := s.Graph(t.Context(), graph.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	return s.Write(t.Context(), g, storetest.Table(t, g, "run", "gc"), false)
}

// A state that is cut or is no database stops everything that would spend or
// write, and loses nothing that is there.
func TestDamagedState(t *testing.T) {
	dir := files(t, "id\n1\n2\n", "source,target\n1,2\n")
	if err := write(t, open(t, dir)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, ".graphcloak", "store.db")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"empty": nil, "cut": good[:2*os.Getpagesize()], "text": []byte("no database\n"), "zeros": make([]byte, len(good)),
	} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, dir)
		if _, err := s.Runs(t.Context()); !errors.Is(err, database.ErrDamaged) {
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
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if runs, err := open(t, dir).Runs(t.Context()); err != nil || len(runs) != 1 {
		t.Errorf("restored: %v, %v", runs, err)
	}
}

// What is not UTF-8, has a NUL byte, a name twice or no end is refused with its
// column, before a graph is made of it. No line of nodes.csv is named: it would be a
// node, and its field may be private.
func TestHostileCSV(t *testing.T) {
	const relationships = "source,target\n1,2\n"
	for name, test := range map[string]struct{ nodes, says string }{
		"bytes that are not UTF-8": {
			"id,x\n1,\x00\n2,\xff\xfe\n3,a\n",
			`fields of "x" are no text (the first holds a NUL byte), at least 2`,
		},
		"a NUL byte":                     {"id\n1\n2\x003\n", "NUL"},
		"UTF-16":                         {"\xff\xfei\x00d\x00\n\x00", "UTF-16"},
		"a name that is not UTF-8":       {"id,\xff\n1,a\n", "column"},
		"a name with an escape sequence": {"id,\x1b[31mx\n1,a\n", "column"},
		"a name twice in two forms":      {"id,caf\u00e9,cafe\u0301\n1,a,b\n", "twice"},
		"a quotation mark in a field":    {"id,x\n1,a\"b\n", "a quotation mark is not closed, or stands within"},
		"a decimal comma":                {"id,x\n1,0,5\n", "there are more or fewer fields"},
		"a quotation mark that is open":  {"id,x\n1,\"a\n2,b\n", "nodes.csv"},
		"more columns than a node's":     {"id" + columns(1<<16) + "\n", "65536"},
		"a row without an end": {
			"id,x\n1,\"" + strings.Repeat(strings.Repeat("x", 1023)+"\n", 17<<10) + "\"\n",
			"quotation mark left open",
		},
		"a column that differs by a form": {"ID\n1\n", `"id"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := open(t, files(t, test.nodes, relationships)).Graph(t.Context(), graph.Selection{})
			if !errors.Is(err, connector.ErrInput) && !errors.Is(err, connector.ErrNotFound) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want ErrInput or ErrNotFound that says %q", err, test.says)
			}
			if err != nil && regexp.MustCompile(`line \d`).MatchString(err.Error()) {
				t.Errorf("%v names a line", err)
			}
			if err != nil && len(err.Error()) > 1000 {
				t.Errorf("the message has %d bytes", len(err.Error()))
			}
		})
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
	err := csv.NodeBatches(t.Context(), 1000, func(b folder.Batch) error {
		if b.Len()*width > 32<<20+width {
			t.Errorf("a batch of %d rows of %d bytes", b.Len(), width)
		}
		seen += b.Len()
		return nil
	})
	if err != nil || seen != rows {
		t.Errorf("%d of %d rows, %v", seen, rows, err)
	}
}

// An id that no sensor can have is refused with its line, quoted, where its node is to be a sensor.
func TestSensorIDs(t *testing.T) {
	s := open(t, files(t, "id,sensor\na,1\n\"x\ny\",1\nb,0\n\"z\x1b[31m\",1\n\"\u0085\",0\n", "source,target\na,b\n"))
	g, err := s.Graph(t.Context(), graph.Selection{})
	if err != nil {
		t.Fatal(err)
	}
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

// A run that is written and undone leaves every byte of the user's columns:
// byte-order mark, line ends, blank lines, quotes that nobody needs, formulas and
// control characters.
func TestRewriteKeepsBytes(t *testing.T) {
	for name, nodes := range map[string]string{
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
	} {
		t.Run(name, func(t *testing.T) {
			dir := files(t, nodes, "source,target\n1,2\n")
			s := open(t, dir)
			if err := write(t, s); err != nil {
				t.Fatal(err)
			}
			before, after := column(t, files(t, nodes, ""), "x"), column(t, dir, "x")
			if !slices.Equal(before, after) {
				t.Errorf("the write changed %q to %q", before, after)
			}
			if heat := column(t, dir, "gcRunId"); !slices.Equal(heat, []string{"run", "run"}) {
				t.Errorf("run ids %q", heat)
			}
			if _, err := s.Undo(t.Context(), "run"); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(filepath.Join(dir, "nodes.csv")); err != nil || string(got) != nodes {
				t.Errorf("after the undo: %q, %v, want %q", got, err, nodes)
			}
		})
	}
}

// column reads a column of nodes.csv by the standard library.
func column(t *testing.T, dir, name string) (values []string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "nodes.csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff")))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	k := slices.Index(rows[0], name)
	for _, row := range rows[1:] {
		values = append(values, row[k])
	}
	return values
}

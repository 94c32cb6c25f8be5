// SPDX-License-Identifier: Apache-2.0

package folder_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/graph/snapshot"
	"github.com/graphcloak/graphcloak/internal/columnar"
	"github.com/graphcloak/graphcloak/internal/must"
)

// packed is a file of Parquet with the rows of a CSV file, each field of its type.
func packed(t *testing.T, text string) []byte {
	t.Helper()
	rows := must.Get(csv.NewReader(strings.NewReader(text)).ReadAll())(t)
	var b bytes.Buffer
	must.Do(t, columnar.Collect(rows[0], func(yield func([]any) bool) {
		for _, fields := range rows[1:] {
			row := make([]any, len(fields))
			for k, f := range fields {
				row[k] = connector.Parse(f)
			}
			if !yield(row) {
				return
			}
		}
	}).WriteParquet(&b))
	return b.Bytes()
}

// parquetFolder has relationships.parquet in the place of relationships.csv.
func parquetFolder(t *testing.T, nodes string, relationships []byte) string {
	t.Helper()
	dir := files(t, nodes, "")
	must.Do(t, errors.Join(os.Remove(filepath.Join(dir, "relationships.csv")),
		os.WriteFile(filepath.Join(dir, "relationships.parquet"), relationships, 0o600)))
	return dir
}

// TestParquet: the same rows are the same graph, the same snapshot and the same properties from CSV and from Parquet.
func TestParquet(t *testing.T) {
	for name, text := range map[string][2]string{
		"numbers": {
			"id,labels\n1,A\n20,A;B\n-3,B\n4,C\n",
			"source,target,type,weight,km,open,none\n1,20,ROAD,0.1,3,true,\n20,-3,SEA,2.5,4,,\n" +
				"-3,1,ROAD,1e-7,12345678901,false,\n20,1,SEA,3,1,true,\n",
		},
		"texts": {
			"id,labels\na,A\n\"b,\n1\",A;B\n007,B\né,C\n",
			"weight,km,target,source,type\n0.3333333333333333,1,\"b,\n1\",a,ROAD\n2,2,007,\"b,\n1\",\n1,1,é,007,SEA\n1e+300,7,a,007,ROAD\n",
		},
	} {
		for _, sel := range []graph.Selection{
			{},
			{RelationshipWeightProperty: "weight", LengthProperty: "km"},
			{RelationshipWeightProperty: "km", LengthProperty: "km", RelationshipTypes: []string{"ROAD"}},
			{RelationshipWeightProperty: "weight", NodeLabels: []string{"A", "B"}, Isolated: graph.DropIsolated},
		} {
			read := func(dir string) (got []any) {
				s, err := folder.New(t.Context(), dir, folder.Options{
					Progress: func(stage string, done, total int64) { got = append(got, stage, done, total) },
				})
				must.Do(t, err)
				g := must.Get(s.Graph(t.Context(), sel))(t)
				must.Do(t, snapshot.Write(filepath.Join(dir, "graph.snapshot"), g, sel))
				must.Do(t, s.Relationships(t.Context(), 2, func(rows []folder.Row) error { got = append(got, rows); return nil }))
				unused := strings.ReplaceAll(strings.Join(s.Unused(), ""), "parquet", "csv")
				return append(got, must.Get(os.ReadFile(filepath.Join(dir, "graph.snapshot")))(t), unused,
					must.Get(s.Properties(t.Context()))(t), must.Get(s.Schema(t.Context()))(t))
			}
			want, got := read(files(t, text[0], text[1])), read(parquetFolder(t, text[0], packed(t, text[1])))
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %+v: got %v, want %v", name, sel, got, want)
			}
		}
	}
}

// TestParts: a folder of parts, as Spark writes it, is one table in the order of their names; other files in it are none of them.
func TestParts(t *testing.T) {
	const nodes = "id\n1\n2\n3\n"
	parts := func(files map[string]string) (*graph.Graph, error) {
		dir := parquetFolder(t, nodes, nil)
		must.Do(t, os.Remove(filepath.Join(dir, "relationships.parquet")))
		must.Do(t, os.Mkdir(filepath.Join(dir, "relationships.parquet"), 0o700))
		for name, text := range files {
			if folder, _, ok := strings.Cut(name, "/"); ok {
				must.Do(t, os.Mkdir(filepath.Join(dir, "relationships.parquet", folder), 0o700))
			}
			must.Do(t, os.WriteFile(filepath.Join(dir, "relationships.parquet", name), packed(t, text), 0o600))
		}
		return (&folder.CSV{FS: folder.Dir(dir)}).Graph(t.Context(), graph.Selection{RelationshipWeightProperty: "weight"})
	}
	const head = "source,target,weight\n"
	g := must.Get(parts(map[string]string{
		"part-00001.parquet": head + "2,3,0.5\n", "part-00000.parquet": head + "1,2,0.25\n", "part-00002.parquet": head,
		"_temporary.parquet": head + "1,3,9\n", ".part-0.parquet": head + "1,3,9\n", "_SUCCESS": head,
	}))(t)
	want := must.Get((&folder.CSV{FS: folder.Dir(files(t, nodes, head+"1,2,0.25\n2,3,0.5\n"))}).Graph(t.Context(),
		graph.Selection{RelationshipWeightProperty: "weight"}))(t)
	if g.Digest() != want.Digest() {
		t.Errorf("%d relationships, want the graph of the same rows", g.Size())
	}
	for says, files := range map[string]map[string]string{
		`holds the folder "type=A"`:                                   {"a.parquet": head + "1,2,1\n", "type=A/b.parquet": head + "2,3,1\n"},
		"is a folder without a file of Parquet":                       {"_SUCCESS": head},
		`parts/b.parquet" has other columns than the parts before it`: {"a.parquet": head + "1,2,1\n", "b.parquet": "source,weight,target\n1,1,2\n"},
		`row 3: "9"–"2"`:                                              {"a.parquet": head + "1,2,1\n2,3,1\n", "b.parquet": head + "9,2,1\n"},
	} {
		says = strings.Replace(says, "parts/", "relationships.parquet/", 1)
		if _, err := parts(files); !errors.Is(err, connector.ErrInput) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
}

// TestParquetIsRefused: what makes no graph is an ErrInput that names the file, and the row.
func TestParquetIsRefused(t *testing.T) {
	const nodes, good = "id\n1\n2\naaa\n", "source,target,weight\n1,2,0.5\n2,aaa,0.25\naaa,1,2\n"
	file := packed(t, good)
	weighed := graph.Selection{RelationshipWeightProperty: "weight"}
	graphOf := func(dir string) error {
		_, err := (&folder.CSV{FS: folder.Dir(dir)}).Graph(t.Context(), weighed)
		return err
	}
	must.Do(t, graphOf(parquetFolder(t, nodes, file)))
	for _, c := range []struct {
		relationships []byte
		says          string
	}{
		{nil, "relationships.parquet is no whole Parquet file"},
		{[]byte(good), "relationships.parquet is no whole Parquet file"},
		{packed(t, "source,target,weight\n1,2,1\n1,9,1\n"), `not in nodes.csv: row 2: "1"–"9"; add the node or remove the row`},
		{packed(t, "source,target,weight\n1,2,1\n,1,1\n"), `row 2: ""–"1"`},
		{packed(t, "source,to,weight\n1,2,1\n"), `parquet needs the column source and the column target; it has 3 columns, and none is "target"`},
		{packed(t, "source,target,weight\n1,2,1\n2,a\x00,1\n"), `relationships.parquet row 2: the field of "target" holds a NUL byte`},
		{packed(t, "source,target,weight\n1,2,x\n"), `"1"–"2": weight is the text "x"`},
		{packed(t, "source,target,weight,\x1b[31m\n1,2,1,1\n"), "relationships.parquet has a column"},
		{bytes.ReplaceAll(packed(t, "source,target,weight,weigh2\n1,2,1,1\n"), []byte("weigh2"), []byte("weight")), `"weight" twice`},
	} {
		err := graphOf(parquetFolder(t, nodes, c.relationships))
		if !errors.Is(err, connector.ErrInput) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %s", err, c.says)
		}
	}
	for k := 0; k < len(file); k += 37 {
		if err := graphOf(parquetFolder(t, nodes, file[:k])); !errors.Is(err, connector.ErrInput) {
			t.Errorf("cut at %d of %d bytes: %v", k, len(file), err)
		}
		altered := slices.Clone(file)
		altered[k] ^= 0x55
		if err := graphOf(parquetFolder(t, nodes, altered)); err != nil && !errors.Is(err, connector.ErrInput) {
			t.Errorf("altered at %d: %v", k, err)
		}
	}
	dir := files(t, nodes, good)
	must.Do(t, os.WriteFile(filepath.Join(dir, "relationships.parquet"), file, 0o600))
	_, err := folder.New(t.Context(), dir, folder.Options{})
	for _, err := range []error{err, graphOf(dir)} {
		if !errors.Is(err, connector.ErrInput) || !strings.Contains(err.Error(), "relationships.csv and relationships.parquet") {
			t.Errorf("both files: %v", err)
		}
	}
}

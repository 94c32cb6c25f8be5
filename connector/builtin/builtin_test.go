// SPDX-License-Identifier: Apache-2.0

package builtin_test

import (
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/graphcloak/graphcloak/connector/builtin"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
)

// load reads a folder with the standard library only: the properties of the
// nodes by column, and the graph.
func load(t *testing.T, f builtin.Folder) (map[string][]string, *graph.Graph) {
	t.Helper()
	columns := make(map[string][]string)
	var b graph.Builder
	for k, file := range []string{builtin.NodesFile, builtin.RelationshipsFile} {
		r := must.Get(f.Open(file))(t)
		defer r.Close()
		rows, err := csv.NewReader(r).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		at := make(map[string]int)
		for j, name := range rows[0] {
			at[name] = j
		}
		for _, row := range rows[1:] {
			if k == 0 {
				must.Get(b.AddNode(graph.ID(row[at["id"]])))(t)
				for name, j := range at {
					columns[name] = append(columns[name], row[j])
				}
				continue
			}
			w := 1.0
			if j, ok := at["weight"]; ok {
				w, _ = strconv.ParseFloat(row[j], 64)
			}
			u, _ := b.Handle(graph.ID(row[at["source"]]))
			v, _ := b.Handle(graph.ID(row[at["target"]]))
			l := 1.0
			if j, ok := at["length"]; ok && f.Name != "example:net3" { // its pumps have none
				l, _ = strconv.ParseFloat(row[j], 64)
			}
			if err := b.Connect(u, v, w, l); err != nil {
				t.Fatalf("%s: %v: %v", file, row, err)
			}
		}
	}
	g := must.Get(b.Graph())(t)
	return columns, g
}

func TestExamples(t *testing.T) {
	orders := map[string][2]int{"company": {180, 727}, "karate": {34, 78}, "net3": {97, 119}, "paper-sbm": {500, 3135}}
	if got, want := slices.Sorted(maps.Keys(orders)), builtin.Names(); !slices.Equal(got, want) {
		t.Fatalf("examples %v, want %v", want, got)
	}
	for name, want := range orders {
		f, err := builtin.Example("example:" + name)
		if err != nil || f.Name != "example:"+name || f.Summary == "" {
			t.Fatalf("%s: %+v, %v", name, f, err)
		}
		columns, g := load(t, f)
		_, sizes := g.Components()
		if g.Order() != want[0] || g.Size() != want[1] || len(sizes) != 1 {
			t.Errorf("%s: %d nodes, %d edges, %d components; want %v, connected", name, g.Order(), g.Size(), len(sizes), want)
		}
		checkColumns(t, name, f, columns)
		if err := fstest.TestFS(f, builtin.NodesFile, builtin.RelationshipsFile); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// checkColumns wants one source, and where communities are promised, each node in
// one of at least two.
func checkColumns(t *testing.T, name string, f builtin.Folder, columns map[string][]string) {
	t.Helper()
	sources := 0
	for _, x := range columns[builtin.SourceProperty] {
		if x == "1" {
			sources++
		} else if x != "0" {
			t.Errorf("%s: source %q", name, x)
		}
	}
	if sources != 1 {
		t.Errorf("%s: %d sources, want 1", name, sources)
	}
	if f.Community == "" {
		return
	}
	values := slices.Compact(slices.Sorted(slices.Values(columns[f.Community])))
	if len(values) < 2 || values[0] == "" {
		t.Errorf("%s: communities %q", name, values)
	}
}

func TestGenerators(t *testing.T) {
	for _, c := range []struct {
		spec         string
		full         string // as String gives it
		nodes, edges int    // edges < 0: some
		columns      string
	}{
		{"sbm,n=50,k=2,in=1,out=0", "generate:sbm,n=50,k=2,in=1,out=0,seed=1", 50, 600, "community,id,source"},
		{
			"generate:sbm,k=2,out=0.001,in=0.05,n=500,seed=7", "generate:sbm,n=500,k=2,in=0.05,out=0.001,seed=7", 500, -1,
			"community,id,source",
		},
		{"grid,rows=3,cols=4", "generate:grid,rows=3,cols=4", 12, 17, "id,source"},
		{"path,n=5", "generate:path,n=5", 5, 4, "id,source"},
		{"cycle,n=5", "generate:cycle,n=5", 5, 5, "id,source"},
		{"complete,n=1e1", "generate:complete,n=10", 10, 45, "id,source"},
		{"star,n=5", "generate:star,n=5", 5, 4, "id,source"},
		{"hypercube,d=4", "generate:hypercube,d=4", 16, 32, "id,source"},
		{"barabasi-albert,n=30,m=2", "generate:barabasi-albert,n=30,m=2,seed=1", 30, 2 + 27*2, "id,source"},
		{"rmat,n=100,edges=300", "generate:rmat,n=100,edges=300,seed=1", 100, -1, "id,source"},
		{"knn,n=40,k=3,seed=2", "generate:knn,n=40,k=3,seed=2", 40, -1, "id,source,x,y"},
		{"interval,n=10", "generate:interval,n=10", 10, 9, "id,source"},
		{"road-like,n=50", "generate:road-like,n=50,seed=1", 50, -1, "id,source,x,y"},
		{"path,n=0", "generate:path,n=0", 0, 0, ""},
	} {
		g, err := builtin.Parse(c.spec)
		if err != nil || g.String() != c.full {
			t.Errorf("%s: %v, %v; want %s", c.spec, g, err, c.full)
			continue
		}
		f, err := g.Folder()
		if err != nil {
			t.Errorf("%s: %v", c.spec, err)
			continue
		}
		columns, h := load(t, f)
		if h.Order() != c.nodes || h.Size() != c.edges && (c.edges >= 0 || h.Size() == 0) {
			t.Errorf("%s: %d nodes and %d edges, want %d and %d", c.spec, h.Order(), h.Size(), c.nodes, c.edges)
		}
		if got := strings.Join(slices.Sorted(maps.Keys(columns)), ","); got != c.columns {
			t.Errorf("%s: columns %s, want %s", c.spec, got, c.columns)
		}
		if c.nodes > 0 {
			checkColumns(t, c.spec, f, columns)
		}
		if err := fstest.TestFS(f, builtin.NodesFile, builtin.RelationshipsFile); err != nil {
			t.Errorf("%s: %v", c.spec, err)
		}
	}
}

// What the files say is the graph that the generator made, bit by bit.
func TestRoundTrip(t *testing.T) {
	g := must.Get(builtin.Parse("knn,n=200,k=5,seed=3"))(t)
	f := must.Get(g.Folder())(t)
	_, got := load(t, f)
	want, _, err := graph.KNN(200, 5, 3)
	if err != nil || got.Digest() != want.Digest() {
		t.Errorf("the graph of the files differs from the generator's (%v)", err)
	}
}

func TestUnknown(t *testing.T) {
	for _, c := range []struct{ name, say string }{
		{"karat", `"karate"`}, {"Karate", `"karate"`}, {"papersbm", `"paper-sbm"`}, {"", "karate, net3"}, {"../secret", "karate, net3"},
	} {
		if _, err := builtin.Example(c.name); !errors.Is(err, builtin.ErrUnknown) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("Example(%q): %v; want ErrUnknown with %s", c.name, err, c.say)
		}
	}
	if _, err := builtin.Parse("smb,n=5"); !errors.Is(err, builtin.ErrUnknown) || !strings.Contains(err.Error(), `"sbm"`) {
		t.Errorf("Parse: %v; want ErrUnknown with a suggestion", err)
	}
}

func TestBadSpec(t *testing.T) {
	for _, c := range []struct{ spec, say string }{
		{"sbm", "n is missing"},
		{"sbm,n=5,k=2,in=0.1", "out is missing"},
		{"path,n=5,n=6", "twice"},
		{"path,m=5", `"m"`},
		{"knn,n=5,sed=1", `"seed"`},
		{"path,n=x", "whole number"},
		{"path,n=1.5", "whole number"},
		{"path,n=-1", "whole number"},
		{"path,n=1e300", "whole number"},
		{"path,n=NaN", "whole number"},
		{"path,n=", "name=value"},
		{"path,n", "name=value"},
		{"path,", "name=value"},
		{"sbm,n=5,k=2,in=nan,out=0", "number"},
	} {
		if g, err := builtin.Parse(c.spec); !errors.Is(err, builtin.ErrSpec) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("Parse(%q) = %v, %v; want ErrSpec with %q", c.spec, g, err, c.say)
		}
	}
	for _, spec := range []string{
		"sbm,n=5,k=9,in=0.1,out=0", "sbm,n=5,k=2,in=2,out=0", "cycle,n=2", "complete,n=1e6", "hypercube,d=60",
		"knn,n=5,k=5",
	} {
		g, err := builtin.Parse(spec)
		if err != nil {
			t.Errorf("Parse(%q): %v", spec, err)
			continue
		}
		if _, err := g.Folder(); !errors.Is(err, graph.ErrImpossible) {
			t.Errorf("%s: %v, want ErrImpossible", spec, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, form := range builtin.Generators() {
		f.Add(form)
	}
	f.Add("generate:sbm,n=500,k=2,in=0.05,out=0.001,seed=1")
	f.Add("path,n=9007199254740993")
	f.Fuzz(func(t *testing.T, spec string) {
		g, err := builtin.Parse(spec)
		if err != nil {
			return
		}
		again, err := builtin.Parse(g.String())
		if err != nil || again.String() != g.String() {
			t.Errorf("%q becomes %v, then %v, %v", spec, g, again, err)
		}
	})
}

func ExampleParse() {
	g, err := builtin.Parse("generate:barabasi-albert,n=1000,m=3")
	fmt.Println(g, err)
	_, err = builtin.Parse("generate:knn,n=1000,neighbours=5")
	fmt.Println(err)
	// Output:
	// generate:barabasi-albert,n=1000,m=3,seed=1 <nil>
	// builtin: bad generator: knn: there is no parameter "neighbours"; there are n, k, seed (the form is generate:knn,n=,k=8,seed=1)
}

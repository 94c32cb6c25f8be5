// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
)

// want builds the graph that a store should return, by the builder's public way.
func want(t *testing.T, a graph.Aggregation, ids string, edges ...graph.Edge) *graph.Graph {
	t.Helper()
	b := graph.Builder{Aggregation: a}
	names := strings.Fields(ids)
	for _, id := range names {
		if _, err := b.AddNode(graph.ID(id)); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range edges {
		if err := b.Connect(e.U, e.V, e.Weight, e.Length); err != nil {
			t.Fatal(err)
		}
	}
	g, err := b.Graph()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func edge(u, v int, w, l float64) graph.Edge { return graph.Edge{U: u, V: v, Weight: w, Length: l} }

func testGraph(t *testing.T, s Suite) {
	st := s.Open(t, nodesCSV, relationshipsCSV)
	const all = "1 2 3 10 20"
	weighted := graph.Selection{RelationshipWeightProperty: "weight", LengthProperty: "length"}
	with := func(a graph.Aggregation) graph.Selection {
		sel := weighted
		sel.Aggregation = a
		return sel
	}
	rest := []graph.Edge{edge(1, 2, 1, 7), edge(2, 3, 0.5, 2), edge(3, 4, 4, 3)}
	for _, test := range []struct {
		name string
		sel  graph.Selection
		want *graph.Graph
	}{
		{"weights add up, the least length counts", weighted, want(t, graph.Sum, all, append(rest, edge(0, 1, 5, 5))...)},
		{"least weight", with(graph.Min), want(t, graph.Sum, all, append(rest, edge(0, 1, 2, 5))...)},
		{"largest weight", with(graph.Max), want(t, graph.Sum, all, append(rest, edge(0, 1, 3, 5))...)},
		{
			"unweighted, in hops",
			graph.Selection{},
			want(t, graph.Sum, all, edge(0, 1, 2, 1), edge(1, 2, 1, 1), edge(2, 3, 1, 1), edge(3, 4, 1, 1)),
		},
		{"lengths alone", graph.Selection{LengthProperty: "length", Aggregation: graph.Single}, want(t, graph.Sum, all,
			edge(0, 1, 1, 5), edge(1, 2, 1, 7), edge(2, 3, 1, 2), edge(3, 4, 1, 3))},
		{
			"cities",
			graph.Selection{NodeLabels: []string{"City"}},
			want(t, graph.Sum, "1 2 3 10", edge(0, 1, 2, 1), edge(1, 2, 1, 1), edge(2, 3, 1, 1)),
		},
		{"sensors, between which there is nothing", graph.Selection{NodeLabels: []string{"Sensor"}}, want(t, graph.Sum, "1 3")},
		{
			"two labels",
			graph.Selection{NodeLabels: []string{"Village", "City"}, RelationshipTypes: []string{"RAIL"}},
			want(t, graph.Sum, all, edge(2, 3, 1, 1), edge(3, 4, 1, 1)),
		},
		{
			"another key",
			graph.Selection{NodeKey: "name", RelationshipTypes: []string{"RAIL"}},
			want(t, graph.Sum, "n1 n2 n3 n10 n20", edge(2, 3, 1, 1), edge(3, 4, 1, 1)),
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			g, err := st.Graph(t.Context(), s.Select(st, test.sel))
			if err != nil {
				t.Fatal(err)
			}
			if g.Digest() != test.want.Digest() {
				t.Errorf("read %s, want %s", describe(g), describe(test.want))
			}
		})
	}
	g := open(t, s, st, weighted)
	if d := g.Dropped(); d != (graph.Dropped{SelfLoops: 1, Parallel: 1}) {
		t.Errorf("dropped %+v, want one self-loop and one parallel relationship", d)
	}
	if _, err := st.Graph(t.Context(), s.Select(st, with(graph.None))); !errors.Is(err, connector.ErrInput) {
		t.Errorf("parallel relationships under aggregation NONE: %v, want ErrInput", err)
	}
	if again := open(t, s, s.Reopen(t, st), weighted); again.Digest() != g.Digest() {
		t.Error("another handle reads another graph")
	}
}

// describe lists a graph for a failure.
func describe(g *graph.Graph) string {
	var b strings.Builder
	for i := range g.Order() {
		b.WriteString(string(g.ID(i)) + " ")
	}
	for e := range g.Edges() {
		b.WriteString(strings.Join([]string{"", string(g.ID(e.U)), "–", string(g.ID(e.V)), ":", text(e.Weight), "/", text(e.Length)}, ""))
		b.WriteByte(' ')
	}
	return b.String()
}

func testBadRelationships(t *testing.T, s Suite) {
	const nodes = "id\n1\n2\n3\n4\n5\n6\n7\n8\n"
	const relationships = "source,target,weight,length\n1,2,1,1\n2,3,,1\n3,4,0,1\n4,5,-2.5,1\n5,6,NaN,1\n" +
		"6,7,Inf,1\n7,8,1,-1\n8,1,2,1\n1,8,3,\n"
	st := s.Open(t, nodes, relationships)
	sel := graph.Selection{RelationshipWeightProperty: "weight"}
	_, err := st.Graph(t.Context(), s.Select(st, sel))
	if !errors.Is(err, connector.ErrInput) {
		t.Fatalf("bad weights: %v, want ErrInput", err)
	}
	for _, part := range []string{
		"5 relationships", `"2"–"3": weight is missing`, `"3"–"4": weight is 0`, `"4"–"5": weight is -2.5`,
		`"5"–"6": weight is NaN`, `"6"–"7": weight is +Inf`,
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	sel.LengthProperty = "length"
	if _, err := st.Graph(t.Context(), s.Select(st, sel)); !errors.Is(err, connector.ErrInput) ||
		!strings.Contains(err.Error(), "7 relationships") || !strings.Contains(err.Error(), "coalesce") {
		t.Errorf("bad weights and lengths: %v, want ErrInput that counts 7 and says what to do", err)
	}
}

// testIsolated leaves out the nodes without a relationship to another one: values are those of
// the nodes that are left.
func testIsolated(t *testing.T, s Suite) {
	st := s.Open(t, nodesCSV, relationshipsCSV)
	for _, key := range []string{"", "name"} {
		g := open(t, s, st, graph.Selection{RelationshipTypes: []string{"ROAD"}, NodeKey: key, Isolated: graph.DropIsolated})
		if g.Order() != 3 || g.Dropped().Isolated != 2 {
			t.Fatalf("read %s, %+v, want three nodes and two left out", describe(g), g.Dropped())
		}
		heat, err := st.Signal(t.Context(), g, "heat")
		if err != nil || len(heat) != 3 || heat[0] != 0.5 || !math.IsNaN(heat[1]) || heat[2] != 1 {
			t.Errorf("values %v, %v, want 0.5, none and 1", heat, err)
		}
		if sensors, err := st.Sensors(t.Context(), g, graph.SensorSelection{Property: "heat"}); err != nil ||
			!slices.Equal(sensors, []int{0, 2}) {
			t.Errorf("sensors %v, %v", sensors, err)
		}
	}
}

func testBadKeys(t *testing.T, s Suite) {
	st := s.Open(t, "id,name,code\n1,a,x\n2,a,\n3,b,y\n", "source,target\n1,2\n")
	for name, part := range map[string]string{"name": `"a"`, "code": "code is missing"} {
		_, err := st.Graph(t.Context(), s.Select(st, graph.Selection{NodeKey: name}))
		if name == "code" && err != nil && strings.Contains(err.Error(), "missing") {
			part = "missing"
		}
		if !errors.Is(err, connector.ErrInput) || !strings.Contains(err.Error(), part) {
			t.Errorf("key %s: %v, want ErrInput that says %s", name, err, part)
		}
	}
}

func testSelection(t *testing.T, s Suite) {
	st := s.Open(t, nodesCSV, relationshipsCSV)
	for _, test := range []struct {
		sel        graph.Selection
		suggestion bool
	}{
		{graph.Selection{NodeLabels: []string{"Sensro"}}, true},
		{graph.Selection{RelationshipTypes: []string{"RAOD"}}, true},
		{graph.Selection{RelationshipWeightProperty: "wieght"}, true},
		{graph.Selection{LengthProperty: "lenght"}, true},
		{graph.Selection{NodeKey: "nmae"}, true},
		{graph.Selection{RelationshipWeightProperty: "somethingElseEntirely"}, false},
	} {
		_, err := st.Graph(t.Context(), s.Select(st, test.sel))
		missing, ok := errors.AsType[*connector.NotFoundError](err)
		if !ok || !errors.Is(err, connector.ErrNotFound) {
			t.Errorf("%+v: %v, want a NotFoundError", test.sel, err)
		} else if (missing.Suggestion != "") != test.suggestion {
			t.Errorf("%+v: suggests %q", test.sel, missing.Suggestion)
		}
	}
}

func testSignal(t *testing.T, s Suite) {
	st, g := opened(t, s)
	got, err := st.Signal(t.Context(), g, "heat")
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range []float64{0.5, math.NaN(), 1, 0.25, 0} {
		if got[i] != x && !(math.IsNaN(x) && math.IsNaN(got[i])) {
			t.Errorf("heat of %s is %v, want %v", g.ID(i), got[i], x)
		}
	}
	st = s.Open(t, "id,heat\na,0.5;1\nb,\nc,0; -2\n", "source,target\na,c\na,b\n")
	of := open(t, s, st, graph.Selection{})
	series, err := st.Series(t.Context(), of, "heat", 2)
	if err != nil || series[0] != .5 || series[1] != 1 || !math.IsNaN(series[2]) || !math.IsNaN(series[3]) || series[5] != -2 {
		t.Errorf("series %v, %v", series, err)
	}
	e, ok := errors.AsType[*privacy.ReadingsError](second(st.Series(t.Context(), of, "heat", 3)))
	if !ok || e.Count != 2 || !strings.Contains(e.Error(), "list of 3") {
		t.Errorf("lists of 2 as lists of 3: %v", e)
	}
	// Which node has a bad value, and what it is, may be the secret.
	const secret, value = "n7731", "v5519"
	for _, test := range []struct {
		what, values string
		bad          int
	}{
		{"a text", value, 1},
		{"an empty list in text", "[]", 1},
		{"a NaN", "NaN", 1},
		{"infinities", "Inf\nb,-Inf", 2},
		{"a number too large", "1e999", 1},
	} {
		st := s.Open(t, "id,heat\na,\nc,\n"+secret+","+test.values+"\n", "source,target\na,c\n")
		_, err := st.Signal(t.Context(), open(t, s, st, graph.Selection{}), "heat")
		e, ok := errors.AsType[*privacy.ReadingsError](err)
		if !errors.Is(err, connector.ErrInput) || !ok || e.Count != test.bad || e.Property != "heat" {
			t.Errorf("%s: %v, want ErrInput that counts %d", test.what, err, test.bad)
			continue
		}
		for _, private := range []string{secret, value, "NaN", "Inf", "1e", "[]"} {
			if strings.Contains(err.Error(), private) {
				t.Errorf("%s: %q says %s", test.what, err, private)
			}
		}
	}
}

func second[T any](_ T, err error) error { return err }

func testLabels(t *testing.T, s Suite) {
	st, g := opened(t, s)
	for property, expect := range map[string][]string{
		"club":     {"red", "blue", "red", "", "blue"},
		"district": {"1", "2", "1", "2", "3"},
		"mark":     {"true", "false", "", "true", "true"},
	} {
		if got, err := st.Labels(t.Context(), g, property); err != nil || !slices.Equal(got, expect) {
			t.Errorf("%s: %q, %v, want %q", property, got, err, expect)
		}
	}
}

func testSensors(t *testing.T, s Suite) {
	st, g := opened(t, s)
	for _, test := range []struct {
		sel  graph.SensorSelection
		want []int
	}{
		{graph.SensorSelection{}, []int{0, 1, 2, 3, 4}},
		{graph.SensorSelection{Property: "mark"}, []int{0, 3, 4}},
		{graph.SensorSelection{Property: "heat"}, []int{0, 2, 3}},
	} {
		if got, err := st.Sensors(t.Context(), g, test.sel); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%+v: %v, %v, want %v", test.sel, got, err, test.want)
		}
	}
	if _, err := st.Sensors(t.Context(), g, graph.SensorSelection{Property: "club"}); !errors.Is(err, connector.ErrInput) {
		t.Errorf("a text as a mark: %v, want ErrInput", err)
	}
}

func testMissing(t *testing.T, s Suite) {
	st, g := opened(t, s)
	_, err := st.Signal(t.Context(), g, "haet")
	if e, ok := errors.AsType[*connector.NotFoundError](err); !ok || e.Suggestion != "heat" {
		t.Errorf("Signal of haet: %v, want a suggestion of heat", err)
	}
	if _, err := st.Labels(t.Context(), g, "culb"); !errors.Is(err, connector.ErrNotFound) {
		t.Errorf("Labels of culb: %v, want ErrNotFound", err)
	}
	if _, err := st.Run(t.Context(), "no such run"); !errors.Is(err, connector.ErrNotFound) {
		t.Errorf("an unknown run: %v, want ErrNotFound", err)
	}
	if _, err := st.Signal(t.Context(), want(t, graph.Sum, "1"), "heat"); err == nil {
		t.Error("a graph from elsewhere was accepted")
	}
}

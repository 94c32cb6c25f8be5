// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
)

type relationship struct {
	u, v           string
	weight, length float64
}

// build adds the nodes and relationships in the given order.
func build(a graph.Aggregation, nodes []string, relationships []relationship) (*graph.Graph, error) {
	return fill(&graph.Builder{Aggregation: a}, nodes, relationships)
}

func fill(b *graph.Builder, nodes []string, relationships []relationship) (*graph.Graph, error) {
	for _, id := range nodes {
		if _, err := b.AddNode(graph.ID(id)); err != nil {
			return nil, err
		}
	}
	for _, r := range relationships {
		u, _ := b.Handle(graph.ID(r.u))
		v, _ := b.Handle(graph.ID(r.v))
		if err := b.Connect(u, v, r.weight, r.length); err != nil {
			return nil, err
		}
	}
	return b.Graph()
}

func mustBuild(t testing.TB, a graph.Aggregation, nodes []string, relationships []relationship) *graph.Graph {
	t.Helper()
	return must.Get(build(a, nodes, relationships))(t)
}

func TestAggregation(t *testing.T) {
	parallel := []relationship{
		{"a", "b", 3, 7}, {"b", "a", 0.5, 5}, {"a", "a", 9, 9}, {"a", "b", 2, 6}, {"b", "c", 4, 2},
	}
	for _, c := range []struct {
		aggregation graph.Aggregation
		ab, bc      float64
	}{
		{graph.Sum, 5.5, 4}, {graph.Min, 0.5, 4}, {graph.Max, 3, 4}, {graph.Single, 0.5, 4}, {graph.Count, 3, 1},
	} {
		g := mustBuild(t, c.aggregation, []string{"c", "a", "b"}, parallel)
		want := []graph.Edge{{U: 0, V: 1, Weight: c.ab, Length: 5}, {U: 1, V: 2, Weight: c.bc, Length: 2}}
		if got := slices.Collect(g.Edges()); !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", c.aggregation, got, want)
		}
		if d := g.Dropped(); d != (graph.Dropped{SelfLoops: 1, Parallel: 2}) {
			t.Errorf("%v: dropped %+v", c.aggregation, d)
		}
	}
	if _, err := build(graph.None, []string{"a", "b", "c"}, parallel); !errors.Is(err, graph.ErrParallel) {
		t.Errorf("NONE: %v, want ErrParallel", err)
	}
	// Counting gives unit weights back where nothing is parallel.
	if g := mustBuild(t, graph.Count, []string{"a", "b"}, []relationship{{"a", "b", 5, 1}}); !g.Unweighted() {
		t.Error("COUNT of one relationship is not the unit weight")
	}
	if g := mustBuild(t, graph.Sum, []string{"a", "b"}, []relationship{{"a", "b", 0.5, 2}, {"a", "b", 0.5, 1}}); !g.Unweighted() ||
		!g.UnitLengths() {
		t.Error("weights that add up to 1 and lengths of which the least is 1 are not dropped")
	}
}

func TestAggregationNames(t *testing.T) {
	for a := graph.Sum; a <= graph.None; a++ {
		if got, err := graph.ParseAggregation(a.String()); err != nil || got != a {
			t.Errorf("ParseAggregation(%v) = %v, %v", a, got, err)
		}
	}
	if a, err := graph.ParseAggregation("sum"); err == nil {
		t.Errorf("ParseAggregation(sum) = %v, want an error", a)
	}
}

func TestBadInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		weight, length float64
		want           error
	}{
		{0, 1, graph.ErrBadWeight},
		{-1, 1, graph.ErrBadWeight},
		{nan, 1, graph.ErrBadWeight},
		{inf, 1, graph.ErrBadWeight},
		{math.Copysign(0, -1), 1, graph.ErrBadWeight},
		{1, 0, graph.ErrBadLength},
		{1, -1, graph.ErrBadLength},
		{1, nan, graph.ErrBadLength},
		{1, inf, graph.ErrBadLength},
		{1e-300, 1e300, nil},
		{math.SmallestNonzeroFloat64, math.MaxFloat64, nil},
	} {
		if _, err := build(graph.Sum, []string{"a", "b"}, []relationship{{"a", "b", c.weight, c.length}}); !errors.Is(err, c.want) {
			t.Errorf("weight %v, length %v: %v, want %v", c.weight, c.length, err, c.want)
		}
	}
	var b graph.Builder
	must.Get(b.AddNode("a"))(t)
	if _, err := b.AddNode("a"); !errors.Is(err, graph.ErrDuplicateNode) || !strings.Contains(err.Error(), `"a"`) {
		t.Errorf("second node a: %v", err)
	}
	long := graph.ID(strings.Repeat("x", 1<<20))
	must.Get(b.AddNode(long))(t)
	if _, err := b.AddNode(long); !errors.Is(err, graph.ErrDuplicateNode) || len(err.Error()) > 200 {
		t.Errorf("a long id twice: an error of %d bytes, %.80v", len(err.Error()), err)
	}
	if err := b.AddEdge("new", "newer", -1); !errors.Is(err, graph.ErrBadWeight) {
		t.Errorf("weight -1: %v", err)
	}
	if _, ok := b.Handle("new"); ok {
		t.Error("an edge that was refused left its node behind")
	}
	for _, h := range []int{-1, 2, 1 << 40} {
		if err := b.Connect(0, h, 1, 1); !errors.Is(err, graph.ErrUnknownNode) {
			t.Errorf("handle %d: %v", h, err)
		}
	}
	huge := []relationship{{"a", "b", math.MaxFloat64, 1}, {"a", "b", math.MaxFloat64, 1}}
	if _, err := build(graph.Sum, []string{"a", "b"}, huge); !errors.Is(err, graph.ErrBadWeight) {
		t.Errorf("a sum that overflows: %v, want ErrBadWeight", err)
	}
}

// A builder is empty after Graph, and usable again.
func TestReuse(t *testing.T) {
	b := graph.Builder{Aggregation: graph.Max}
	for range 2 {
		g := must.Get(fill(&b, []string{"x", "y"}, []relationship{{"x", "y", 2, 1}, {"x", "y", 3, 1}}))(t)
		if e, _ := g.Edge(0, 1); e.Weight != 3 || g.Dropped().Parallel != 1 {
			t.Errorf("edge %+v, dropped %+v", e, g.Dropped())
		}
	}
}

// Shortlex: shorter ids first, so that decimal numbers count upwards.
func TestOrder(t *testing.T) {
	g := mustBuild(t, graph.Sum, []string{"10", "9", "ä", "", "2", "100", "b"}, nil)
	var got []string
	for i := range g.Order() {
		got = append(got, string(g.ID(i)))
		if at, ok := g.Index(g.ID(i)); !ok || at != i {
			t.Errorf("Index(%q) = %d, %v; want %d", g.ID(i), at, ok, i)
		}
	}
	if want := []string{"", "2", "9", "b", "10", "ä", "100"}; !slices.Equal(got, want) {
		t.Errorf("order %q, want %q", got, want)
	}
}

// multigraph draws nodes and relationships, with parallels and self-loops.
func multigraph(t *rapid.T) (nodes []string, relationships []relationship) {
	n := rapid.IntRange(1, 12).Draw(t, "nodes")
	for i := range n {
		nodes = append(nodes, fmt.Sprint(i*i))
	}
	values := rapid.SampledFrom([]float64{1, 1, 0.1, 0.2, 0.3, 1e300, 1e-300, 3})
	for range rapid.IntRange(0, 40).Draw(t, "relationships") {
		relationships = append(relationships, relationship{
			rapid.SampledFrom(nodes).Draw(t, "u"), rapid.SampledFrom(nodes).Draw(t, "v"),
			values.Draw(t, "weight"), values.Draw(t, "length"),
		})
	}
	return nodes, relationships
}

// The graph is that of a map of pairs, and obeys the laws of its form.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes, relationships := multigraph(t)
		a := rapid.SampledFrom([]graph.Aggregation{graph.Sum, graph.Min, graph.Max, graph.Single, graph.Count}).Draw(t, "aggregation")
		g := must.Get(build(a, nodes, relationships))(t)
		checkForm(t, g)
		checkModel(t, g, a, relationships)
	})
}

// The same nodes and relationships give the same bits in any order, and with the
// ends of relationships exchanged.
func TestPermutation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes, relationships := multigraph(t)
		a := rapid.SampledFrom([]graph.Aggregation{graph.Sum, graph.Min, graph.Max, graph.Single, graph.Count}).Draw(t, "aggregation")
		g := must.Get(build(a, nodes, relationships))(t)
		seed := rapid.Uint64().Draw(t, "seed")
		r := rand.New(rand.NewPCG(seed, 0))
		r.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
		r.Shuffle(len(relationships), func(i, j int) {
			relationships[i], relationships[j] = relationships[j], relationships[i]
		})
		for k := range relationships {
			if e := &relationships[k]; r.IntN(2) == 0 {
				e.u, e.v = e.v, e.u
			}
		}
		h := must.Get(build(a, nodes, relationships))(t)
		if g.Digest() != h.Digest() || g.Dropped() != h.Dropped() || g.Unweighted() != h.Unweighted() ||
			g.UnitLengths() != h.UnitLengths() {
			t.Fatalf("the order of arrival shows: %v and %v", slices.Collect(g.Edges()), slices.Collect(h.Edges()))
		}
	})
}

// Any change of ids, edges, weights or lengths changes the digest.
func TestDigest(t *testing.T) {
	seen := make(map[[32]byte]string)
	add := func(name string, g *graph.Graph) {
		if other, ok := seen[g.Digest()]; ok {
			t.Errorf("%s has the digest of %s", name, other)
		}
		seen[g.Digest()] = name
	}
	nodes := []string{"a", "b", "c"}
	base := []relationship{{"a", "b", 1, 1}}
	add("base", mustBuild(t, graph.Sum, nodes, base))
	add("no edge", mustBuild(t, graph.Sum, nodes, nil))
	add("fewer nodes", mustBuild(t, graph.Sum, nodes[:2], base))
	add("other id", mustBuild(t, graph.Sum, []string{"a", "b", "d"}, base))
	add("split ids", mustBuild(t, graph.Sum, []string{"a", "b", "cc"}, base))
	add("other edge", mustBuild(t, graph.Sum, nodes, []relationship{{"a", "c", 1, 1}}))
	add("two edges", mustBuild(t, graph.Sum, nodes, []relationship{{"a", "b", 1, 1}, {"a", "c", 1, 1}}))
	add("weight", mustBuild(t, graph.Sum, nodes, []relationship{{"a", "b", math.Nextafter(1, 2), 1}}))
	add("length", mustBuild(t, graph.Sum, nodes, []relationship{{"a", "b", 1, math.Nextafter(1, 2)}}))
}

// The builder and the finished rows together take no more than twice the rows,
// apart from the ids: 8 bytes a relationship beside the 8 of the two rows.
func TestMemory(t *testing.T) {
	if raceEnabled {
		t.Log("the race detector changes what is allocated")
		return
	}
	const n, m = 20_000, 1_000_000
	r := rand.New(rand.NewPCG(1, 0))
	for _, weighted := range []bool{false, true} {
		var b graph.Builder
		for i := range n {
			must.Get(b.AddNode(graph.ID(fmt.Sprint(i))))(t)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range m {
			w := 1.0
			if weighted {
				w = r.Float64() + 0.5
			}
			must.Do(t, b.Connect(r.IntN(n), r.IntN(n), w, 1))
		}
		g := must.Get(b.Graph())(t)
		runtime.ReadMemStats(&after)
		rows := 2 * 4 * m
		if weighted || !g.Unweighted() { // a repeated pair has weight 2
			rows += 2 * 8 * m
		}
		got, limit := after.TotalAlloc-before.TotalAlloc, uint64(2*rows+100*n)
		if got > limit {
			t.Errorf("weighted %v: %d bytes allocated in all for rows of %d, want ≤ %d", weighted, got, rows, limit)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	g := must.Get(graph.Grid(20, 20))(t)
	g.Digest()
	g.Components()
	total := 0.0
	if allocs := testing.AllocsPerRun(10, func() {
		for e := range g.Edges() {
			total += e.Weight
		}
		for i := range g.Order() {
			total += float64(len(g.Neighbors(i)) - g.Degree(i))
		}
		if _, ok := g.Edge(3, 4); !ok {
			total = math.NaN()
		}
		g.Index("17")
		g.Digest()
		g.Components()
	}); allocs != 0 {
		t.Errorf("%v allocations to read a graph, want 0", allocs)
	}
	if math.IsNaN(total) {
		t.Error("an edge is missing")
	}
}

func ExampleBuilder() {
	var b graph.Builder
	for _, id := range []graph.ID{"ann", "bob", "eve"} {
		b.AddNode(id)
	}
	b.AddEdge("bob", "ann", 1)
	b.AddEdge("ann", "bob", 2)
	b.AddEdge("bob", "eve", 0.5)
	g, err := b.Graph()
	if err != nil {
		fmt.Println(err)
		return
	}
	for e := range g.Edges() {
		fmt.Println(g.ID(e.U), g.ID(e.V), e.Weight)
	}
	fmt.Println(g.Dropped().Parallel, "parallel")
	// Output:
	// ann bob 3
	// bob eve 0.5
	// 1 parallel
}

// TestDropIsolated: what is left is the graph of the other nodes, whatever their order and weights.
func TestDropIsolated(t *testing.T) {
	relationships := []relationship{{"d", "b", 2, 1}, {"b", "f", 3, 4}, {"c", "c", 1, 1}}
	g := must.Get(fill(&graph.Builder{DropIsolated: true}, []string{"f", "a", "d", "c", "b", "zz"}, relationships))(t)
	want := mustBuild(t, graph.Sum, []string{"b", "d", "f"}, relationships[:2])
	if g.Digest() != want.Digest() || g.Dropped().Isolated != 3 || g.Dropped().SelfLoops != 1 {
		t.Errorf("%d nodes, %+v", g.Order(), g.Dropped())
	}
}

func TestChanged(t *testing.T) {
	g := mustBuild(t, graph.Sum, []string{"a", "b", "c", "d"}, []relationship{{"a", "b", 1, 5}, {"b", "c", 1, 5}, {"c", "d", 1, 5}})
	digest := g.Digest()
	other, err := g.Changed([]graph.Change{
		{Source: "d", Target: "a", Weight: 3},
		{Source: "b", Target: "a", Weight: 0},
		{Source: "b", Target: "c", Weight: .5},
	})
	must.Do(t, err)
	want := []graph.Edge{{U: 0, V: 3, Weight: 3, Length: 1}, {U: 1, V: 2, Weight: .5, Length: 5}, {U: 2, V: 3, Weight: 1, Length: 5}}
	if got := slices.Collect(other.Edges()); !slices.Equal(got, want) {
		t.Errorf("relationships %v, want %v", got, want)
	}
	if g.Digest() != digest || g.Size() != 3 || other.Order() != 4 || other.ID(3) != "d" {
		t.Errorf("the graph itself changed, or the nodes did: %d relationships, %d nodes", g.Size(), other.Order())
	}
	for name, c := range map[string]struct {
		list []graph.Change
		want error
	}{
		"stranger":         {[]graph.Change{{Source: "x", Target: "a", Weight: 1}}, graph.ErrUnknownNode},
		"other stranger":   {[]graph.Change{{Source: "a", Target: "x", Weight: 1}}, graph.ErrUnknownNode},
		"itself":           {[]graph.Change{{Source: "a", Target: "a", Weight: 1}}, graph.ErrChange},
		"not there":        {[]graph.Change{{Source: "a", Target: "c", Weight: 0}}, graph.ErrChange},
		"twice, turned":    {[]graph.Change{{Source: "a", Target: "b", Weight: 2}, {Source: "b", Target: "a", Weight: 3}}, graph.ErrChange},
		"negative":         {[]graph.Change{{Source: "a", Target: "b", Weight: -1}}, graph.ErrBadWeight},
		"not a number":     {[]graph.Change{{Source: "a", Target: "b", Weight: math.NaN()}}, graph.ErrBadWeight},
		"without an upper": {[]graph.Change{{Source: "a", Target: "b", Weight: math.Inf(1)}}, graph.ErrBadWeight},
	} {
		if _, err := g.Changed(c.list); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// What is left is what a builder makes of the same edges, to the digest, and all of it is the graph itself.
func TestReweighLeavesEdgesOut(t *testing.T) {
	nodes := []string{"a", "b", "c", "d"}
	for _, w := range []float64{1, 2.5} {
		all := []relationship{{"a", "b", w, 1 / w}, {"b", "c", w, 1}, {"c", "d", w, 1}, {"a", "d", w, 1}}
		g, want := mustBuild(t, graph.Sum, nodes, all), mustBuild(t, graph.Sum, nodes, all[:2])
		for less, want := range map[bool]*graph.Graph{false: g, true: want} {
			got, err := g.Reweigh(func(e graph.Edge) float64 {
				if less && g.ID(e.V) == "d" {
					return 0
				}
				return e.Weight
			})
			if err != nil || got.Digest() != want.Digest() || got.Size() != want.Size() {
				t.Errorf("weight %v, less %v: %d edges, want %d; %v", w, less, got.Size(), want.Size(), err)
			}
		}
	}
}

// Other weights make another graph of the same edges and lengths.
func TestReweigh(t *testing.T) {
	g, _, err := graph.RoadLike(60, 1)
	must.Do(t, err)
	twice, err := g.Reweigh(func(e graph.Edge) float64 { return float64(e.U + e.V + 1) })
	if err != nil || twice.Size() != g.Size() {
		t.Fatalf("%d edges, want %d: %v", twice.Size(), g.Size(), err)
	}
	for e := range twice.Edges() {
		before, _ := g.Edge(e.U, e.V)
		back, ok := twice.Edge(e.V, e.U)
		if e.Weight != float64(e.U+e.V+1) || e.Length != before.Length || !ok || back.Weight != e.Weight {
			t.Errorf("%+v, back %+v, before %+v", e, back, before)
		}
	}
	if twice.Digest() == g.Digest() {
		t.Error("the same digest")
	}
	for _, w := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := g.Reweigh(func(graph.Edge) float64 { return w }); !errors.Is(err, graph.ErrBadWeight) {
			t.Errorf("weight %v: %v, want a refusal", w, err)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/graph"
)

// failer is what tests, fuzz tests and rapid have in common.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkForm tests the laws of the form: sorted rows without self-loops or
// repetition, symmetric in neighbours, weights and lengths; all accessors agree.
func checkForm(t failer, g *graph.Graph) {
	t.Helper()
	ptr, adj, weight := g.CSR()
	length := g.Lengths()
	if len(ptr) != g.Order()+1 || int(ptr[g.Order()]) != len(adj) || len(adj) != 2*g.Size() {
		t.Fatalf("ptr %v for %d entries", ptr, len(adj))
	}
	if weight == nil != g.Unweighted() || length == nil != g.UnitLengths() {
		t.Fatalf("weights %v, lengths %v", weight, length)
	}
	for u := range g.Order() {
		row := g.Neighbors(u)
		if len(row) != g.Degree(u) || !slices.IsSorted(row) || len(slices.Compact(slices.Clone(row))) != len(row) {
			t.Fatalf("row %d is %v", u, row)
		}
		for k, v := range row {
			e, ok := g.Edge(u, int(v))
			if !ok || int(v) == u || e.U != min(u, int(v)) || e.V != max(u, int(v)) {
				t.Fatalf("edge %d–%d: %+v, %v", u, v, e, ok)
			}
			at := ptr[u] + int64(k)
			if weight != nil && weight[at] != e.Weight || length != nil && length[at] != e.Length {
				t.Fatalf("edge %d–%d has two weights or lengths", u, v)
			}
		}
	}
	count := 0
	last := graph.Edge{U: -1}
	for e := range g.Edges() {
		if e.U >= e.V || e.U < last.U || e.U == last.U && e.V <= last.V {
			t.Fatalf("edge %+v after %+v", e, last)
		}
		last = e
		count++
	}
	if count != g.Size() {
		t.Fatalf("%d edges, size says %d", count, g.Size())
	}
	checkComponents(t, g)
}

// checkComponents tests that labels are constant along edges, are numbered by
// their lowest node, and that a union–find agrees on how many there are.
func checkComponents(t failer, g *graph.Graph) {
	t.Helper()
	labels, sizes := g.Components()
	root := make([]int, g.Order())
	for i := range root {
		root[i] = i
	}
	find := func(v int) int {
		for root[v] != v {
			v = root[v]
		}
		return v
	}
	parts := g.Order()
	for e := range g.Edges() {
		if labels[e.U] != labels[e.V] {
			t.Fatalf("edge %+v joins components %d and %d", e, labels[e.U], labels[e.V])
		}
		if u, v := find(e.U), find(e.V); u != v {
			root[u] = v
			parts--
		}
	}
	counted := make([]int, len(sizes))
	next := int32(0)
	for i, c := range labels {
		if c > next {
			t.Fatalf("node %d in component %d before any in %d", i, c, next)
		}
		if c == next {
			next++
		}
		counted[c]++
	}
	if parts != len(sizes) || !slices.Equal(counted, sizes) {
		t.Fatalf("%d components of sizes %v, counted %v; union–find has %d", len(sizes), sizes, counted, parts)
	}
}

// checkModel compares g with the relationships gathered in a map.
func checkModel(t failer, g *graph.Graph, a graph.Aggregation, relationships []relationship) {
	t.Helper()
	type pair [2]int
	weights, lengths := make(map[pair][]float64), make(map[pair]float64)
	loops, parallel := 0, 0
	for _, r := range relationships {
		u, _ := g.Index(graph.ID(r.u))
		v, _ := g.Index(graph.ID(r.v))
		if u == v {
			loops++
			continue
		}
		k := pair{min(u, v), max(u, v)}
		if len(weights[k]) == 0 {
			lengths[k] = math.Inf(1)
		} else {
			parallel++
		}
		weights[k] = append(weights[k], r.weight)
		lengths[k] = min(lengths[k], r.length)
	}
	if d := g.Dropped(); d.SelfLoops != loops || d.Parallel != parallel || g.Size() != len(weights) {
		t.Fatalf("size %d, dropped %+v; want %d, %d loops, %d parallel", g.Size(), d, len(weights), loops, parallel)
	}
	for k, all := range weights {
		slices.Sort(all)
		want := all[0]
		switch a {
		case graph.Max:
			want = all[len(all)-1]
		case graph.Count:
			want = float64(len(all))
		case graph.Sum:
			want = 0
			for _, w := range all {
				want += w
			}
		}
		if e, ok := g.Edge(k[0], k[1]); !ok || e.Weight != want || e.Length != lengths[k] {
			t.Fatalf("%v: edge %+v, %v; want weight %v and length %v", a, e, ok, want, lengths[k])
		}
	}
}

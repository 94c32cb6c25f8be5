// SPDX-License-Identifier: Apache-2.0

package emd_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/graph/emd"
	"github.com/graphcloak/graphcloak/internal/must"
)

// For a unit mass the sum over shortest paths is the optimum of the linear programme over all pairs,
// in hops and in lengths.
func TestToNode(t *testing.T) {
	const n = 20
	hops := must.Get(graph.BarabasiAlbert(n, 3, 1))(t)
	var b graph.Builder
	random := rand.New(rand.NewPCG(3, 4))
	for i := range n {
		must.Get(b.AddNode(graph.ID(string(rune('A' + i)))))(t)
		for range min(i, 3) {
			must.Do(t, b.Connect(i, random.IntN(i), 1, 0.1+random.Float64()))
		}
	}
	b.Aggregation = graph.Sum
	lengths := must.Get(b.Graph())(t)
	if lengths.UnitLengths() {
		t.Fatal("the graph has no lengths")
	}
	for _, g := range []*graph.Graph{hops, lengths} {
		for range 5 {
			p, q := make([]float64, n), make([]float64, n)
			total := 0.0
			for i := range p {
				p[i] = random.Float64()
				total += p[i]
			}
			for i := range p {
				p[i] /= total
			}
			source := random.IntN(n)
			q[source] = 1
			want := transport(distances(g), p, q)
			if got, elsewhere := emd.ToNode(emd.Lengths(g, source), p); math.Abs(got-want) > 1e-9*want || elsewhere != 0 {
				t.Errorf("distance %v, %v elsewhere; want %v and none", got, elsewhere, want)
			}
		}
	}
}

// Mass in another component has no distance, and is counted apart.
func TestToNodeElsewhere(t *testing.T) {
	var b graph.Builder
	for _, id := range []graph.ID{"0", "1", "2", "3"} {
		must.Get(b.AddNode(id))(t)
	}
	must.Do(t, b.Connect(0, 1, 1, 2))
	must.Do(t, b.Connect(2, 3, 1, 1))
	g := must.Get(b.Graph())(t)
	d := emd.Lengths(g, 0)
	if got, elsewhere := emd.ToNode(d, []float64{.25, .25, .5, 0}); got != 1 || elsewhere != .5 {
		t.Errorf("distance %v, %v elsewhere; want 1 and 0.5", got, elsewhere)
	}
	if got, elsewhere := emd.ToNode(d, []float64{0, 0, 1, 1}); got != 0 || elsewhere != 1 {
		t.Errorf("distance %v, %v elsewhere; want 0 and 1", got, elsewhere)
	}
}

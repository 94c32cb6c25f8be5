// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"errors"
	"math"
	"strconv"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
)

// What is kept is what a builder makes of the same edges, to the digest.
func TestFilterEdges(t *testing.T) {
	for _, weighted := range []bool{false, true} {
		var nodes []string
		var whole, part []relationship
		left := map[[2]string]bool{}
		for i := range 30 {
			nodes = append(nodes, strconv.Itoa(i))
			for j := range i {
				if (i*j+i)%7 != 0 {
					continue
				}
				r := relationship{strconv.Itoa(i), strconv.Itoa(j), 1, 1}
				if weighted {
					r.weight, r.length = 1+float64(i), 1/float64(j+1)
				}
				whole = append(whole, r)
				if i%3 == 0 {
					left[[2]string{r.u, r.v}] = true
				} else {
					part = append(part, r)
				}
			}
		}
		g, want := mustBuild(t, graph.Sum, nodes, whole), mustBuild(t, graph.Sum, nodes, part)
		asked := 0
		got := g.FilterEdges(func(e graph.Edge) bool {
			asked++
			u, v := string(g.ID(e.U)), string(g.ID(e.V))
			return !left[[2]string{u, v}] && !left[[2]string{v, u}]
		})
		if got.Digest() != want.Digest() || got.Size() != want.Size() || asked != g.Size() {
			t.Errorf("weighted %v: %d edges, want %d; asked %d times for %d", weighted, got.Size(), want.Size(), asked, g.Size())
		}
		_, a := got.Components()
		_, b := want.Components()
		if len(a) != len(b) {
			t.Errorf("weighted %v: %d components, want %d", weighted, len(a), len(b))
		}
		if all := g.FilterEdges(func(graph.Edge) bool { return true }); all.Digest() != g.Digest() {
			t.Error("a graph is not itself where all is kept")
		}
	}
}

// Other weights make another graph of the same edges and lengths.
func TestReweigh(t *testing.T) {
	g, _, err := graph.RoadLike(60, 1)
	if err != nil {
		t.Fatal(err)
	}
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
	for _, w := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := g.Reweigh(func(graph.Edge) float64 { return w }); !errors.Is(err, graph.ErrBadWeight) {
			t.Errorf("weight %v: %v, want a refusal", w, err)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"errors"
	"math"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
)

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

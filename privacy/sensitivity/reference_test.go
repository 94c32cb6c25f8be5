// SPDX-License-Identifier: Apache-2.0

package sensitivity_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

type kernel struct {
	Hops, InverseWeight, Weight float64
	HopsEdges                   [][2]int
	PerSensor                   []float64
	Edges                       [][3]float64
}

type reference struct {
	Graphs map[string]struct {
		N     int
		Edges [][3]float64
		Tau   map[string]kernel
	}
}

func load(t testing.TB) (r reference) {
	t.Helper()
	b, err := os.ReadFile("testdata/sensitivity.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// build makes a graph whose nodes 0 … n−1 keep their numbers.
func build(t testing.TB, n int, edges [][3]float64, length func(w float64) float64) *graph.Graph {
	t.Helper()
	var b graph.Builder
	for i := range n {
		if _, err := b.AddNode(graph.ID(fmt.Sprintf("%09d", i))); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range edges {
		if err := b.Connect(int(e[0]), int(e[1]), e[2], length(e[2])); err != nil {
			t.Fatal(err)
		}
	}
	g, err := b.Graph()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func hops(float64) float64 { return 1 }

// near reports lower ≤ want ≤ upper with both ends within tol of want.
func near(b sensitivity.Bracket, want, tol float64) bool {
	return b.Lower <= want && want <= b.Upper && b.Upper <= want*(1+tol) && b.Lower >= want*(1-tol)
}

func TestReference(t *testing.T) {
	for name, r := range load(t).Graphs {
		for ts, want := range r.Tau {
			tau, _ := strconv.ParseFloat(ts, 64)
			for _, c := range []struct {
				metric string
				length func(float64) float64
				want   float64
			}{
				{"hops", hops, want.Hops},
				{"1/w", func(w float64) float64 { return 1 / w }, want.InverseWeight},
				{"w", func(w float64) float64 { return w }, want.Weight},
			} {
				g := build(t, r.N, r.Edges, c.length)
				m := sensitivity.Model{Graph: g, Laplacian: laplacian.New(g, laplacian.Combinatorial), Tau: tau}
				b, err := sensitivity.Bound(context.Background(), m, nil, sensitivity.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if !near(b, c.want, 1e-12) {
					t.Errorf("%s τ=%v %s: Δ₂ in [%v, %v] (%.1e, %.1e), want %v", name, tau, c.metric, b.Lower, b.Upper, b.Lower/c.want-1,
						b.Upper/c.want-1, c.want)
				}
			}
		}
	}
}

func TestReferencePerSensor(t *testing.T) {
	for name, r := range load(t).Graphs {
		for ts, want := range r.Tau {
			tau, _ := strconv.ParseFloat(ts, 64)
			g := build(t, r.N, r.Edges, hops)
			m := sensitivity.Model{Graph: g, Laplacian: laplacian.New(g, laplacian.Combinatorial), Tau: tau}
			got, err := sensitivity.PerSensor(context.Background(), m, sensitivity.Options{})
			if err != nil {
				t.Fatal(err)
			}
			// Where columns cancel at a sensor its value is small beside Δ₂, which sets
			// the error.
			tol := func(s int) float64 { return 2e-12 * want.Hops / want.PerSensor[s] }
			for s, b := range got {
				if !near(b, want.PerSensor[s], tol(s)) {
					t.Errorf("%s τ=%v sensor %d: [%v, %v], want %v", name, tau, s, b.Lower, b.Upper, want.PerSensor[s])
				}
			}
			// The joint Δ₂ of one sensor is its own sensitivity.
			m.Sensors = []int{1}
			one, err := sensitivity.Bound(context.Background(), m, nil, sensitivity.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !near(one, want.PerSensor[1], tol(1)) {
				t.Errorf("%s τ=%v: one sensor gives [%v, %v], want %v", name, tau, one.Lower, one.Upper, want.PerSensor[1])
			}
		}
	}
}

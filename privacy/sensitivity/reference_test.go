// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
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
	b := must.Get(os.ReadFile("testdata/sensitivity.json"))(t)
	must.Do(t, json.Unmarshal(b, &r))
	return r
}

// build makes a graph whose nodes 0 … n−1 keep their numbers.
func build(t testing.TB, n int, edges [][3]float64, length func(w float64) float64) *graph.Graph {
	t.Helper()
	var b graph.Builder
	for i := range n {
		must.Get(b.AddNode(graph.ID(fmt.Sprintf("%09d", i))))(t)
	}
	for _, e := range edges {
		must.Do(t, b.Connect(int(e[0]), int(e[1]), e[2], length(e[2])))
	}
	return must.Get(b.Graph())(t)
}

func hops(float64) float64 { return 1 }

// near reports lower ≤ want ≤ upper with both ends within tol of want.
func near(b Bracket, want, tol float64) bool {
	return b.Lower <= want && want <= b.Upper && b.Upper <= want*(1+tol) && b.Lower >= want*(1-tol)
}

// TestReference: the Δ₂ of each metric, of each reading, and of a single sensor are those of a reference.
func TestReference(t *testing.T) {
	for name, r := range load(t).Graphs {
		for ts, want := range r.Tau {
			tau, _ := strconv.ParseFloat(ts, 64)
			check := func(what string, b Bracket, want, tol float64) {
				if !near(b, want, tol) {
					t.Errorf("%s τ=%v %s: [%v, %v], want %v", name, tau, what, b.Lower, b.Upper, want)
				}
			}
			inverse, same := func(w float64) float64 { return 1 / w }, func(w float64) float64 { return w }
			for metric, length := range map[string]func(float64) float64{"1/w": inverse, "w": same, "hops": hops} {
				m := model(build(t, r.N, r.Edges, length), tau)
				value := map[string]float64{"hops": want.Hops, "1/w": want.InverseWeight, "w": want.Weight}[metric]
				check(metric, must.Get(Bound(background, m, nil, Options{}))(t), value, 1e-12)
			}
			m := model(build(t, r.N, r.Edges, hops), tau)
			// Where columns cancel at a sensor its value is small beside Δ₂, which sets the error.
			tol := func(s int) float64 { return 2e-12 * want.Hops / want.PerSensor[s] }
			for s, b := range must.Get(PerSensor(background, m, Options{}))(t) {
				check(fmt.Sprintf("sensor %d", s), b, want.PerSensor[s], tol(s))
			}
			m.Sensors = []int{1}
			check("one sensor", must.Get(Bound(background, m, nil, Options{}))(t), want.PerSensor[1], tol(1))
		}
	}
}

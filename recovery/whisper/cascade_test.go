// SPDX-License-Identifier: Apache-2.0

package whisper

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
)

// weighted builds a graph of n numbered nodes.
func weighted(t *testing.T, n int, edges ...graph.Edge) *graph.Graph {
	t.Helper()
	var b graph.Builder
	for i := range n {
		must.Get(b.AddNode(graph.ID(rune('a' + i))))(t)
	}
	for _, e := range edges {
		must.Do(t, b.Connect(e.U, e.V, e.Weight, 1))
	}
	return must.Get(b.Graph())(t)
}

// The laws on a path of three people, whose weights are 1 and 3: their mean is 2, so that the rates are ½ and 3/2.
func TestCascadeLaws(t *testing.T) {
	g := weighted(t, 3, graph.Edge{U: 0, V: 1, Weight: 1}, graph.Edge{U: 1, V: 2, Weight: 3})
	const at, p, trials = 1.2, .3, 40_000
	// the slower of two exponential delays in a row comes before at
	both := 1 - (1.5*math.Exp(-.5*at)-.5*math.Exp(-1.5*at))/(1.5-.5)
	first := 1 - math.Exp(-.5*at)
	quiet := (1 - p) / p // rate of falling silent
	for _, c := range []struct {
		name   string
		nature Nature
		source int
		cut    Cut
		want   map[string]float64
	}{
		{"end, by time", Nature{}, 0, Cut{Time: at}, map[string]float64{"a": 1 - first, "ab": first - both, "abc": both}},
		{"middle, by size", Nature{}, 1, Cut{Size: 2}, map[string]float64{"ba": .25, "bc": .75}},
		{"cascade", Nature{IC, p}, 0, Cut{}, map[string]float64{
			"a": math.Pow(1-p, .5), "ab": (1 - math.Pow(1-p, .5)) * math.Pow(1-p, 1.5),
			"abc": (1 - math.Pow(1-p, .5)) * (1 - math.Pow(1-p, 1.5)),
		}},
		{"silence", Nature{SIR, p}, 0, Cut{}, map[string]float64{
			"a": quiet / (.5 + quiet), "ab": .5 / (.5 + quiet) * quiet / (1.5 + quiet), "abc": .5 / (.5 + quiet) * 1.5 / (1.5 + quiet),
		}},
		// both neighbours hear before the middle falls silent, one or the other first
		{"silence, middle", Nature{SIR, p}, 1, Cut{}, map[string]float64{
			"b":   quiet / (2 + quiet),
			"ba":  .5 / (2 + quiet) * quiet / (1.5 + quiet),
			"bac": .5 / (2 + quiet) * 1.5 / (1.5 + quiet),
			"bc":  1.5 / (2 + quiet) * quiet / (.5 + quiet),
			"bca": 1.5 / (2 + quiet) * .5 / (.5 + quiet),
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			simulator, random := NewCascades(g), rand.New(rand.NewPCG(1, 2))
			got := map[string]float64{}
			for range trials {
				name := ""
				for _, i := range simulator.Run(c.nature, c.source, c.cut, random) {
					name += string(g.ID(int(i)))
				}
				got[name]++
			}
			for name := range got {
				if _, ok := c.want[name]; !ok {
					t.Errorf("%s cannot be", name)
				}
			}
			for name, want := range c.want {
				if off := got[name]/trials - want; math.Abs(off) > 5*math.Sqrt(want*(1-want)/trials) {
					t.Errorf("%s: %v, want %v", name, got[name]/trials, want)
				}
			}
		})
	}
}

// The queue gives passages in order, whatever the order in which they came.
func TestQueue(t *testing.T) {
	c, random := &Cascades{}, rand.New(rand.NewPCG(3, 3))
	var want, got []passage
	for i := range 500 {
		p := passage{float64(random.IntN(50)), int32(i)}
		want = append(want, p)
		c.push(p)
	}
	slices.SortFunc(want, func(a, b passage) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	for len(c.queue) > 0 {
		got = append(got, c.pop())
	}
	if !slices.Equal(got, want) {
		t.Error("passages come out of order")
	}
}

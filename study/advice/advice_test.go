// SPDX-License-Identifier: Apache-2.0

package advice_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/study/advice"
)

// pipes is a path with these lengths, and so many nodes beside it.
func pipes(t *testing.T, alone int, lengths ...float64) *graph.Graph {
	t.Helper()
	b := &graph.Builder{}
	for i := range len(lengths) + 1 + alone {
		must.Get(b.AddNode(graph.ID(fmt.Sprint(i))))(t)
	}
	for i, l := range lengths {
		must.Do(t, b.Connect(i, i+1, 1, l))
	}
	return must.Get(b.Graph())(t)
}

func codes(f advice.Facts) (list []string) {
	for _, w := range advice.Warnings(f) {
		list = append(list, w.Code)
	}
	return list
}

// Each warning comes where its reason is, and not one step before.
func TestWarnings(t *testing.T) {
	right := func(p, chance float64) *report.Accuracy {
		return &report.Accuracy{Probability: p, Lower: p, Upper: p, Chance: chance, Trials: 100}
	}
	limited := func(p, chance, gaussian, most float64) *report.Accuracy {
		a := right(p, chance)
		a.Limit = &report.Limit{Gaussian: gaussian, AnyMechanism: &most}
		return a
	}
	hops := pipes(t, 0, 1, 1, 1)
	for _, c := range []struct {
		name  string
		facts advice.Facts
		want  string // codes
		text  string
	}{
		{"nothing is known", advice.Facts{}, "", ""},
		{
			"the search for τ was cut short",
			advice.Facts{Communities: 2, CutShort: true, Accuracy: right(0.5, 0.5)},
			"accuracy",
			"the search for τ was cut short, so give --tau; or raise ε",
		},
		{
			"all is well",
			advice.Facts{Graph: hops, Alpha: 1, Delta: 0.25, Aggregation: "SUM", Communities: 2, Accuracy: right(0.9, 0.5)},
			"",
			"",
		},
		{
			"δ above 1/n",
			advice.Facts{Graph: hops, Alpha: 1, Delta: 0.26},
			"delta",
			"in 26 % of all releases would keep this promise too; choose δ well below 1/n, such as --delta 0.01",
		},
		{"α below one hop", advice.Facts{Graph: hops, Alpha: 0.9}, "alpha", "α = 0.9 while the shortest hop is 1: no source is hidden"},
		{
			"α below every pipe",
			advice.Facts{Graph: pipes(t, 0, 2, 3, 4), Alpha: 1, Metric: "length"},
			"alpha",
			`α = 1 while the shortest "length" is 2: no source is hidden even from its nearest neighbour; raise α, in the units of "length", such as --alpha 4`,
		},
		{"α equal to the shortest", advice.Facts{Graph: pipes(t, 0, 2, 2, 2), Alpha: 2, Metric: "length"}, "", ""},
		{
			"α below the pipes of one node in five",
			advice.Facts{Graph: pipes(t, 0, 1, 1, 1, 7.0001), Alpha: 1, Metric: "length"},
			"alpha",
			"1 of 5 nodes have no neighbour so near",
		},
		{
			"α below the pipes of one node in eleven",
			advice.Facts{Graph: pipes(t, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 7), Alpha: 1, Metric: "length"},
			"", "",
		},
		{"two parts", advice.Facts{Graph: pipes(t, 1, 1, 1), Alpha: 1}, "parts", "2 parts, the largest of 3 of 4 nodes: in which of " +
			"them the source lies is not hidden, and it hides among the nodes of its part alone: 2 parts with fewer than 10 nodes, 4 " +
			"nodes in all"},
		{
			"nothing follows from a few",
			advice.Facts{Accuracy: &report.Accuracy{Chance: 0.35, Upper: 0.8, Trials: report.LeastTrials - 1}},
			"", "",
		},
		{"one community", advice.Facts{Communities: 1, Accuracy: right(1, 1)}, "communities", "nothing to tell apart"},
		{"half of the way", advice.Facts{Accuracy: right(0.75, 0.5)}, "", ""},
		{"less", advice.Facts{Accuracy: right(0.74, 0.5)}, "accuracy", "right 74 % of the time"},
		{
			"where no target is searched for",
			advice.Facts{Accuracy: limited(0.4, 0.35, 0.45, 0.7)},
			"accuracy",
			"raise ε, or use fewer communities; another τ",
		},
		{
			"hardly better than chance",
			advice.Facts{Accuracy: right(0.08, 0.05)},
			"accuracy",
			"right 8 % of the time (95 % interval 8 to 8 %, from 100 simulated runs); chance is 5 %; raise ε",
		},
		{
			"what other noise of this guarantee allows",
			advice.Facts{Target: true, Accuracy: limited(0.4, 0.35, 0.45, 0.7)},
			"accuracy",
			"chance is 35 %; no mechanism with the guarantee of this noise is right more than 45 % of the time, and none that is (ε, " +
				"δ)-private more than 70 %; raise ε, or use fewer communities; `graphcloak plan --target-accuracy 0.9` finds the " +
				"ε; another τ,",
		},
		{
			"the same with α at two hops",
			advice.Facts{Graph: hops, Alpha: 2, Target: true, Accuracy: limited(0.4, 0.35, 0.45, 0.7)},
			"accuracy", "raise ε, use fewer communities, or lower α; `graphcloak plan --target-accuracy 0.9` finds the ε",
		},
		{
			"the same with α at one hop",
			advice.Facts{Graph: hops, Alpha: 1, Target: true, Accuracy: limited(0.4, 0.35, 0.45, 0.7)},
			"accuracy", "raise ε, or use fewer communities; `graphcloak plan",
		},
		{"at chance", advice.Facts{
			Accuracy: &report.Accuracy{Trials: 1000, Probability: .36, Lower: .33, Upper: .39, Chance: .35},
			Refused:  true,
		}, "accuracy", "it cannot be distinguished from that; a run is refused unless --spend-at-chance is given; raise ε"},
		{
			"nothing told, roughly",
			advice.Facts{Rough: &report.Accuracy{Probability: 0.05, Chance: 0.05}},
			"accuracy",
			"in a rough simulation the answer is right 5 % of the time; chance is 5 %; raise ε",
		},
		{"half of the way, roughly", advice.Facts{Rough: &report.Accuracy{Probability: 0.75, Chance: 0.5}}, "", ""},
		{
			"little told roughly, and then simulated",
			advice.Facts{Rough: &report.Accuracy{Probability: 0.05, Chance: 0.05}, Accuracy: right(0.9, 0.5)},
			"", "",
		},
		{"a half is rounded up everywhere", advice.Facts{Accuracy: right(0.665, 0.4)}, "accuracy", "right 67 % of the time"},
		{"room below the limit", advice.Facts{Accuracy: limited(0.4, 0.35, 0.9, 1)}, "accuracy", "more than 90 % of the time; raise ε"},
	} {
		list := advice.Warnings(c.facts)
		text := ""
		for _, w := range list {
			text += w.String() + "\n"
		}
		if got := strings.Join(codes(c.facts), " "); got != c.want || !strings.Contains(text, c.text) {
			t.Errorf("%s: %q, want %q with %q:\n%s", c.name, got, c.want, c.text, text)
		}
	}
}

// Parallel relationships are told of to who has not chosen what becomes of them.
func TestParallel(t *testing.T) {
	b := &graph.Builder{}
	for _, id := range []graph.ID{"a", "b", "c"} {
		must.Get(b.AddNode(id))(t)
	}
	for _, e := range [][2]graph.ID{{"a", "b"}, {"b", "a"}, {"b", "c"}} {
		must.Do(t, b.AddEdge(e[0], e[1], 1))
	}
	g := must.Get(b.Graph())(t)
	f := advice.Facts{Graph: g, Alpha: 1, Aggregation: "SUM"}
	if w := advice.Warnings(f); len(w) != 1 || !strings.Contains(w[0].Text, "1 of 3 relationships") {
		t.Errorf("%v", w)
	}
	f.Aggregation = ""
	if got := codes(f); len(got) != 0 {
		t.Errorf("%v though the user chose", got)
	}
}

// What comes from a database steers no terminal.
func TestHostileNames(t *testing.T) {
	w := advice.Warnings(advice.Facts{
		Graph: pipes(t, 0, 2), Alpha: 1, Metric: "\x1b[2Jlength\u202e",
	})
	for _, x := range w {
		if strings.ContainsAny(x.String(), "\x1b\a\u202e") {
			t.Errorf("%q", x)
		}
	}
	if len(w) != 1 {
		t.Errorf("%v", slices.Collect(slices.Values(w)))
	}
}

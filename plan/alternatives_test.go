// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
)

// valves are graphs that lack the only relationship of a leaf, that have a further one, and in which
// little flows through the hub 33.
func valves() []plan.Alternative {
	var hub []graph.Change
	for _, id := range []graph.ID{"8", "9", "13", "14", "15", "18", "19", "20", "22", "23", "26", "27", "28", "29", "30", "31", "32"} {
		hub = append(hub, graph.Change{Source: id, Target: "33", Weight: .1})
	}
	return []plan.Alternative{
		{Name: "leaf", Changes: []graph.Change{{Source: "0", Target: "11", Weight: 0}}},
		{Name: "shortcut", Changes: []graph.Change{{Source: "16", Target: "26", Weight: 1}}},
		{Name: "hub", Changes: hub},
	}
}

// The noise of a plan keeps the guarantee on each listed graph, that of the model alone does
// not; the plan file holds the graphs, and no other list can take their place.
func TestAlternatives(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	job := testkit.MeasuredJob(tau.Range{From: 1.8, To: 2.2})
	job.Alternatives = valves()
	m, p := testkit.Planned(t, s, job)
	const words = "the relationships of the graph, or of one of the 3 listed beside it and not of graphs between them, with any τ " +
		"from 1.8 to 2.2;"
	if p.Uncertainty.Alternatives != 3 || p.Allocated == nil || !strings.Contains(p.Sentence(), words) {
		t.Errorf("%d alternatives, allocated %v: %s", p.Uncertainty.Alternatives, p.Allocated != nil, p.Sentence())
	}
	_, plain := testkit.Planned(t, s, testkit.MeasuredJob(tau.Range{From: 1.8, To: 2.2}))
	equal := job
	equal.Plan.Allocation.Uniform = true
	_, uniform := testkit.Planned(t, s, equal)
	equal.Alternatives = nil
	_, plainUniform := testkit.Planned(t, s, equal)
	most := func(p *graphcloak.Plan, a plan.Alternative) (mu float64) {
		g := must.Get(m.Graph.Changed(a.Changes))(t)
		for _, tau := range []float64{1.8, 2, 2.2} {
			mu = max(mu, mostMu(t, m.Model, p, laplacian.New(g, laplacian.Combinatorial), tau))
		}
		return mu
	}
	broken := make(map[string]bool)
	for _, a := range valves() {
		if mu, even := most(p, a), most(uniform, a); mu > p.Mu || even > uniform.Mu {
			t.Errorf("%s: μ = %v, charged %v; under uniform noise %v, charged %v", a.Name, mu, p.Mu, even, uniform.Mu)
		}
		broken[a.Name] = most(plain, a) > 1.01*plain.Mu
		broken[a.Name+", uniform"] = most(plainUniform, a) > 1.01*plainUniform.Mu
	}
	if !broken["hub"] || !broken["leaf, uniform"] || broken["shortcut"] {
		t.Errorf("what breaks without the list: %v", broken)
	}
	text := must.Get(json.Marshal(p))(t)
	q := new(graphcloak.Plan)
	must.Do(t, json.Unmarshal(text, q))
	again := must.Get(graphcloak.Load(t.Context(), s, q.Model, graphcloak.LoadOptions{}))(t)
	if err := errors.Join(again.Matches(q.Plan), again.Certify(t.Context(), q.Plan)); err != nil {
		t.Errorf("read again: %v", err)
	}
	for name, change := range map[string]func(list []plan.Alternative) []plan.Alternative{
		"none":  func([]plan.Alternative) []plan.Alternative { return nil },
		"fewer": func(list []plan.Alternative) []plan.Alternative { return list[:2] },
		"two milder": func(list []plan.Alternative) []plan.Alternative {
			list[0] = list[1]
			list[0].Name = "x"
			return list
		},
	} {
		set := q.Model
		set.Alternatives = change(valves())
		other := must.Get(graphcloak.Load(t.Context(), s, set, graphcloak.LoadOptions{}))(t)
		if err := other.Matches(q.Plan); !errors.Is(err, plan.ErrPlan) {
			t.Errorf("%s: %v, want ErrPlan", name, err)
		}
	}
	u := p.Uncertainty
	forged := testkit.Forge(t, plain, func(s *privacy.Spec) { s.Uncertainty = u })
	if err := again.Certify(t.Context(), forged.Plan); !errors.Is(err, plan.ErrPlan) {
		t.Errorf("noise of the model alone passes for that of the list: %v", err)
	}
}

// The list counts beside a range of τ.
func TestListBesideARangeOfTau(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	for _, taus := range []tau.Range{{}, {From: 1.8, To: 2.2}} {
		job := testkit.MeasuredJob(taus)
		job.Plan.Allocation.Uniform = true
		_, plain := testkit.Planned(t, s, job)
		job.Alternatives = valves()
		m, p := testkit.Planned(t, s, job)
		leaf := must.Get(m.Graph.Changed(valves()[0].Changes))(t)
		least := cmp.Or(taus.From, 2)
		l := laplacian.New(leaf, laplacian.Combinatorial)
		if mu := mostMu(t, m.Model, p, l, least); mu > p.Mu || mostMu(t, m.Model, plain, l, least) <= plain.Mu {
			t.Errorf("%+v: on a listed graph μ = %v, charged %v; without the list %v", taus, mu, p.Mu, mostMu(t, m.Model, plain, l, least))
		}
	}
}

func TestAlternativesRefused(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	one := []graph.Change{{Source: "0", Target: "1", Weight: 2}}
	many := make([]plan.Alternative, 2001)
	for k := range many {
		many[k] = plan.Alternative{Name: fmt.Sprint(k), Changes: one}
	}
	for name, c := range map[string]struct {
		list []plan.Alternative
		want error
	}{
		"no name":      {[]plan.Alternative{{Changes: one}}, plan.ErrAlternative},
		"a long name":  {[]plan.Alternative{{Name: strings.Repeat("x", 201), Changes: one}}, plan.ErrAlternative},
		"a control":    {[]plan.Alternative{{Name: "x\x1b[2J", Changes: one}}, plan.ErrAlternative},
		"no text":      {[]plan.Alternative{{Name: "x\xff", Changes: one}}, plan.ErrAlternative},
		"twice":        {[]plan.Alternative{{Name: "x", Changes: one}, {Name: "x", Changes: one}}, plan.ErrAlternative},
		"no change":    {[]plan.Alternative{{Name: "x"}}, plan.ErrAlternative},
		"many":         {many, plan.ErrAlternative},
		"many changes": {[]plan.Alternative{{Name: "x", Changes: make([]graph.Change, 100_001)}}, plan.ErrAlternative},
		"a stranger": {
			[]plan.Alternative{{Name: "x", Changes: []graph.Change{{Source: "1", Target: "99", Weight: 1}}}},
			graph.ErrUnknownNode,
		},
		"never there": {
			[]plan.Alternative{{Name: "x", Changes: []graph.Change{{Source: "0", Target: "33", Weight: 0}}}},
			graph.ErrChange,
		},
		"infinite": {
			[]plan.Alternative{{Name: "x", Changes: []graph.Change{{Source: "0", Target: "1", Weight: math.Inf(1)}}}},
			graph.ErrBadWeight,
		},
		"out of double": {
			[]plan.Alternative{{
				Name:    "x",
				Changes: []graph.Change{{Source: "0", Target: "1", Weight: 1e308}, {Source: "0", Target: "2", Weight: 1e308}},
			}},
			plan.ErrAlternative,
		},
		"as it is": {
			[]plan.Alternative{{Name: "x", Changes: []graph.Change{{Source: "0", Target: "1", Weight: 1}}}},
			plan.ErrAlternative,
		},
	} {
		job := testkit.MeasuredJob(tau.Range{})
		job.Alternatives = c.list
		if _, err := graphcloak.Load(t.Context(), s, job.Settings, graphcloak.LoadOptions{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	// GraphCloak computes where it diffuses, on the graph that it has.
	job := testkit.PaperJob()
	job.Alternatives = valves()
	m := must.Get(graphcloak.Load(t.Context(), s, job.Settings, graphcloak.LoadOptions{}))(t)
	if _, err := m.Plan(t.Context(), job.Plan); !errors.Is(err, plan.ErrComputed) {
		t.Errorf("computed: %v", err)
	}
	var set graphcloak.Settings
	text := must.Get(json.Marshal(graphcloak.Settings{Alternatives: []plan.Alternative{{Name: "a\nb", Changes: one}}}))(t)
	if err := json.Unmarshal(text, &set); !errors.Is(err, strictjson.ErrInvalid) {
		t.Errorf("a name with a line in a file: %v", err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testgraph"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
)

// A trial finds a source, and names a community, where the report of a release of the same values does:
// without a source and with weak ones, also where sensors may be broken and one of them is, and where τ
// may be several.
func TestDetectedAsInTheReport(t *testing.T) {
	rate := .05
	for name, x := range map[string]struct {
		taus     tau.Range
		opts     analyst.Options
		strength float64
	}{
		"sound":   {strength: .5},
		"often":   {opts: analyst.Options{FalseAlarm: .3}, strength: .3},
		"faulty":  {opts: analyst.Options{FaultRate: &rate}, strength: .5},
		"several": {taus: tau.Range{From: 1, To: 4}, strength: 1},
	} {
		t.Run(name, func(t *testing.T) { agree(t, x.taus, x.opts, x.strength) })
	}
}

// agree compares trials with reports.
func agree(t *testing.T, taus tau.Range, opts analyst.Options, strength float64) {
	s, _ := testkit.Example(t, "karate")
	none := 0.
	if opts.FaultRate == nil {
		opts.FaultRate = &none
	}
	if taus.IsSearched() {
		taus = tau.At(2)
	}
	m, p := testkit.Planned(t, s, run.Job{
		Settings: plan.Settings{Tau: taus, Public: plan.Public{Communities: community.Options{Property: "club"}}},
		Plan: plan.Options{
			Budget: privacy.Budget{Epsilon: 4, Delta: .1}, Alpha: 1, Allocation: plan.Allocation{Uniform: true},
			Measured: true,
		},
	})
	r := under(t, m.Model, p, Options{Recover: opts})
	sigma := p.Sensors[0].Sigma()
	in := analyst.Measurements{Nodes: r.nodes, Clip: &r.plan.Clip}
	for range r.nodes {
		in.Sigmas = append(in.Sigmas, sigma)
	}
	opts.Tau = taus
	kernel := testgraph.Heat(m.Graph, 2)
	random := rand.New(rand.NewPCG(3, 0))
	seen := map[[2]bool]int{}
	for k := range 8 {
		in.Values = make([]float64, len(r.nodes))
		x := make([]float64, m.Graph.Order())
		for j, i := range r.nodes {
			in.Values[j] = strength*float64(k%4)*kernel.At(i, 5+k) + sigma*random.NormFloat64()
			if j == 7 && *opts.FaultRate > 0 && k%2 == 0 {
				in.Values[j] = 1
			}
			x[i] = in.Values[j] / sigma / sigma
		}
		c := must.Get(r.products(t.Context(), x, 1))(t)
		got := must.Get(r.score(t.Context(), []int{5 + k}, c[0], in.Values))(t)
		rep := must.Get(m.RecoverFrom(t.Context(), in, opts))(t)
		if got.Detected != rep.Presence.Detected || got.Answered != rep.StandsOut() {
			t.Errorf("trial %d: found %v, named %v; the report says %+v, %v", k, got.Detected, got.Answered, rep.Presence, rep.StandsOut())
		}
		seen[[2]bool{got.Detected, got.Answered}]++
	}
	if len(seen) < 2 || seen[[2]bool{}] == 0 {
		t.Errorf("found and named: %v, want none and others", seen)
	}
}

// In each scenario of broken sensors as many break, the same ones, at both of their times, and each reads what its name says.
func TestBrokenSensors(t *testing.T) {
	clip := privacy.Interval{Lo: -1, Hi: 3}
	sound, nodes := make([]float64, 300), make([]int, 300)
	random := rand.New(rand.NewPCG(1, 2))
	for k := range sound {
		sound[k], nodes[k] = .1+2*random.Float64(), k/2*3
	}
	broken := map[string][]int{}
	for name, as := range map[string]func(y, sound float64) bool{
		"faulty-sensors":   func(y, _ float64) bool { return y == 3 },
		"silent-sensors":   func(y, _ float64) bool { return y == 0 },
		"drifting-sensors": func(y, sound float64) bool { return y >= sound-1.2 && y <= min(3, sound+1.2) },
	} {
		s := Scenarios()[slices.IndexFunc(Scenarios(), func(s Scenario) bool { return s.Name == name })]
		readings := slices.Clone(sound)
		s.disturb(readings, nodes, clip, 7, 4)
		for k, y := range readings {
			if y == sound[k] {
				continue
			}
			broken[name] = append(broken[name], k)
			if !as(y, sound[k]) {
				t.Errorf("%s: a sensor that would read %v reads %v", name, sound[k], y)
			}
		}
	}
	of := broken["faulty-sensors"]
	if len(of) != 6 || of[0]/2 != of[1]/2 || of[2]/2 != of[3]/2 || of[4]/2 != of[5]/2 ||
		!slices.Equal(of, broken["silent-sensors"]) ||
		!slices.Equal(of, broken["drifting-sensors"]) {
		t.Errorf("of 150 sensors that read twice %v are broken, want both of the same three", broken)
	}
}

// SPDX-License-Identifier: Apache-2.0

package run_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/report"
)

// withNoise adds noise of the σ that is said.
func withNoise(in analyst.Measurements, seed uint64) analyst.Measurements {
	rnd := rand.New(rand.NewPCG(seed, 0))
	values := make([]float64, len(in.Values))
	for k, v := range in.Values {
		values[k] = v + in.Sigmas[k]*rnd.NormFloat64()
	}
	in.Values = values
	return in
}

// TestFalseAlarmsAreNotSure: where measurements without a source pass for one, the probability of the community that is
// named counts in that there may be none.
func TestFalseAlarmsAreNotSure(t *testing.T) {
	alarms, sure := 0, 0
	for seed := range uint64(60) {
		m, in := grid(t, nil, .1)
		rep := must.Get(m.RecoverFrom(t.Context(), withNoise(in, seed), analyst.Options{FalseAlarm: .2}))(t)
		if !rep.Detected() {
			continue
		}
		sum := 0.0
		for _, c := range rep.Communities {
			sum += c.Probability
		}
		if p := rep.Presence.Probability; math.Abs(p-1/(1+math.Exp(-rep.Posterior.LogPresence))) > 1e-9 || math.Abs(sum-p) > 1e-9 ||
			math.Abs(floats.Sum(rep.Nodes().Probability)-p) > 1e-9 {
			t.Errorf("a source has probability %v, communities %v in all, evidence %v", p, sum, rep.Posterior.LogPresence)
		}
		if alarms++; rep.Communities[0].Probability > .9 {
			sure++
		}
	}
	if alarms < 6 || 20*sure > alarms {
		t.Errorf("%d of %d false alarms have a probability above .9", sure, alarms)
	}
}

// TestNoSourceNoCommunity: without a source none is named, in the answer or in what is
// written of a run; at a rate of 1 a source is supposed.
func TestNoSourceNoCommunity(t *testing.T) {
	m, in := grid(t, nil, .1)
	in = withNoise(in, 1)
	rep := must.Get(m.RecoverFrom(t.Context(), in, analyst.Options{Sources: analyst.OneOrTwo}))(t)
	p := rep.Presence
	if p.Detected || p.PValue <= .05 || p.FalseAlarm != .05 || p.Threshold == nil || rep.Posterior.LogPresence > *p.Threshold ||
		rep.StandsOut() {
		t.Errorf("%+v, log odds %v", *p, rep.Posterior.LogPresence)
	}
	if !strings.HasPrefix(rep.Answer, "No sign of a source") || strings.Contains(rep.Answer, "ommunity") ||
		strings.Contains(rep.Answer, "probability") {
		t.Error(rep.Answer)
	}
	columns, row := rep.Stats()
	for k, c := range columns {
		if c == "community" || c == "sourceDetected" && row[k] != false {
			t.Errorf("column %s: %v", c, row[k])
		}
	}
	if rep, err := m.RecoverFrom(t.Context(), in, analyst.Options{FalseAlarm: 1}); err != nil || !rep.Presence.Detected ||
		strings.Contains(rep.Answer, "No sign") {
		t.Errorf("a source is supposed: %v, %v", rep.Answer, err)
	}
	for _, rate := range []float64{-.1, 1.1, math.NaN()} {
		if _, err := m.RecoverFrom(t.Context(), in, analyst.Options{FalseAlarm: rate}); !errors.Is(err, recovery.ErrInvalid) {
			t.Errorf("a rate of %v: %v, want a refusal", rate, err)
		}
	}
}

// TestPresenceOverTau: where τ may be anything in a range, the odds over all of it are held
// against their threshold, in measurements where those at the likeliest τ alone would find a
// source that is not there; and a second source is not weighed.
func TestPresenceOverTau(t *testing.T) {
	m, in := grid(t, nil, .1)
	opts := analyst.Options{Sources: analyst.OneOrTwo, Tau: tau.Range{From: .05, To: 20}}
	for _, seed := range []uint64{100, 115, 144, 237} {
		rep := must.Get(m.RecoverFrom(t.Context(), withNoise(in, seed), opts))(t)
		if p := rep.Presence; p.Detected || rep.Posterior.LogPresence > *p.Threshold || p.Trials != 999 || rep.Sources != nil {
			t.Errorf("%+v, log odds %v, sources %v", *p, rep.Posterior.LogPresence, rep.Sources)
		}
	}
	m, in = grid(t, []int{7}, .03)
	rep, err := m.RecoverFrom(t.Context(), withNoise(in, 2), analyst.Options{Tau: tau.Range{From: .05, To: 20}})
	if err != nil || !rep.Presence.Detected || rep.Posterior.LogPresence <= *rep.Presence.Threshold {
		t.Errorf("a clear source: %+v, log odds %v, %v", rep.Presence, rep.Posterior.LogPresence, err)
	}
}

// TestMisfitIsSaid: measurements that one source does not explain are said not to fit, and
// what explains them better is named.
func TestMisfitIsSaid(t *testing.T) {
	for want, spoil := range map[string]func(v []float64){
		report.SecondSource: func(v []float64) { v[30] = 1 },
		report.UniformBackground: func(v []float64) {
			for k := range v {
				v[k] += .2
			}
		},
		"": func(v []float64) { // louder noise: the residual alone
			rnd := rand.New(rand.NewPCG(9, 9))
			for k := range v {
				v[k] += .06 * rnd.NormFloat64()
			}
		},
	} {
		m, in := grid(t, []int{7}, .03)
		in = withNoise(in, 3)
		spoil(in.Values)
		rep := must.Get(m.RecoverFrom(t.Context(), in, analyst.Options{}))(t)
		f := rep.Fit
		if f.PValue >= report.NoFit || len(f.Alternatives) != 2 || want != "" && f.Alternatives[0].Name != want ||
			!strings.Contains(rep.Answer, "do not fit the model") || !strings.Contains(rep.Answer, want) {
			t.Errorf("%s: %+v: %s", want, *f, rep.Answer)
		}
	}
}

// TestBackgroundIsNoSecondSource: what a second source explains better than one, and a background better still, is said not
// to fit instead of being called two sources, whether sensors may be broken or not.
func TestBackgroundIsNoSecondSource(t *testing.T) {
	m, in := grid(t, []int{7}, .03)
	in = withNoise(in, 3)
	for k := range in.Values {
		in.Values[k] += .05
	}
	for _, faults := range []float64{0, .01} {
		rep := must.Get(m.RecoverFrom(t.Context(), in, analyst.Options{Sources: analyst.OneOrTwo, FaultRate: rate(faults)}))(t)
		s, f := rep.Sources, rep.Fit
		if s.Count != 1 || s.LogSecond == nil || *s.LogSecond < 3 || f.PValue >= report.NoFit ||
			f.Alternatives[0].Name != report.UniformBackground ||
			!strings.Contains(strings.Join(rep.Notes, "\n"), "a uniform background better still") {
			t.Errorf("faults at %v: %+v, %+v, %q", faults, *s, *f, rep.Notes)
		}
	}
}

// TestDegenerateReadings: readings that are all 0 or all equal, and one sensor alone, give
// a sentence and finite numbers.
func TestDegenerateReadings(t *testing.T) {
	m, in := grid(t, nil, .05)
	level := func(v float64) analyst.Measurements {
		out := in
		out.Values = make([]float64, len(in.Values))
		for k := range out.Values {
			out.Values[k] = v
		}
		return out
	}
	one := func(v float64) analyst.Measurements {
		return analyst.Measurements{Nodes: in.Nodes[:1], Values: []float64{v}, Sigmas: []float64{.05}}
	}
	for _, tt := range []struct {
		name string
		in   analyst.Measurements
		want string
	}{
		{"all zero", level(0), "No sign of a source"},
		{"all .5", level(.5), "do not fit the model"},
		{"all far below 0", level(-100), "do not fit the model"},
		{"all huge", level(1e100), "do not fit the model"},
		{"one sensor at 0", one(0), "No sign of a source"},
		{"one sensor at .4", one(.4), "source"},
		{"one sensor at 50", one(50), "do not fit the model"},
	} {
		rep, err := m.RecoverFrom(t.Context(), tt.in, analyst.Options{Sources: analyst.OneOrTwo})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if p := rep.Fit.PValue; !strings.Contains(rep.Answer, tt.want) || !(p >= 0 && p <= 1) ||
			!(rep.Presence.PValue > 0 && rep.Presence.PValue <= 1) {
			t.Errorf("%s: %+v: %s", tt.name, *rep.Fit, rep.Answer)
		}
		for _, a := range rep.Fit.Alternatives {
			if math.IsNaN(a.LogEvidence) || math.IsInf(a.LogEvidence, 0) {
				t.Errorf("%s: %+v", tt.name, a)
			}
		}
	}
}

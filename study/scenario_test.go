// SPDX-License-Identifier: Apache-2.0

package study_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/recovery/posterior"
	"github.com/graphcloak/graphcloak/run"
	"github.com/graphcloak/graphcloak/study"
	"github.com/graphcloak/graphcloak/study/simulate"
)

// Every scenario changes what is measured, and none what plan and posterior know. A lying
// sensor and no source at all are what the posterior cannot know of.
func TestScenarios(t *testing.T) {
	m, p := testkit.Planned(t, open(t, "karate"), karate())
	outcome := map[string]*study.Evaluation{}
	for _, s := range simulate.Scenarios() {
		e, err := study.Evaluate(t.Context(), m.Model, p, options(200, simulate.Options{Amplitude: 1, Seed: 5, Scenario: s}))
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		if e.Scenario != s.Name || math.IsNaN(e.MeanEMD) {
			t.Errorf("%s: %+v", s.Name, e)
		}
		outcome[s.Name] = e
	}
	plain := must.Get(study.Evaluate(t.Context(), m.Model, p, options(200, simulate.Options{Amplitude: 1, Seed: 5})))(t)
	model := outcome["model"]
	if plain.MeanEMD != model.MeanEMD || plain.Calibration.MeanConfidence != model.Calibration.MeanConfidence {
		t.Error("the model is no scenario like none")
	}
	for name, e := range outcome {
		if name != "model" && e.Calibration.MeanConfidence == model.Calibration.MeanConfidence {
			t.Errorf("%s: nothing changed", name)
		}
	}
	if e := outcome["no-source"]; e.Right.Rate != 0 || e.Coverage.Rate != 0 || e.MeanEMD != 0 || e.Answered.Rate >= model.Answered.Rate {
		t.Errorf("no source: right %v, covered %v, named %v of %v with one", e.Right.Rate, e.Coverage.Rate, e.Answered.Rate,
			model.Answered.Rate)
	}
	// Of 200 false alarms of probability .05 between 1 and 23 are raised with a probability above .999.
	if e := outcome["no-source"]; e.Detected.Rate < .005 || e.Detected.Rate > .115 || e.Answered.Rate > e.Detected.Rate ||
		model.Detected.Rate < .7 {
		t.Errorf("a source is found in %v where there is none, named in %v; with one in %v", e.Detected.Rate, e.Answered.Rate,
			model.Detected.Rate)
	}
	if e := outcome["faulty-sensors"]; e.Calibration.Error < model.Calibration.Error || e.Coverage.Rate > model.Coverage.Rate {
		t.Errorf("faulty sensors: error %v, coverage %v; sound ones %v, %v", e.Calibration.Error, e.Coverage.Rate, model.Calibration.Error,
			model.Coverage.Rate)
	}
	// A few hot readings are mistaken for a source, a few cold ones only hide it.
	for _, name := range []string{"silent-sensors", "drifting-sensors"} {
		if e := outcome[name]; e.Calibration.Error >= outcome["faulty-sensors"].Calibration.Error ||
			e.Right.Rate <= outcome["faulty-sensors"].Right.Rate {
			t.Errorf("%s: error %v, right %v; stuck ones %v, %v", name, e.Calibration.Error, e.Right.Rate,
				outcome["faulty-sensors"].Calibration.Error, outcome["faulty-sensors"].Right.Rate)
		}
	}
	if e := outcome["tau-double"]; e.Right.Rate >= outcome["tau-half"].Right.Rate {
		t.Errorf("right %v where heat has spread further than supposed, %v where less", e.Right.Rate, outcome["tau-half"].Right.Rate)
	}
}

// What is said by community adds up to what is said of all.
func TestByCommunity(t *testing.T) {
	job := karate()
	job.Settings.Communities, job.Settings.Tau = community.Options{}, tau.At(4)
	m, p := testkit.Planned(t, open(t, "net3"), job)
	e := must.Get(study.Evaluate(t.Context(), m.Model, p, options(120, simulate.Options{Amplitude: 1, Seed: 2})))(t)
	var right, trials, named, rightNamed, covered, size, confidence float64
	for c, x := range e.Communities {
		if x.CommunityID != c || x.Name == "" || x.Size < 1 {
			t.Errorf("community %d: %+v", c, x)
		}
		n := float64(x.Trials)
		trials += n
		right += x.Probability * n
		named += float64(x.Named)
		if x.Coverage != nil {
			covered += x.Coverage.Rate * n
			size += *x.CredibleSetSize * n
		}
		if x.RightNamed != nil {
			rightNamed += x.RightNamed.Rate * float64(x.Named)
			confidence += *x.MeanConfidence * float64(x.Named)
		}
	}
	for what, pair := range map[string][2]float64{
		"trials": {trials, 120}, "named": {named, 120}, "right": {right, 120 * e.Right.Rate},
		"right where named": {rightNamed, 120 * e.Right.Rate},
		"covered":           {covered, 120 * e.Coverage.Rate}, "set size": {size, 120 * e.CredibleSetSize},
		"confidence": {confidence, 120 * e.Calibration.MeanConfidence},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-6 {
			t.Errorf("%s: %v by community, %v in all", what, pair[0], pair[1])
		}
	}
}

// A graph that differs in nothing is no scenario, as it is none of a plan.
func TestScenarioThatChangesNothing(t *testing.T) {
	m, p := testkit.Planned(t, open(t, "karate"), karate())
	same := plan.Alternative{Name: "nothing", Changes: []graph.Change{{Source: "0", Target: "1", Weight: 1}}}
	_, err := study.Evaluate(t.Context(), m.Model, p,
		options(20, simulate.Options{Scenario: simulate.OnAlternative(same)}))
	if !errors.Is(err, recovery.ErrInvalid) {
		t.Errorf("%v, want %v", err, recovery.ErrInvalid)
	}
}

// Where the process ran on a graph that is listed, the posterior that sums over the list covers the source
// as often as it says, and the one of the stored graph alone does not.
func TestCoverageOverGraphs(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	set := plan.Settings{Tau: tau.At(4)}
	m := must.Get(run.Load(t.Context(), s, set, plan.LoadOptions{}))(t)
	wide := plan.Alternative{Name: "wide"}
	for e := range m.Graph.Edges() {
		if (e.U+e.V)%2 == 0 {
			wide.Changes = append(wide.Changes, graph.Change{Source: m.Graph.ID(e.U), Target: m.Graph.ID(e.V), Weight: 10 * e.Weight})
		}
	}
	set.Alternatives = []plan.Alternative{wide}
	m = must.Get(run.Load(t.Context(), s, set, plan.LoadOptions{}))(t)
	p := must.Get(m.Plan(t.Context(), plan.Options{
		Budget: privacy.Budget{Epsilon: 40, Delta: .01}, Alpha: 1, Measured: true,
		Allocation: plan.Allocation{Uniform: true},
	}))(t)
	for _, alone := range []bool{false, true} {
		o := study.Options{Trials: 300, Options: simulate.Options{Seed: 3, Scenario: simulate.OnAlternative(wide)}}
		o.Recover = analyst.Options{Amplitude: posterior.UniformAmplitude, FaultRate: new(float64), StoredGraph: alone}
		e := must.Get(study.Evaluate(t.Context(), m.Model, p, o))(t)
		what := "the posterior sums over the stored graph and the 1 listed, each as likely"
		if alone {
			what = "the posterior supposes the stored graph, and none of the 1 listed, each as likely"
		}
		if (e.Coverage.Rate > .9) == alone || !slices.Contains(e.Notes, what) {
			t.Errorf("alone %v: coverage %v, notes %q", alone, e.Coverage.Rate, e.Notes)
		}
	}
}

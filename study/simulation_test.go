// SPDX-License-Identifier: Apache-2.0

package study

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery/posterior"
	"github.com/graphcloak/graphcloak/run"
)

// unknownTau is a plan for measured readings, with little noise, so that τ matters.
func unknownTau(t *testing.T, m *plan.Model) *plan.Plan {
	t.Helper()
	o := plainNoise()
	o.Epsilon, o.Measured, o.Uncertainty = 40, true, privacy.Uncertainty{TauFrom: .5, TauTo: 12}
	p, err := m.Plan(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Where τ is drawn from the range that the plan declares, the posterior that sums over it is
// calibrated, and the one of a single τ is not.
func TestCalibratedOverTau(t *testing.T) {
	m := loadExample(t, "net3", 2)
	p := unknownTau(t, m)
	sound := 0.0
	s, err := newEvaluator(t.Context(), m,
		Options{Trials: 600, Seed: 3, Amplitude: 1, Recover: analyst.Options{Amplitude: posterior.UnitAmplitude, FaultRate: &sound}})
	if err != nil {
		t.Fatal(err)
	}
	for _, sums := range []bool{true, false} {
		r, err := s.newSimulation(t.Context(), p.Plan)
		if err != nil {
			t.Fatal(err)
		}
		if !sums {
			r.moments = []moment{{m.Operator.Diffusion, r.whitened, r.norms}}
		}
		trials, err := r.run(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		if c := calibrate(trials, 0); (c.Error > c.Limit) == sums {
			t.Errorf("summed over τ: %v: error %v, chance gives at most %v", sums, c.Error, c.Limit)
		}
	}
}

// The posterior of a trial is what a sum makes of it that knows nothing of this program: over
// the same τ to rounding, over many more of them nearly.
func TestSumOverTau(t *testing.T) {
	m := loadExample(t, "karate", 2)
	p := unknownTau(t, m)
	sound := 0.0
	s, err := newEvaluator(t.Context(), m, Options{Trials: 1, Seed: 1, Recover: analyst.Options{FaultRate: &sound}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.newSimulation(t.Context(), p.Plan)
	if err != nil {
		t.Fatal(err)
	}
	n, source := m.Graph.Order(), 16
	values, x := make([]float64, n), make([]float64, n)
	truth := testkit.HeatKernel(m.Graph, 1.1)
	for i := range values {
		values[i] = truth.At(i, source) + p.Sigma()*math.Sin(float64(7*i+1)) // noise of a kind
		x[i] = r.u[i] * values[i]
	}
	c, err := r.products(t.Context(), x, 1)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.posterior(t.Context(), c[0], values, posterior.UnitAmplitude)
	if err != nil {
		t.Fatal(err)
	}
	byHand := func(points int) []float64 {
		sum := make([]float64, n)
		for k := range points {
			heat := testkit.HeatKernel(m.Graph, .5*math.Pow(24, (float64(k)+.5)/float64(points)))
			for i := range sum {
				log := 0.0
				for s, y := range values {
					z := (y - heat.At(s, i)) / p.Sigma()
					log -= z * z / 2
				}
				sum[i] += math.Exp(log)
			}
		}
		floats.Scale(1/floats.Sum(sum), sum)
		return sum
	}
	if d := floats.Distance(got.Probability, byHand(9), math.Inf(1)); d > 1e-8 {
		t.Errorf("probabilities are off by up to %v from a sum over the same 9 τ", d)
	}
	if d := floats.Distance(got.Probability, byHand(200), math.Inf(1)); d > .05 {
		t.Errorf("probabilities are off by up to %v from a sum over 200 τ", d)
	}
	one, err := r.posteriorAt(t.Context(), &moment{m.Operator.Diffusion, r.whitened, r.norms}, transposed(c[0][4]), values,
		posterior.UnitAmplitude)
	if err != nil {
		t.Fatal(err)
	}
	if d := floats.Distance(got.Probability, one.Probability, math.Inf(1)); d < .01 {
		t.Errorf("one τ gives the same within %v: nothing was tested", d)
	}
}

// Where the process ran on a graph that is listed, the posterior that sums over the list covers the source
// as often as it says, and the one of the stored graph alone does not.
func TestCoverageOverGraphs(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	set := plan.Settings{Tau: 4}
	m, err := run.Load(t.Context(), s, set, plan.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	wide := plan.Alternative{Name: "wide"}
	for e := range m.Graph.Edges() {
		if (e.U+e.V)%2 == 0 {
			wide.Changes = append(wide.Changes, graph.Change{Source: m.Graph.ID(e.U), Target: m.Graph.ID(e.V), Weight: 10 * e.Weight})
		}
	}
	set.Alternatives = []plan.Alternative{wide}
	if m, err = run.Load(t.Context(), s, set, plan.LoadOptions{}); err != nil {
		t.Fatal(err)
	}
	p, err := m.Plan(t.Context(), plan.Options{
		Budget: privacy.Budget{Epsilon: 40, Delta: .01}, Alpha: 1, Measured: true,
		Allocation: plan.Allocation{Uniform: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, alone := range []bool{false, true} {
		o := Options{Trials: 300, Seed: 3, Scenario: "wide", Alternatives: set.Alternatives}
		o.Recover = analyst.Options{Amplitude: posterior.UniformAmplitude, FaultRate: new(float64), StoredGraph: alone}
		e, err := Evaluate(t.Context(), m.Model, p, o)
		if err != nil {
			t.Fatal(err)
		}
		what := "the posterior sums over the stored graph and the 1 listed, each as likely"
		if alone {
			what = "the posterior supposes the stored graph, and none of the 1 listed, each as likely"
		}
		if (e.Coverage.Rate > .9) == alone || !slices.Contains(e.Notes, what) {
			t.Errorf("alone %v: coverage %v, notes %q", alone, e.Coverage.Rate, e.Notes)
		}
	}
}

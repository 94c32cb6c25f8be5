// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testgraph"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery/posterior"
	"github.com/graphcloak/graphcloak/run"
)

// anyTau is a range over which a process differs.
var anyTau = tau.Range{From: .5, To: 12}

// unknownTau is a plan for measured readings, with little noise, so that τ matters.
func unknownTau(t *testing.T, m *plan.Model) *plan.Plan {
	t.Helper()
	o := plainNoise()
	o.Epsilon, o.Measured = 40, true
	return must.Get(m.Plan(t.Context(), o))(t)
}

// Where τ is drawn from the range that the plan declares, the posterior that sums over it is right as often as it says,
// within four standard errors, and the one of a single τ is not.
func TestCalibratedOverTau(t *testing.T) {
	m := loadExample(t, "net3", anyTau)
	p, sound := unknownTau(t, m), 0.0
	for _, sums := range []bool{true, false} {
		r := under(t, m, p, Options{
			Seed: 3, Amplitude: 1, Common: true, Recover: analyst.Options{Amplitude: posterior.UnitAmplitude, FaultRate: &sound},
		})
		if !sums {
			r.processes = r.processes[4:5]
		}
		must.Do(t, r.Run(t.Context(), "", 600))
		excess, variance := 0.0, 0.0
		for _, x := range r.Trials {
			if excess -= x.Confidence; x.Right {
				excess++
			}
			variance += x.Confidence * (1 - x.Confidence)
		}
		if z := math.Abs(excess) / math.Sqrt(variance); (z < 4) != sums {
			t.Errorf("summed over τ: %v: right %v standard errors more often than the confidence says", sums, z)
		}
	}
}

// The posterior of a trial is what a sum makes of it that knows nothing of this program: over
// the same τ to rounding, over many more of them nearly.
func TestSumOverTau(t *testing.T) {
	m := loadExample(t, "karate", anyTau)
	p := unknownTau(t, m)
	r := under(t, m, p, Options{Seed: 1, Common: true})
	n, source := m.Graph.Order(), 16
	values, x := make([]float64, n), make([]float64, n)
	truth := testgraph.Heat(m.Graph, 1.1)
	for i := range values {
		values[i] = truth.At(i, source) + p.Sigma()*math.Sin(float64(7*i+1)) // noise of a kind
		x[i] = r.u[i] * values[i]
	}
	c := must.Get(r.products(t.Context(), x, 1))(t)
	got := must.Get(r.posterior(t.Context(), c[0], values, posterior.UnitAmplitude))(t)
	byHand := func(points int) []float64 {
		sum := make([]float64, n)
		for k := range points {
			heat := testgraph.Heat(m.Graph, .5*math.Pow(24, (float64(k)+.5)/float64(points)))
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
	r.processes = r.processes[4:5]
	one := must.Get(r.posterior(t.Context(), c[0][4:5], values, posterior.UnitAmplitude))(t)
	if d := floats.Distance(got.Probability, one.Probability, math.Inf(1)); d < .01 {
		t.Errorf("one τ gives the same within %v: nothing was tested", d)
	}
}

// loadExample loads a shipped graph.
func loadExample(t *testing.T, name string, taus tau.Range) *plan.Model {
	t.Helper()
	store, _ := testkit.Example(t, name)
	m := must.Get(run.Load(t.Context(), store, plan.Settings{Tau: taus}, plan.LoadOptions{}))(t)
	return m.Model
}

// plainNoise is uniform noise at ε = 4, δ = 0.1.
func plainNoise() plan.Options {
	return plan.Options{Budget: privacy.Budget{Epsilon: 4, Delta: .1}, Alpha: 1, Allocation: plan.Allocation{Uniform: true}}
}

// under prepares the simulation of a plan.
func under(t *testing.T, m *plan.Model, p *plan.Plan, o Options) *Releases {
	t.Helper()
	s := must.Get(New(t.Context(), m, o))(t)
	return must.Get(s.Under(t.Context(), p.Plan))(t)
}

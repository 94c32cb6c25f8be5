// SPDX-License-Identifier: Apache-2.0

package study_test

import (
	"errors"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
	"github.com/graphcloak/graphcloak/study"
)

// TestPlanFor: the plan reaches its target, a little less ε misses it under the
// same random numbers, and its noise is that of a plan made for its ε directly.
func TestPlanFor(t *testing.T) {
	s := open(t, "karate")
	job := karate()
	m := must.Get(run.Load(t.Context(), s, job.Settings, plan.LoadOptions{}))(t)
	job.Plan.Allocation.Uniform = true
	const trials = 100
	for _, target := range []float64{.6, .8} {
		p := must.Get(study.PlanFor(t.Context(), m.Model, job.Plan, analyst.Options{}, target, study.Sample{Trials: trials}))(t)
		var right [2]float64 // with less, and with its own ε
		for k, eps := range []float64{p.Epsilon / 1.03, p.Epsilon} {
			q, err := m.WithBudget(p, privacy.Budget{Epsilon: eps, Delta: p.Delta})
			if err == nil {
				err = study.Expect(t.Context(), m.Model, q, analyst.Options{}, study.Sample{Trials: trials})
			}
			must.Do(t, err)
			right[k] = q.Accuracy.Probability
		}
		if right[0] >= target || right[1] < target || right[1] != p.Accuracy.Probability {
			t.Errorf("%+v at ε = %v: %v, and with less %v", target, p.Epsilon, right[1], right[0])
		}
		options := job.Plan
		options.Budget = privacy.Budget{Epsilon: p.Epsilon, Delta: p.Delta}
		direct := must.Get(m.Plan(t.Context(), options))(t)
		if direct.Sigma() != p.Sigma() {
			t.Errorf("σ = %v, a plan for ε = %v has %v", p.Sigma(), p.Epsilon, direct.Sigma())
		}
	}
	for _, impossible := range []float64{.1, 2} {
		if _, err := study.PlanFor(t.Context(), m.Model, job.Plan, analyst.Options{}, impossible, study.Sample{Trials: 50}); !errors.Is(err,
			study.ErrTarget) {
			t.Errorf("%+v: %v, want ErrTarget", impossible, err)
		}
	}
}

// TestPlanForChoosesTau: where τ is open it is chosen for the ε that is found, and what is
// simulated is that τ.
func TestPlanForChoosesTau(t *testing.T) {
	job := karate()
	job.Settings.Tau = tau.Range{}
	for _, uniform := range []bool{true, false} {
		m := must.Get(run.Load(t.Context(), open(t, "karate"), job.Settings, plan.LoadOptions{}))(t)
		opts := job.Plan
		opts.Allocation.Uniform = uniform
		p, err := study.PlanFor(t.Context(), m.Model, opts, analyst.Options{}, .8, study.Sample{Trials: 100})
		if err != nil {
			t.Fatalf("uniform %v: %v", uniform, err)
		}
		if p.TauChoice == nil || p.Public.Tau != m.Tau.Value() {
			t.Fatalf("uniform %v: τ = %v and %v, choice %v", uniform, p.Public.Tau, m.Tau, p.TauChoice)
		}
		again, err := study.Outlook(t.Context(), m.Model, p, analyst.Options{}, study.Sample{Trials: 100}, time.Hour)
		if err != nil || again.Probability < 0.8 || again.Probability != p.Accuracy.Probability {
			t.Errorf("uniform %v: %+v, simulated again %+v, %v", uniform, p.Accuracy, again, err)
		}
	}
}

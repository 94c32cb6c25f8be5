// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

// mostMu is μ of a plan's noise for the worst neighbours of the public graph under another operator.
func mostMu(t *testing.T, m *plan.Model, p *graphcloak.Plan, l *laplacian.Laplacian, tau float64) (mu float64) {
	t.Helper()
	d := must.Get(expm.New(t.Context(), l, tau, expm.Options{Method: expm.Eigen}))(t)
	b, y := make([]float64, m.Graph.Order()), make([]float64, m.Graph.Order())
	for e := range m.Graph.Edges() {
		clear(b)
		b[e.U], b[e.V] = 1, -1
		d.MulVecTo(y, false, b)
		sum := 0.0
		for _, s := range p.Sensors {
			z := y[s.Node] / s.Sigma()
			sum += z * z
		}
		mu = max(mu, math.Sqrt(sum))
	}
	return mu * (1 - 1e-10) // rounding
}

// Under every operator that is declared the noise keeps the guarantee, and the plan
// says so; the plan of the model alone breaks it.
func TestUncertainPlan(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	for name, c := range map[string]struct {
		set   tau.Range
		words string
	}{
		"tau": {tau.Range{From: 1.5, To: 2.5}, "with any τ from 1.5 to 2.5;"},
	} {
		m, p := testkit.Planned(t, s, testkit.MeasuredJob(c.set))
		if !strings.Contains(p.Sentence(), c.words) || p.Uncertainty.Tau() != c.set {
			t.Errorf("%s: %+v, and the sentence lacks %q: %s", name, p.Uncertainty, c.words, p.Sentence())
		}
		if p.Allocated == nil {
			t.Errorf("%s: noise is not allocated", name)
		}
		_, plain := testkit.Planned(t, s, testkit.MeasuredJob(tau.Range{}))
		l, broken := laplacian.New(m.Graph, laplacian.Combinatorial), false
		for _, tau := range []float64{c.set.From, 1.9, c.set.To} {
			if mu := mostMu(t, m.Model, p, l, tau); mu > p.Mu {
				t.Errorf("%s: τ = %v: μ = %v, charged %v", name, tau, mu, p.Mu)
			}
			broken = broken || mostMu(t, m.Model, plain, l, tau) > plain.Mu*1.01
		}
		if !broken {
			t.Errorf("%s: the plan of the model alone holds, too: nothing was tested", name)
		}
		if err := m.Matches(p.Plan); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		text := must.Get(json.Marshal(p))(t)
		q := new(graphcloak.Plan)
		if err := json.Unmarshal(text, q); err != nil || q.Uncertainty.Tau() != c.set {
			t.Fatalf("%s: read again: %+v, %v", name, q, err)
		}
		if err := m.Certify(t.Context(), q.Plan); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		// The noise of the model alone, called certain for more.
		forged := testkit.Forge(t, plain, func(s *privacy.Spec) { s.Uncertainty = p.Uncertainty })
		if err := m.Certify(t.Context(), forged.Plan); !errors.Is(err, plan.ErrPlan) {
			t.Errorf("%s: a sensitivity of the model alone passes: %v", name, err)
		}
	}
}

// Without a declaration the words say for which readings, and noise is not allocated
// unless asked for; computed readings need no condition.
func TestMeasuredWithoutDeclaration(t *testing.T) {
	s, _ := testkit.Graph(t, "id,club\n1,a\n2,a\n3,a\n4,b\n5,b\n6,b\n7,b\n", "source,target\n1,2\n2,3\n3,4\n4,5\n5,6\n5,7\n")
	_, p := testkit.Planned(t, s, testkit.MeasuredJob(tau.Range{}))
	const words = "it holds for readings that obey the model"
	if p.Allocated != nil || !strings.Contains(p.Sentence(), words) {
		t.Errorf("allocated %v; %s", p.Allocated, p.Sentence())
	}
	if !strings.Contains(p.UniformReason, "--tau FROM..TO") {
		t.Errorf("it says %q of why noise is uniform", p.UniformReason)
	}
	for _, ask := range []func(*graphcloak.Allocation){
		func(a *graphcloak.Allocation) { a.MaxSensors = 5 },
		func(a *graphcloak.Allocation) { a.Optimal = true },
	} {
		job := testkit.MeasuredJob(tau.Range{})
		ask(&job.Plan.Allocation)
		if _, p := testkit.Planned(t, s, job); p.Allocated == nil || p.UniformReason != "" {
			t.Errorf("an allocation that was asked for is not made: %q", p.UniformReason)
		}
	}
	if _, p := testkit.Planned(t, s, testkit.PaperJob()); strings.Contains(p.Sentence(), words) {
		t.Error("computed readings have a condition")
	}
}

// What is certified for all readings together alone is refused before that is, which may take long.
func TestEachSensorRefused(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	for _, list := range [][]plan.Alternative{nil, valves()} {
		job := testkit.MeasuredJob(tau.Range{})
		if job.Plan.Guarantee, job.Alternatives = privacy.PerSensor, list; list == nil {
			job.Tau = tau.Range{From: 1, To: 3}
		}
		m := must.Get(graphcloak.Load(t.Context(), s, job.Settings, graphcloak.LoadOptions{}))(t)
		if _, err := m.Plan(t.Context(), job.Plan); !errors.Is(err, plan.ErrEachSensor) {
			t.Errorf("%d graphs: %v, want ErrEachSensor", len(list), err)
		}
	}
}

func TestUncertainRefused(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	for name, change := range map[string]func(*graphcloak.Job){
		"computed":       func(j *graphcloak.Job) { j.Plan.Measured = false },
		"empty interval": func(j *graphcloak.Job) { j.Tau = tau.Range{From: 3, To: 1} },
	} {
		job := testkit.MeasuredJob(tau.Range{From: 1, To: 3})
		change(&job)
		m, err := graphcloak.Load(t.Context(), s, job.Settings, graphcloak.LoadOptions{})
		if err == nil {
			_, err = m.Plan(t.Context(), job.Plan)
		}
		if !errors.Is(err, privacy.ErrInput) && !errors.Is(err, plan.ErrComputed) &&
			!errors.Is(err, sensitivity.ErrUncertainty) {
			t.Errorf("%s: %v, want a refusal", name, err)
		}
	}
}

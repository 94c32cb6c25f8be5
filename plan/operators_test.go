// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testgraph"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/laplacian/response"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
)

// addMatrix adds an operator whose rows are all nodes at one time.
func addMatrix(b *response.Builder, m mat.Matrix, time string) error {
	n := b.Graph().Order()
	for i := range n {
		for j := range n {
			if err := b.AddAt(i, j, m.At(i, j), time); err != nil {
				return err
			}
		}
	}
	return nil
}

// givenJob is a job of measured readings under given operators, e^{-τL} for some τ, and the options that give them.
func givenJob(taus ...float64) (graphcloak.Job, graphcloak.LoadOptions) {
	job := testkit.MeasuredJob(tau.Range{})
	job.Tau = tau.Range{}
	for range taus {
		job.Operators = append(job.Operators, plan.NamedOperator{Name: "heat.csv"})
	}
	return job, graphcloak.LoadOptions{Operators: func(_ context.Context, b *response.Builder) error {
		for _, tau := range taus {
			b.Begin("heat.csv")
			if err := addMatrix(b, testgraph.Heat(b.Graph(), tau), ""); err != nil {
				return err
			}
		}
		return nil
	}}
}

func givenModel(t *testing.T, taus ...float64) (*graphcloak.Model, graphcloak.Job) {
	t.Helper()
	s, _ := testkit.Example(t, "karate")
	job, opts := givenJob(taus...)
	return must.Get(graphcloak.Load(t.Context(), s, job.Settings, opts))(t), job
}

// mostGiven is μ of the noise of a plan between the worst neighbours, where M is a matrix.
func mostGiven(g *graph.Graph, p *graphcloak.Plan, m mat.Matrix) (mu float64) {
	for e := range g.Edges() {
		sum := 0.0
		for _, s := range p.Sensors {
			d := (m.At(s.Node, e.U) - m.At(s.Node, e.V)) / s.Sigma()
			sum += d * d
		}
		mu = max(mu, math.Sqrt(sum)*p.Alpha/e.Length)
	}
	return mu
}

// A plan keeps its guarantee for each operator that is given, and for their mixture, by a dense computation; that of one does not for
// another. It names the operators, and certifies on no others.
func TestGivenOperators(t *testing.T) {
	m, job := givenModel(t, 1, .4)
	p := must.Get(m.Plan(t.Context(), job.Plan))(t)
	var mixed mat.Dense
	near, far := testgraph.Heat(m.Graph, .4), testgraph.Heat(m.Graph, 1)
	mixed.Add(near, far)
	mixed.Scale(.5, &mixed)
	for name, x := range map[string]mat.Matrix{"first": far, "listed": near, "mixture": &mixed} {
		if mu := mostGiven(m.Graph, p, x); mu > p.Mu {
			t.Errorf("%s: μ = %v, charged %v", name, mu, p.Mu)
		}
	}
	alone, one := givenModel(t, 1)
	single := must.Get(alone.Plan(t.Context(), one.Plan))(t)
	if mu := mostGiven(m.Graph, single, near); !(mu > single.Mu) {
		t.Errorf("noise for one operator is enough for another: μ = %v, charged %v", mu, single.Mu)
	}
	if p.Allocated == nil || p.Uncertainty.Alternatives != 1 || p.Tau != 0 || p.Laplacian != "" || !p.Given() ||
		!strings.Contains(p.Sentence(), "or the one listed beside it, or any mixture of the two") {
		t.Errorf("allocated %v, τ %v, %+v: %s", p.Allocated != nil, p.Tau, p.Uncertainty, p.Sentence())
	}
	file := must.Get(json.Marshal(p))(t)
	var q graphcloak.Plan
	must.Do(t, json.Unmarshal(file, &q))
	must.Do(t, m.VerifyPlan(t.Context(), &q))
	if err := alone.Matches(q.Plan); !errors.Is(err, plan.ErrPlan) {
		t.Errorf("without the listed operator: %v", err)
	}
	swapped, _ := givenModel(t, .4, 1)
	if err := swapped.Matches(q.Plan); !errors.Is(err, plan.ErrGraphChanged) {
		t.Errorf("with operators in another order: %v", err)
	}
	low := testkit.Forge(t, p, func(s *privacy.Spec) {
		s.Sensitivity.Lower, s.Sensitivity.Upper = .9*s.Sensitivity.Lower, .9*s.Sensitivity.Upper
	})
	if err := m.Certify(t.Context(), low.Plan); !errors.Is(err, plan.ErrPlan) {
		t.Errorf("a sensitivity that is too small: %v", err)
	}
	s, _ := testkit.Example(t, "karate")
	_, opts := givenJob(1, .4)
	must.Get(graphcloak.Load(t.Context(), s, q.Model, opts))(t)
	beside := q.Model
	beside.Alternatives = valves()
	if _, err := graphcloak.Load(t.Context(), s, beside, opts); !errors.Is(err, plan.ErrOperator) {
		t.Errorf("graphs beside operators: %v, want ErrOperator", err)
	}
	_, others := givenJob(1, .5)
	for name, o := range map[string]graphcloak.LoadOptions{"none": {}, "others": others} {
		if _, err := graphcloak.Load(t.Context(), s, q.Model, o); !errors.Is(err, plan.ErrOperator) {
			t.Errorf("%s given: %v, want ErrOperator", name, err)
		}
	}
}

// e^{-τL} that is given is charged as heat is, with the same noise everywhere.
func TestGivenHeatIsHeat(t *testing.T) {
	m, job := givenModel(t, 2)
	job.Plan.Allocation.Uniform = true
	p := must.Get(m.Plan(t.Context(), job.Plan))(t)
	s, _ := testkit.Example(t, "karate")
	job = testkit.MeasuredJob(tau.Range{})
	job.Plan.Allocation.Uniform = true
	_, q := testkit.Planned(t, s, job)
	if a, b := p.Sensitivity.Upper, q.Sensitivity.Upper; math.Abs(a-b) > 1e-9*b || math.Abs(p.Sigma()-q.Sigma()) > 1e-6*q.Sigma() {
		t.Errorf("Δ₂ ≤ %v with σ = %v, want %v and %v", a, p.Sigma(), b, q.Sigma())
	}
}

// A sensor that reads twice is charged for both readings together, each with noise of its own; the guarantee of each sensor alone is
// refused.
func TestSeveralTimes(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	job, _ := givenJob(1)
	job.Plan.Allocation.Uniform = true
	opts := graphcloak.LoadOptions{Operators: func(_ context.Context, b *response.Builder) error {
		b.Begin("twice.csv")
		return errors.Join(addMatrix(b, testgraph.Heat(b.Graph(), .5), "6"), addMatrix(b, testgraph.Heat(b.Graph(), 1), "12"))
	}}
	m := must.Get(graphcloak.Load(t.Context(), s, job.Settings, opts))(t)
	p := must.Get(m.Plan(t.Context(), job.Plan))(t)
	var both mat.Dense
	n := m.Graph.Order()
	both.ReuseAs(2*n, n)
	for i := range n {
		both.SetRow(2*i, mat.Row(nil, i, testgraph.Heat(m.Graph, .5)))
		both.SetRow(2*i+1, mat.Row(nil, i, testgraph.Heat(m.Graph, 1)))
	}
	if mu := mostGiven(m.Graph, p, &both); mu > p.Mu || mu < .95*p.Mu {
		t.Errorf("μ = %v, charged %v", mu, p.Mu)
	}
	if len(p.Sensors) != 2*n || p.Sensors[1].ID != p.Sensors[0].ID[:1]+"@12" || p.Sensors[0].ID != "0@6" {
		t.Errorf("%d readings: %q, %q", len(p.Sensors), p.Sensors[0].ID, p.Sensors[1].ID)
	}
	job.Plan.Guarantee = privacy.PerSensor
	if _, err := m.Plan(t.Context(), job.Plan); !errors.Is(err, plan.ErrEachSensor) {
		t.Errorf("perSensor: %v, want ErrEachSensor", err)
	}
	each := p.Spec()
	each.Guarantee = privacy.PerSensor
	for range each.Sensors {
		each.PerSensor = append(each.PerSensor, 1)
	}
	if err := m.Matches(must.Get(privacy.NewPlan(each))(t)); !errors.Is(err, plan.ErrEachSensor) {
		t.Errorf("a perSensor plan from outside: %v, want ErrEachSensor", err)
	}
	opts.Operators = func(_ context.Context, b *response.Builder) error { // one time has a name too, and the next file another
		b.Begin("once.csv")
		return addMatrix(b, testgraph.Heat(b.Graph(), .5), "6")
	}
	once := must.Get(graphcloak.Load(t.Context(), s, job.Settings, opts))(t)
	if _, err := once.Plan(t.Context(), job.Plan); !errors.Is(err, plan.ErrEachSensor) {
		t.Errorf("perSensor of one time: %v, want ErrEachSensor", err)
	}
}

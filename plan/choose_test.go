// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testgraph"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
	"github.com/graphcloak/graphcloak/study"
)

// openJob is a job that leaves τ to the plan.
func openJob() graphcloak.Job {
	job := testkit.PaperJob()
	job.Settings.Tau, job.Communities.Property, job.Plan.Delta = tau.Range{}, "", 1e-5
	return job
}

// value is what a choice of τ is judged by.
func value(c *plan.TauChoice, p plan.TauPoint) float64 {
	if c.ByDistance {
		return p.Distance
	}
	return 1 - p.Accuracy
}

// together finds a single community.
type together struct{}

func (together) Detect(_ context.Context, g *graph.Graph) (community.Partition, error) {
	return community.FromLabels(g, make([]int, g.Order()))
}

// On the water network τ = 2 is a bad choice, which world-wide defaults are prone to; the
// search ends near the τ that simulation calls the best, and the plan is the one of that τ given.
func TestTauIsChosen(t *testing.T) {
	s, _ := testkit.Example(t, "net3")
	for _, single := range []bool{false, true} {
		job := openJob()
		if single {
			job.Communities.Detector = together{}
		}
		_, first := testkit.Planned(t, s, job)
		c := first.TauChoice
		least, chosen, atTwo := math.Inf(1), 0.0, 0.0
		for _, p := range c.Points {
			least = min(least, value(c, p))
			if p.Tau == first.Model.Tau.Value() {
				chosen = value(c, p)
			}
			if p.Tau == 2 {
				atTwo = value(c, p)
			}
		}
		if c.ByDistance != single || len(c.Points) < 6 || chosen > 1.01*least+.005 || !(chosen < .9*atTwo) {
			t.Errorf("one community: %v: chose τ = %v at %v of %+v", single, first.Model.Tau.Value(), chosen, c)
		}
		given := job
		given.Settings.Tau = first.Model.Tau
		if _, p := testkit.Planned(t, s, given); !reflect.DeepEqual(p.Sensors, first.Sensors) || p.TauChoice != nil {
			t.Errorf("one community: %v: τ = %v given makes another plan", single, given.Settings.Tau)
		}
	}
}

// The search gives the same bits at any number of workers, by eigenpairs and by Chebyshev's
// polynomials.
func TestTauSearchAtAnyNumberOfWorkers(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	s, _ := testkit.Example(t, "net3")
	for _, method := range []expm.Method{expm.Eigen, expm.Chebyshev} {
		var first *plan.TauChoice
		for _, workers := range []int{1, 3, 16} {
			runtime.GOMAXPROCS(workers)
			job := openJob()
			job.Settings.Method = method
			m := must.Get(graphcloak.Load(t.Context(), s, job.Settings, graphcloak.LoadOptions{}))(t)
			c := must.Get(m.ChooseTau(t.Context(), job.Plan))(t)
			if first == nil {
				first = c
			}
			if len(c.Points) < 6 || !reflect.DeepEqual(c, first) {
				t.Errorf("%v, %d workers: %+v, one finds %+v", method, workers, c, first)
			}
		}
	}
}

// A plan file states the number as if it had been given.
func TestChosenTauInFiles(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	job := openJob()
	_, p := testkit.Planned(t, s, job)
	var again graphcloak.Plan
	testkit.RoundTrip(t, p, &again)
	if again.Model.Tau.Value() == 0 || again.Model.Tau.Value() != p.Model.Tau.Value() || again.TauChoice != nil {
		t.Fatalf("read back: τ = %v, want %v; %+v", again.Model.Tau.Value(), p.Model.Tau.Value(), again.TauChoice)
	}
	m := must.Get(graphcloak.Load(t.Context(), s, again.Model, graphcloak.LoadOptions{}))(t)
	if _, err := m.Release(t.Context(), &again, run.Job{Signal: job.Signal, RunID: "r", Attempt: "a"}); err != nil {
		t.Errorf("release under the file: %v", err)
	}
}

// Where noise hides everything, no τ is called the best.
func TestNoTauBeatsChance(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	for epsilon, told := range map[float64]bool{.01: true, 4: false} {
		job := openJob()
		job.Plan.Epsilon = epsilon
		_, p := testkit.Planned(t, s, job)
		c := p.TauChoice
		want := fmt.Sprintf("named clearly more often than by chance: τ = %v was taken", p.Model.Tau.Value())
		if strings.HasSuffix(c.Note, want) != told || c.Hopeless != told || c.Chance < .3 || c.Chance > .4 {
			t.Errorf("ε = %v: %q at a chance of %v", epsilon, c.Note, c.Chance)
		}
	}
}

// The search judges the noise that the plan gets, of few sensors too. The accuracy of the chosen τ is near that of the plan's
// own simulation.
func TestTauIsChosenForThePlan(t *testing.T) {
	s, _ := testkit.Example(t, "net3")
	job := openJob()
	job.Plan.Budget = privacy.Budget{Epsilon: 4, Delta: .001}
	job.Plan.Allocation = graphcloak.Allocation{MaxSensors: 5}
	m, p := testkit.Planned(t, s, job)
	found := must.Get(study.Outlook(t.Context(), m.Model, p, analyst.Options{}, study.Sample{Trials: 400}, time.Hour))(t)
	for _, x := range p.TauChoice.Points {
		if x.Tau == p.Model.Tau.Value() && math.Abs(x.Accuracy-found.Probability) > .08 {
			t.Errorf("τ = %v is judged to be right %.3f of the time, the plan is %.3f", x.Tau, x.Accuracy, found.Probability)
		}
	}
}

// How long a process ran that sensors measure is no choice of ours.
func TestMeasuredTauIsGiven(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	job := openJob()
	job.Plan.Measured = true
	m := must.Get(graphcloak.Load(t.Context(), s, job.Settings, graphcloak.LoadOptions{}))(t)
	if _, err := m.Plan(t.Context(), job.Plan); !errors.Is(err, privacy.ErrInput) || !strings.Contains(err.Error(), "give tau") {
		t.Errorf("%v, want ErrInput that asks for tau", err)
	}
}

// Every guarantee and kind of noise gets a τ, a graph of a single relationship too, and one
// whose weights are of another magnitude than 1.
func TestTauIsChosenEverywhere(t *testing.T) {
	for name, relationships := range map[string]string{
		"two nodes":     "a,b,1\n",
		"heavy weights": "a,b,1e6\nb,c,2e6\nc,d,1e6\nd,e,3e6\n",
		"light weights": "a,b,1e-6\nb,c,2e-6\nc,d,1e-6\nd,e,3e-6\n",
	} {
		dir := t.TempDir()
		nodes := "id\na\nb\nc\nd\ne\n"
		testkit.Write(t, dir, "nodes.csv", nodes[:min(len(nodes), 5+2*strings.Count(relationships, "\n"))])
		testkit.Write(t, dir, "relationships.csv", "source,target,w\n"+relationships)
		s := must.Get(folder.New(t.Context(), dir, folder.Options{}))(t)
		for _, guarantee := range []privacy.Guarantee{privacy.Joint, privacy.PerSensor} {
			for _, uniform := range []bool{false, true} {
				job := openJob()
				job.Selection.RelationshipWeightProperty = "w"
				job.Plan.Guarantee, job.Plan.Allocation.Uniform = guarantee, uniform
				at := fmt.Sprintf("%s, %v, uniform %t", name, guarantee, uniform)
				m, err := graphcloak.Load(t.Context(), s, job.Settings, graphcloak.LoadOptions{})
				if err != nil {
					t.Fatal(at, err)
				}
				p, err := m.Plan(t.Context(), job.Plan)
				if err != nil {
					t.Error(at, err)
					continue
				}
				if p.Model.Tau.Value() <= 0 || p.Model.Tau != m.Tau || len(p.TauChoice.Points) == 0 {
					t.Errorf("%s: τ = %v of %+v", at, p.Model.Tau.Value(), p.TauChoice)
				}
			}
		}
		s.Close(t.Context())
	}
}

// A plan that chooses another τ than the one before leaves nothing of the operator that was used in
// between.
func TestChosenAgain(t *testing.T) {
	s, _ := testkit.Example(t, "net3")
	job := openJob()
	m := must.Get(graphcloak.Load(t.Context(), s, job.Settings, graphcloak.LoadOptions{}))(t)
	nodes, ones, values := make([]int, m.Graph.Order()), make([]float64, m.Graph.Order()), make([]float64, m.Graph.Order())
	for i := range nodes {
		nodes[i], ones[i] = i, 1
	}
	before := 0.0
	for _, budget := range []privacy.Budget{{Epsilon: 100, Delta: .1}, {Epsilon: .5, Delta: 1e-6}} {
		job.Plan.Budget = budget
		p := must.Get(m.Plan(t.Context(), job.Plan))(t)
		if p.Public.Tau == before {
			t.Fatalf("τ is %v again: nothing was tested", before)
		}
		before = p.Public.Tau
		w := must.Get(m.Operator.Whiten(t.Context(), analyst.Measurements{Nodes: nodes, Values: values, Sigmas: ones}))(t)
		e, y := make([]float64, len(nodes)), make([]float64, len(nodes))
		e[3] = 1
		w.Data.A.MulVecTo(y, false, e)
		if want := testgraph.Heat(m.Graph, before).At(3, 3); math.Abs(y[3]-want) > 1e-9 {
			t.Errorf("an entry of M is %v at τ = %v, want %v", y[3], before, want)
		}
	}
}

// A τ at which double precision cannot tell neighbours apart is said to be too large, and one at which e^{-τL} itself is out
// of reach.
func TestTooLargeTau(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	try := func(t0 float64, method expm.Method, guarantee privacy.Guarantee) error {
		job := testkit.PaperJob()
		job.Settings.Tau, job.Settings.Method, job.Plan.Guarantee = tau.At(t0), method, guarantee
		m, err := graphcloak.Load(t.Context(), s, job.Settings, graphcloak.LoadOptions{})
		if err == nil {
			_, err = m.Plan(t.Context(), job.Plan)
		}
		return err
	}
	for _, guarantee := range []privacy.Guarantee{privacy.Joint, privacy.PerSensor} {
		for tau, want := range map[float64]error{8: nil, 64: plan.ErrTau, 1e9: plan.ErrTau} {
			if err := try(tau, expm.Auto, guarantee); !errors.Is(err, want) {
				t.Errorf("%v, tau %v: %v, want %v", guarantee, tau, err, want)
			}
		}
	}
	for _, tau := range []float64{1e8, 1e13} {
		if err := try(tau, expm.Chebyshev, privacy.Joint); !errors.Is(err, expm.ErrAccuracy) {
			t.Errorf("tau %v: %v, want ErrAccuracy", tau, err)
		}
	}
}

// A process that is suspended for a minute at every step, as a busy machine or a closed lid does, makes the plan that it
// makes undisturbed, at any number of workers: the searches for τ and for noise count their work, not the time.
func TestSamePlanWhateverTheLoad(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, limit := range []time.Duration{time.Minute, time.Millisecond} {
		var first *graphcloak.Plan
		for _, workers := range []int{1, 3} {
			for _, stalled := range []bool{false, true} {
				runtime.GOMAXPROCS(workers)
				synctest.Test(t, func(t *testing.T) {
					s, _ := testkit.Example(t, "net3")
					job := openJob()
					job.Plan.Epsilon, job.Plan.Allocation.Time = 1, limit
					m, err := graphcloak.Load(t.Context(), s, job.Settings, graphcloak.LoadOptions{Progress: func(string, int64, int64) {
						if stalled {
							time.Sleep(time.Minute)
						}
					}})
					must.Do(t, err)
					p := must.Get(m.Plan(t.Context(), job.Plan))(t)
					if first == nil {
						first = p
					}
					if !reflect.DeepEqual(p.TauChoice, first.TauChoice) || !reflect.DeepEqual(p.Sensors, first.Sensors) ||
						!reflect.DeepEqual(p.Allocated, first.Allocated) {
						t.Errorf("%v, %d workers, stalled %t: τ = %v by %+v, undisturbed %v by %+v", limit, workers, stalled, p.Model.Tau,
							p.TauChoice, first.Model.Tau, first.TauChoice)
					}
				})
			}
		}
	}
}

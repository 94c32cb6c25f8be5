// SPDX-License-Identifier: Apache-2.0

package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// listedJob is a plan for readings that may come from two graphs beside the stored one, with some τ.
func listedJob(t *testing.T, s graphcloak.Source, set tau.Range) graphcloak.Job {
	t.Helper()
	job := testkit.MeasuredJob(set)
	m := must.Get(graphcloak.Load(t.Context(), s, job.Settings, graphcloak.LoadOptions{}))(t)
	var wide []graph.Change
	for e := range m.Graph.Edges() {
		if (e.U+e.V)%2 == 0 {
			wide = append(wide, graph.Change{Source: m.Graph.ID(e.U), Target: m.Graph.ID(e.V), Weight: 10 * e.Weight})
		}
	}
	job.Alternatives = []plan.Alternative{
		{Name: "<b>wide</b>", Changes: wide},
		{Name: "shortcut", Changes: []graph.Change{{Source: "16", Target: "26", Weight: 3}}},
	}
	job.Plan.Budget = privacy.Budget{Epsilon: 1000, Delta: .01}
	job.Plan.Allocation.Uniform, job.Plan.Randomness = true, privacy.EscrowRandomness
	return job
}

// measuredOn releases what sensors measure of a source at node 0 on a graph.
func measuredOn(t *testing.T, m *graphcloak.Model, p *graphcloak.Plan, g *graph.Graph) *graphcloak.Release {
	t.Helper()
	f, y := make([]float64, g.Order()), make([]float64, g.Order())
	f[0] = 1
	heat(t, g, m.Tau.Value()).MulVecTo(y, false, f)
	readings := make([]float64, len(p.Sensors))
	for k, s := range p.Sensors {
		readings[k] = max(0, min(1, y[s.Node]))
	}
	noise := must.Get(privacy.NewEscrow([]byte("thirty-two bytes that are public"), "test", 0))(t)
	release := must.Get(p.Perturb(readings, "r1", noise))(t)
	return &graphcloak.Release{
		Release: release, Model: p.Model, Allocated: p.Allocated,
		Signal: graphcloak.Signal{MeasurementProperty: "heat"},
	}
}

func heat(t *testing.T, g *graph.Graph, tau float64) *expm.Diffusion {
	t.Helper()
	return must.Get(expm.New(t.Context(), laplacian.New(g, laplacian.Combinatorial), tau, expm.Options{Method: expm.Eigen}))(t)
}

// directSum sums exp(−Σ_s (ỹ_s − M_si)²/2σ_s²) over graphs, τ and nodes, and returns the shares of nodes, of graphs and of τ.
func directSum(t *testing.T, r *graphcloak.Release, graphs []*graph.Graph, taus []float64) (nodes, of, ofTau []float64) {
	t.Helper()
	n := graphs[0].Order()
	logs := make([][]float64, len(graphs))
	var all []float64
	for k, g := range graphs {
		for _, tau := range taus {
			d, f, y := heat(t, g, tau), make([]float64, n), make([]float64, n)
			for i := range n {
				clear(f)
				f[i] = 1
				d.MulVecTo(y, false, f)
				sum := 0.0
				for j, s := range r.Nodes() {
					z := (r.Values()[j] - y[s]) / r.Sigmas()[j]
					sum -= z * z / 2
				}
				logs[k] = append(logs[k], sum)
			}
		}
		all = append(all, logs[k]...)
	}
	total := floats.LogSumExp(all)
	nodes, of, ofTau = make([]float64, n), make([]float64, len(graphs)), make([]float64, len(taus))
	for k := range logs {
		for j, v := range logs[k] {
			nodes[j%n] += math.Exp(v - total)
			of[k] += math.Exp(v - total)
			ofTau[j/n] += math.Exp(v - total)
		}
	}
	return nodes, of, ofTau
}

// A recovery sums over the graphs of the release's plan, and over τ where it has a range: the
// probabilities of nodes and of graphs are those of a direct sum, from the file alone.
func TestRecoverOverGraphs(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	for name, set := range map[string]tau.Range{"graphs": {}, "graphs and τ": {From: 1, To: 4}} {
		m, p := testkit.Planned(t, s, listedJob(t, s, set))
		graphs, taus := []*graph.Graph{m.Graph}, []float64{m.Tau.Value()}
		for _, a := range m.ListedGraphs() {
			graphs = append(graphs, a.Graph)
		}
		if set.IsWide() {
			taus = analyst.TauGrid(set)
		}
		r := measuredOn(t, m, p, graphs[1])
		text := must.Get(json.Marshal(r))(t)
		var again graphcloak.Release
		must.Do(t, json.Unmarshal(text, &again))
		m = must.Get(graphcloak.Load(t.Context(), s, again.Model, graphcloak.LoadOptions{}))(t)
		sound := analyst.Options{Amplitude: posterior.UnitAmplitude, FaultRate: rate(0)}
		rep := must.Get(m.Recover(t.Context(), &again, sound))(t)
		nodes, of, ofTau := directSum(t, r, graphs, taus)
		best := floats.MaxIdx(nodes)
		if id := m.Graph.ID(best); rep.Posterior.NodeID != id || math.Abs(rep.Posterior.Probability-nodes[best]) > 1e-6 {
			t.Errorf("%s: node %v with probability %v, want %v with %v", name, rep.Posterior.NodeID, rep.Posterior.Probability,
				id, nodes[best])
		}
		names := []string{"", "<b>wide</b>", "shortcut"}
		for k, x := range rep.GraphPosterior {
			if x.Name != names[k] || math.Abs(x.Probability-of[k]) > 1e-6 {
				t.Errorf("%s: graph %d is %+v, want %q with %v", name, k, x, names[k], of[k])
			}
		}
		if len(rep.GraphPosterior) != 3 || !set.IsWide() && of[1] < .99 || (rep.TauPosterior != nil) != set.IsWide() {
			t.Errorf("%s: %+v, τ %+v", name, rep.GraphPosterior, rep.TauPosterior)
		}
		for k, x := range rep.TauPosterior {
			if math.Abs(x.Tau-taus[k]) > 1e-12 || math.Abs(x.Probability-ofTau[k]) > 1e-6 {
				t.Errorf("%s: τ %d is %+v, want %v with %v", name, k, x, taus[k], ofTau[k])
			}
		}
		told := "of any of 2 listed ones, each as likely beforehand, and the posterior of one source is summed over all 3: "
		if !set.IsWide() {
			told += `"<b>wide</b>" is the likeliest, with probability over 99 %`
		}
		if notes := strings.Join(rep.Notes, "\n"); !strings.Contains(notes, told) {
			t.Errorf("%s: notes %s", name, notes)
		}
		if rep.Fit == nil || rep.Fit.PValue < .001 {
			t.Errorf("%s: what a listed graph made does not fit: %+v", name, rep.Fit)
		}
		alone := sound
		alone.StoredGraph = true
		if rep, err := m.Recover(t.Context(), &again, alone); err != nil || rep.GraphPosterior != nil || !set.IsWide() &&
			rep.Fit.PValue > .001 {
			t.Errorf("%s: of the stored graph alone: %+v, fit %+v, %v", name, rep.GraphPosterior, rep.Fit, err)
		}
	}
}

// So many graphs that a posterior over them would take minutes are told to be left out.
func TestTooManyGraphsToSum(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	job := listedJob(t, s, tau.Range{})
	m, p := testkit.Planned(t, s, job)
	r := measuredOn(t, m, p, m.Graph)
	many := m.ListedGraphs()
	for len(many) < 200 {
		many = append(many, many[0])
	}
	plain := must.Get(graphcloak.Load(t.Context(), s, graphcloak.Settings{Tau: m.Tau}, graphcloak.LoadOptions{}))(t)
	in := analyst.Measurements{Nodes: r.Nodes(), Values: r.Values(), Sigmas: r.Sigmas()}
	for count, told := range map[int]bool{199: true, 200: false} {
		if told { // the count alone: a recovery over 200 graphs takes a while
			if _, ok := plain.Operator.Processes(many[:count], tau.Range{}, len(in.Nodes)); !ok {
				t.Errorf("%d graphs are refused", count)
			}
			continue
		}
		rep, err := plain.RecoverFrom(context.Background(), in, analyst.Options{Graphs: many[:count]})
		if err != nil || rep.GraphPosterior != nil ||
			!strings.Contains(strings.Join(rep.Notes, "\n"), "200 listed graphs too, which are too many") {
			t.Errorf("%d graphs: %v, %+v, %v", count, err, rep.GraphPosterior, rep.Notes)
		}
	}
	if n, ok := plain.Operator.Processes(many[:30], tau.Range{From: 1, To: 4}, len(in.Nodes)); n != 9 || ok {
		t.Errorf("30 graphs with a range of τ: %d processes, %v", n, ok)
	}
}

// The rows of all listed graphs are asked for before anything is spent.
func TestListedGraphsFitBeforeTheSpend(t *testing.T) {
	const n = 60
	nodes, ring := "id,heat\n", "source,target\n"
	for i := range n {
		nodes += fmt.Sprintf("%d,%d\n", i, i%2)
		ring += fmt.Sprintf("%d,%d\n", i, (i+1)%n)
	}
	s, _ := testkit.Graph(t, nodes, ring)
	job := testkit.MeasuredJob(tau.Range{})
	job.Communities.Property, job.Method, job.Settings.Tau = "", expm.Chebyshev, tau.At(1)
	job.Plan.Allocation.Uniform = true
	for k := range 20 {
		job.Alternatives = append(job.Alternatives, plan.Alternative{
			Name: fmt.Sprint(k), Changes: []graph.Change{{Source: "0", Target: "1", Weight: float64(2 + k)}},
		})
	}
	few := graphcloak.LoadOptions{MemoryLimit: 10 * 8 * n * n}
	if _, err := graphcloak.Run(t.Context(), s, job, few); !errors.Is(err, plan.ErrMemory) ||
		!strings.Contains(err.Error(), "recovery over tau and graphs") {
		t.Errorf("%v, want ErrMemory for the recovery", err)
	}
	unspent(t, s.Ledger())
	job.Recover.StoredGraph = true
	if _, err := graphcloak.Run(t.Context(), s, job, few); err != nil {
		t.Errorf("of the stored graph alone: %v", err)
	}
}

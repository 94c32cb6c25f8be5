// SPDX-License-Identifier: Apache-2.0

package run_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

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
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/report"
)

// TestSeveralSources puts full sources at two nodes of the karate club, one in each
// camp, under noise so small that both can be read off.
func TestSeveralSources(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	set := testkit.PaperJob().Settings
	set.Tau = tau.At(1)
	m := must.Get(graphcloak.Load(t.Context(), s, set, graphcloak.LoadOptions{}))(t)
	want := []graph.ID{"17", "27"}
	kernel := testgraph.Heat(m.Graph, 1)
	var in analyst.Measurements
	for i := range m.Graph.Order() {
		y := 0.0
		for _, id := range want {
			j, ok := m.Graph.Index(id)
			if !ok {
				t.Fatalf("no node %q", id)
			}
			y += kernel.At(i, j)
		}
		in.Nodes, in.Values, in.Sigmas = append(in.Nodes, i), append(in.Values, y), append(in.Sigmas, .01)
	}
	for _, sources := range []int{2, analyst.OneOrTwo} {
		rep := must.Get(m.RecoverFrom(t.Context(), in, analyst.Options{Sources: sources}))(t)
		got := slices.Sorted(slices.Values(rep.Sources.NodeIDs))
		if rep.Sources.Count != 2 || !slices.Equal(got, want) {
			t.Errorf("sources %d: %+v, want 2 at %v", sources, *rep.Sources, want)
		}
		if got := rep.Posterior.CredibleSetSize; got != 2 { // 95 % of two expected sources
			t.Errorf("sources %d: credible set of %d nodes, want 2", sources, got)
		}
		for _, c := range rep.Communities {
			if c.Probability < .99 || c.Probability > 1 {
				t.Errorf("sources %d: community %s holds a source with probability %v, want over 0.99", sources, c.Name, c.Probability)
			}
		}
		sum, last := 0.0, 0.0
		for node := range rep.Stream() {
			sum, last = sum+node.SourceProbability, node.CommunityProbability
		}
		if math.Abs(sum-2) > 1e-9 || last < .99 {
			t.Errorf("sources %d: the nodes' probabilities add up to %v, want 2; the last node's community has %v", sources, sum, last)
		}
		if !strings.Contains(rep.Answer, "NOT hidden") {
			t.Errorf("sources %d: %q does not warn", sources, rep.Answer)
		}
	}
}

// TestNothingSaid: measurements of 0 under noise that hides everything say nothing,
// however sure the prior is, and however many sources a community must hold. The path
// a–b–c–d has the sides {a, b} and {c, d}, and the prior 98 % on a.
func TestNothingSaid(t *testing.T) {
	s, _ := testkit.Graph(t, "id,side,risk\na,l,294\nb,l,2\nc,r,2\nd,r,2\n", "source,target\na,b\nb,c\nc,d\n")
	in := analyst.Measurements{Nodes: []int{0, 1, 2, 3}, Values: make([]float64, 4), Sigmas: []float64{1e3, 1e3, 1e3, 1e3}}
	for _, tt := range []struct {
		prior   string
		sources int
		left    float64 // prior probability that {a, b} holds a source
	}{
		{"", 1, 1. / 2},
		{"", 2, 5. / 6},
		// The sets of two have weights ab 588, ac 588, ad 588, bc 4, bd 4 and cd 4.
		{"risk", 1, 296. / 300},
		{"risk", 2, 1772. / 1776},
	} {
		m := must.Get(graphcloak.Load(t.Context(), s, graphcloak.Settings{Tau: tau.At(1), Public: graphcloak.Public{
			Communities: community.Options{Property: "side"}, PriorProperty: tt.prior,
		}}, graphcloak.LoadOptions{}))(t)
		rep := must.Get(m.RecoverFrom(t.Context(), in, analyst.Options{Sources: tt.sources}))(t)
		i := slices.IndexFunc(rep.Communities, func(c report.Community) bool { return c.Name == "l" })
		if got := rep.Communities[i]; math.Abs(got.Prior-tt.left) > 1e-12 ||
			math.Abs(got.Probability-rep.Presence.Probability*tt.left) > .01 {
			t.Errorf("prior %q, %d sources: %+v, want prior and posterior %v", tt.prior, tt.sources, got, tt.left)
		}
		if rep.Prior != tt.prior || !strings.HasPrefix(rep.Answer, "No sign of a source") || rep.StandsOut() {
			t.Errorf("prior %q, %d sources: prior %q: %s", tt.prior, tt.sources, rep.Prior, rep.Answer)
		}
	}
}

// chi2Radius returns the η that ‖ν‖₂, ν ~ N(0, σ²I_m), exceeds with a probability of tail.
func chi2Radius(sigma float64, m int, tail float64) float64 {
	return sigma * math.Sqrt(measurement.Chi2Above(float64(m), tail))
}

// TestSourcesRefused: a number that is none, and measurements that are none; a
// graph of one node has one source.
func TestSourcesRefused(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	set := testkit.PaperJob().Settings
	set.Tau = tau.At(1)
	m := must.Get(graphcloak.Load(t.Context(), s, set, graphcloak.LoadOptions{}))(t)
	one := analyst.Measurements{Nodes: []int{0}, Values: []float64{.5}, Sigmas: []float64{.1}}
	for _, in := range []analyst.Measurements{{}, {Nodes: []int{0}}, {Nodes: []int{0}, Values: []float64{1}}} {
		if _, err := m.RecoverFrom(t.Context(), in, analyst.Options{}); !errors.Is(err, recovery.ErrInvalid) {
			t.Errorf("%+v: %v, want a refusal", in, err)
		}
	}
	for _, sources := range []int{-2, 3} {
		if _, err := m.RecoverFrom(t.Context(), one, analyst.Options{Sources: sources}); !errors.Is(err, recovery.ErrInvalid) {
			t.Errorf("%d sources: %v, want a refusal", sources, err)
		}
	}
	for n, refused := range map[int]bool{2: true, 3: false, analyst.DenseLimit: false, analyst.DenseLimit + 1: true} {
		if err := analyst.CheckSources(2, n); errors.Is(err, recovery.ErrInvalid) != refused {
			t.Errorf("two sources among %d nodes: %v", n, err)
		}
	}
	lone, _ := testkit.Graph(t, "id\na\n", "source,target\n")
	m = must.Get(graphcloak.Load(t.Context(), lone, graphcloak.Settings{Tau: tau.At(1)}, graphcloak.LoadOptions{}))(t)
	if rep, err := m.RecoverFrom(t.Context(), one, analyst.Options{Sources: analyst.OneOrTwo}); err != nil || rep.Sources != nil {
		t.Errorf("one node: %v, %+v", err, rep)
	}
}

// grid returns a model of 6 × 6 nodes at τ = 1, and readings of full sources without
// noise, said to have some.
func grid(t *testing.T, sources []int, sigma float64) (*graphcloak.Model, analyst.Measurements) {
	t.Helper()
	const side = 6
	dir := t.TempDir()
	nodes, edges := "id\n", "source,target\n"
	for i := range side * side {
		nodes += strconv.Itoa(i) + "\n"
		if i%side > 0 {
			edges += fmt.Sprintf("%d,%d\n", i-1, i)
		}
		if i >= side {
			edges += fmt.Sprintf("%d,%d\n", i-side, i)
		}
	}
	testkit.Write(t, dir, "nodes.csv", nodes)
	testkit.Write(t, dir, "relationships.csv", edges)
	s := must.Get(folder.New(t.Context(), dir, folder.Options{}))(t)
	t.Cleanup(func() { s.Close(context.Background()) })
	m := must.Get(graphcloak.Load(t.Context(), s, graphcloak.Settings{Tau: tau.At(1)}, graphcloak.LoadOptions{}))(t)
	d := must.Get(expm.New(t.Context(), laplacian.New(m.Graph, laplacian.Combinatorial), 1, expm.Options{}))(t)
	f, y := make([]float64, side*side), make([]float64, side*side)
	for _, i := range sources {
		j, _ := m.Graph.Index(graph.ID(strconv.Itoa(i)))
		f[j] = 1
	}
	d.MulVecTo(y, false, f)
	in := analyst.Measurements{Values: y}
	for i := range y {
		in.Nodes, in.Sigmas = append(in.Nodes, i), append(in.Sigmas, sigma)
	}
	return m, in
}

// TestRadiusUnits: radius and residual are in the unit of the readings, where all sensors have one σ.
func TestRadiusUnits(t *testing.T) {
	const sigma = 0.05
	m, in := grid(t, []int{7}, sigma)
	b := must.Get(m.RecoverFrom(t.Context(), in, analyst.Options{}))(t).BPDN
	if want := chi2Radius(sigma, b.Dimension, .5); math.Abs(b.Radius-want) > 1e-12 || math.Abs(b.Residual-want) > 1e-6*want {
		t.Errorf("radius %v and residual %v, want both %v", b.Radius, b.Residual, want)
	}
}

// TestVisibleOfRandomWalk: directions are those of M, whose singular vectors are not the
// eigenvectors of a Laplacian that is not symmetric.
func TestVisibleOfRandomWalk(t *testing.T) {
	s, _ := testkit.Example(t, "karate")
	set := graphcloak.Settings{Tau: tau.At(1), Laplacian: laplacian.RandomWalk}
	m := must.Get(graphcloak.Load(t.Context(), s, set, graphcloak.LoadOptions{}))(t)
	n := m.Graph.Order()
	d := must.Get(expm.New(t.Context(), laplacian.New(m.Graph, laplacian.RandomWalk), 1, expm.Options{}))(t)
	M := mat.NewDense(n, n, nil)
	unit, column := make([]float64, n), make([]float64, n)
	for i := range n {
		clear(unit)
		unit[i] = 1
		d.MulVecTo(column, false, unit)
		M.SetCol(i, column)
	}
	var svd mat.SVD
	svd.Factorize(M, mat.SVDNone)
	for _, sigma := range []float64{.05, .1, .15, .2, .25, .3, .4} {
		in := analyst.Measurements{Values: make([]float64, n)}
		for i := range n {
			in.Nodes, in.Sigmas = append(in.Nodes, i), append(in.Sigmas, sigma)
		}
		in.Values[3] = 1
		rep := must.Get(m.RecoverFrom(t.Context(), in, analyst.Options{}))(t)
		want := 0
		for _, v := range svd.Values(nil) {
			if v > 2*sigma {
				want++
			}
		}
		tail := .5
		if rep.BPDN.Retried {
			tail = .05
		}
		if got := rep.BPDN; got.Dimension != want || math.Abs(got.Radius-chi2Radius(sigma, want, tail)) > 1e-12 {
			t.Errorf("σ = %v: %d directions and radius %v, want %d", sigma, got.Dimension, got.Radius, want)
		}
	}
}

// TestIsolatedNodes: a source on a node without a relationship cannot be hidden, so nothing is
// spent unless the job says what is meant, wherever the source is: a refusal that depended on
// it would tell where it is.
func TestIsolatedNodes(t *testing.T) {
	const relationships = "source,target\na,b\nb,c\nlonely,lonely\n"
	for where, nodes := range map[string]string{
		"at the lonely node": "id,source\na,0\nb,0\nc,0\nlonely,1\n",
		"elsewhere":          "id,source\na,1\nb,0\nc,0\nlonely,0\n",
	} {
		s, _ := testkit.Graph(t, nodes, relationships)
		job := testkit.PaperJob()
		job.Communities.Property = ""
		if _, err := graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{}); !errors.Is(err, plan.ErrIsolated) {
			t.Errorf("%s: %v, want ErrIsolated", where, err)
		}
		if scopes, err := s.Ledger().Scopes(t.Context()); err != nil || len(scopes) > 0 {
			t.Errorf("%s: a refusal spent from %q, %v", where, scopes, err)
		}
		job.Selection.Isolated = graph.AllowIsolated
		rep, err := graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{})
		if err != nil || !strings.Contains(strings.Join(rep.Notes, "\n"), "a source there is not protected") || rep.NodeCount != 4 {
			t.Errorf("%s, allowed: %+v, %v", where, rep, err)
		}
		job.Selection.Isolated = graph.DropIsolated
		rep, err = graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{})
		if err != nil || !strings.Contains(strings.Join(rep.Notes, "\n"), "were left out") || rep.NodeCount != 3 || rep.SensorCount != 3 {
			t.Errorf("%s, dropped: %+v, %v", where, rep, err)
		}
	}
}

// TestPlanOfIsolatedNodes: a plan that was made elsewhere agrees for nobody.
func TestPlanOfIsolatedNodes(t *testing.T) {
	s, _ := testkit.Graph(t, "id,source\na,1\nb,0\nlonely,0\n", "source,target\na,b\n")
	job := testkit.PaperJob()
	job.Communities.Property = ""
	job.Selection.Isolated = graph.AllowIsolated
	m, p := testkit.Planned(t, s, job)
	m.Selection.Isolated = ""
	if err := m.Check(t.Context(), p, job); !errors.Is(err, plan.ErrIsolated) {
		t.Errorf("%v, want ErrIsolated", err)
	}
}

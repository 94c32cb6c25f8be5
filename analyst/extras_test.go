// SPDX-License-Identifier: Apache-2.0

package analyst

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/posterior"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

// TestFewSensorsOfALargeGraph: up to the order up to which rows are held and beyond, what few sensors
// measured is analysed, where no source explains it too.
func TestFewSensorsOfALargeGraph(t *testing.T) {
	for _, n := range []int{DenseLimit, DenseLimit + 1} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			rep := analyseFew(t, n, 3)
			if held := n <= DenseLimit; (rep.Breakdown != nil) != held {
				t.Errorf("breakdown point %v", rep.Breakdown)
			}
			if len(rep.Communities) != 2 || slices.ContainsFunc(rep.Notes, func(s string) bool { return strings.Contains(s, "left out: ") }) {
				t.Errorf("communities %v, notes %q", rep.Communities, rep.Notes)
			}
		})
	}
}

// TestSeveralSourcesOfALargeGraph: where entries are not held, sources that are asked for are sampled with sensors that may be
// broken, and two are told from one. The sampler meets the end of the context.
func TestSeveralSourcesOfALargeGraph(t *testing.T) {
	const n, sigma = DenseLimit + 1, .02
	in := Measurements{Clip: &privacy.Interval{Lo: 0, Hi: 1}}
	for i := range 60 {
		in.Nodes, in.Values, in.Sigmas = append(in.Nodes, i), append(in.Values, sigma*math.Sin(float64(3*i))), append(in.Sigmas, sigma)
	}
	for i, v := range []float64{.207, .179, .118, .061, .027} { // e⁻⁴I_i(4): heat of τ = 2 on a path
		in.Values[10+i], in.Values[10-i] = v, v
		in.Values[40+i], in.Values[40-i] = v, v
	}
	in.Values[25] = 1
	a := largePath(t, n, in)
	o := posterior.Options{Faults: a.Faults(a.opts)}
	norms, err := posterior.ColumnNorms(t.Context(), a.Data, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Norms = &norms
	one, err := posterior.New(t.Context(), a.Data, o)
	if err != nil {
		t.Fatal(err)
	}
	a.addPosterior(one)
	if err := a.severalSources(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	s := a.report.Sources
	if s == nil || s.Count != 2 || s.Method != "gibbs" || len(a.report.Notes) != 0 {
		t.Fatalf("sources %+v, notes %q", s, a.report.Notes)
	}
	ids := []graph.ID{a.op.Graph.ID(10), a.op.Graph.ID(40)}
	if !slices.Contains(s.NodeIDs, ids[0]) || !slices.Contains(s.NodeIDs, ids[1]) {
		t.Errorf("nodes %v, want %v", s.NodeIDs, ids)
	}
	for i, p := range a.faulty {
		if broken := i == 25; p > .5 != broken {
			t.Errorf("sensor %d is broken with %v", i, p)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err = a.severalSources(ctx, o); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestSecondSourceWhereHeatReachesEverything: where columns are not read one source is weighed beside broken sensors, and where none is broken,
// and on graphs that take long; each is said.
func TestSecondSourceWhereHeatReachesEverything(t *testing.T) {
	for _, c := range []struct {
		n    int
		rate float64
		want string
	}{{DenseLimit + 1, .01, "heat reaches everything"}, {DenseLimit + 1, 0, "no sensor is broken"}, {SecondNodes + 1, .01, "above 100000 nodes"}} {
		g, err := graph.Star(c.n)
		if err != nil {
			t.Fatal(err)
		}
		l := laplacian.New(g, laplacian.Normalized)
		d, err := expm.New(t.Context(), l, 2, expm.Options{Method: expm.Chebyshev})
		if err != nil {
			t.Fatal(err)
		}
		w, err := (&Operator{Graph: g, Laplacian: l, Diffusion: d}).Whiten(t.Context(), Measurements{Nodes: []int{3, 4}, Values: []float64{.9, .2}, Sigmas: []float64{.05, .05}})
		if err != nil {
			t.Fatal(err)
		}
		a := analysis{Whitened: w, opts: Options{Sources: OneOrTwo}, report: &report.Report{}}
		err = a.severalSources(t.Context(), posterior.Options{Faults: posterior.Faults{Rate: c.rate}})
		if err != nil || len(a.report.Notes) != 1 || !strings.Contains(a.report.Notes[0], c.want) {
			t.Errorf("%+v: %v, notes %q", c, err, a.report.Notes)
		}
	}
}

// TestSeveralSourcesMemory: what sampling takes is asked for where sensors may be broken and more than one source may be weighed on a graph
// whose rows are not held, and nowhere else.
func TestSeveralSourcesMemory(t *testing.T) {
	full := errors.New("no room")
	rate, sound := DefaultFaultRate, 0.0
	for _, c := range []struct {
		n, sources int
		rate       *float64
		want       error
	}{
		{DenseLimit + 1, 2, &rate, full},
		{DenseLimit + 1, OneOrTwo, &rate, full},
		{DenseLimit + 1, ByEvidence, &rate, full},
		{DenseLimit + 1, 1, &rate, nil},
		{DenseLimit + 1, 0, &rate, nil},
		{DenseLimit + 1, 2, &sound, nil},
		{DenseLimit + 1, 2, nil, nil},
		{DenseLimit, 2, &rate, nil},
		{SecondNodes + 1, OneOrTwo, &rate, nil},
		{SecondNodes + 1, 2, &rate, full},
	} {
		g, err := graph.Path(c.n)
		if err != nil {
			t.Fatal(err)
		}
		o := &Operator{Graph: g, Guard: func(_ string, bytes int64) error {
			if bytes < 1000*100 {
				t.Errorf("%+v: asks for %d bytes", c, bytes)
			}
			return full
		}}
		if err := o.CheckSeveralSources(100, Options{Sources: c.sources, FaultRate: c.rate}); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if posterior.SampleBytes(1_000_000, 1_000_000) < 1_600_000_000 {
		t.Error("a million sensors take next to nothing")
	}
}

// largePath is the analysis of what sensors of a path with two halves measured, of as many sources as the evidence says.
func largePath(t *testing.T, n int, in Measurements) *analysis {
	t.Helper()
	g, err := graph.Path(n)
	if err != nil {
		t.Fatal(err)
	}
	labels := make([]int, n)
	for i := n / 2; i < n; i++ {
		labels[i] = 1
	}
	part, err := community.FromLabels(g, labels)
	if err != nil {
		t.Fatal(err)
	}
	l := laplacian.New(g, laplacian.Combinatorial)
	d, err := expm.New(t.Context(), l, 2, expm.Options{Method: expm.Chebyshev})
	if err != nil {
		t.Fatal(err)
	}
	w, err := (&Operator{Graph: g, Laplacian: l, Diffusion: d}).Whiten(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	rate := DefaultFaultRate
	return &analysis{Whitened: w, partition: part, opts: Options{Sources: OneOrTwo, FaultRate: &rate}, report: &report.Report{}}
}

// analyseFew analyses what neighbours on a path measured, the first of them more than any source
// makes.
func analyseFew(t *testing.T, n, sensors int) *report.Report {
	t.Helper()
	g, err := graph.Path(n)
	if err != nil {
		t.Fatal(err)
	}
	labels := make([]int, n)
	for i := n / 2; i < n; i++ {
		labels[i] = 1
	}
	part, err := community.FromLabels(g, labels)
	if err != nil {
		t.Fatal(err)
	}
	l := laplacian.New(g, laplacian.Combinatorial)
	d, err := expm.New(t.Context(), l, 2, expm.Options{Method: expm.Chebyshev})
	if err != nil {
		t.Fatal(err)
	}
	rate := DefaultFaultRate
	in := Measurements{Clip: &privacy.Interval{Lo: 0, Hi: 1}}
	for s := range sensors {
		in.Nodes, in.Values, in.Sigmas = append(in.Nodes, n/2+s), append(in.Values, .2), append(in.Sigmas, .05)
	}
	in.Values[0] = .9
	rep := &report.Report{}
	o := &Operator{Graph: g, Laplacian: l, Diffusion: d}
	if err := o.Analyse(t.Context(), in, detected(part), nil, Options{FaultRate: &rate}, rep); err != nil {
		t.Fatal(err)
	}
	return rep
}

// TestExtra: what a report can do without becomes a note where it fails, and ends nothing but for the end
// of the context.
func TestExtra(t *testing.T) {
	a := analysis{report: &report.Report{}}
	ctx, cancel := context.WithCancel(t.Context())
	wrong := errors.New("no number")
	if err := a.extra(ctx, "a figure", wrong); err != nil || len(a.report.Notes) != 1 || !strings.Contains(a.report.Notes[0], "a figure could not be computed") {
		t.Errorf("%v, notes %q", err, a.report.Notes)
	}
	if err := a.extra(ctx, "a figure", nil); err != nil || len(a.report.Notes) != 1 {
		t.Errorf("%v, notes %q", err, a.report.Notes)
	}
	cancel()
	if err := a.extra(ctx, "a figure", wrong); !errors.Is(err, wrong) || len(a.report.Notes) != 1 {
		t.Errorf("at the end of the context: %v, notes %q", err, a.report.Notes)
	}
}

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
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

// TestFewSensorsOfALargeGraph: up to the order up to which rows are held and beyond, what few sensors
// measured is analysed, where no source explains it too.
func TestFewSensorsOfALargeGraph(t *testing.T) {
	for _, n := range []int{DenseLimit, DenseLimit + 1} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			rep := analyseFew(t, n, 3)
			if len(rep.Communities) != 2 ||
				slices.ContainsFunc(rep.Notes, func(s string) bool { return strings.Contains(s, "left out: ") }) {
				t.Errorf("communities %v, notes %q", rep.Communities, rep.Notes)
			}
		})
	}
}

// TestOneSourceOfALargeGraph: beyond the order up to which rows are held one source is weighed, and the report says so.
func TestOneSourceOfALargeGraph(t *testing.T) {
	for n, noted := range map[int]bool{DenseLimit: false, DenseLimit + 1: true} {
		g := must.Get(graph.Path(n))(t)
		a := analysis{Whitened: &Whitened{op: &Operator{Graph: g}}, report: &report.Report{}}
		if why := a.onlyOne(); why != "" != noted {
			t.Errorf("%d nodes: %q", n, why)
		}
	}
}

// analyseFew analyses what neighbours on a path measured, the first of them more than any source
// makes.
func analyseFew(t *testing.T, n, sensors int) *report.Report {
	t.Helper()
	g := must.Get(graph.Path(n))(t)
	labels := make([]int, n)
	for i := n / 2; i < n; i++ {
		labels[i] = 1
	}
	part := must.Get(community.FromLabels(g, labels))(t)
	l := laplacian.New(g, laplacian.Combinatorial)
	d := must.Get(expm.New(t.Context(), l, 2, expm.Options{Method: expm.Chebyshev}))(t)
	rate := DefaultFaultRate
	in := Measurements{Clip: &privacy.Interval{Lo: 0, Hi: 1}}
	for s := range sensors {
		in.Nodes, in.Values, in.Sigmas = append(in.Nodes, n/2+s), append(in.Values, .2), append(in.Sigmas, .05)
	}
	in.Values[0] = .9
	rep := &report.Report{}
	o := &Operator{Graph: g, Laplacian: l, Diffusion: d}
	must.Do(t, o.Analyse(t.Context(), in, detected(part), nil, Options{FaultRate: &rate}, rep))
	return rep
}

// TestExtra: what a report can do without becomes a note where it fails, and ends nothing but for the end
// of the context.
func TestExtra(t *testing.T) {
	a := analysis{report: &report.Report{}}
	ctx, cancel := context.WithCancel(t.Context())
	wrong := errors.New("no number")
	if err := a.extra(ctx, "a figure", wrong); err != nil || len(a.report.Notes) != 1 ||
		!strings.Contains(a.report.Notes[0], "a figure could not be computed") {
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

func TestStalledSaysNoInfinity(t *testing.T) {
	for gap, want := range map[float64]string{.0002: "by a relative gap of up to 0.0002;", math.Inf(1): "nothing bounds how far"} {
		if text := stalled(gap); !strings.Contains(text, want) || strings.Contains(text, "Inf") {
			t.Errorf("gap %v: %s", gap, text)
		}
	}
}

// TestLearnt: what is hardly likelier than anything else is not named.
func TestLearnt(t *testing.T) {
	names := []string{"one", "two", "three", "four"}
	for _, c := range []struct {
		share []float64
		want  string
	}{
		{[]float64{.22, .28, .25, .25}, "hardly tell which"},
		{[]float64{.1, .2, .6, .1}, "three is the likeliest, with probability 60 %, which was 25 % before the measurements"},
		{[]float64{0, 0, 0, 1}, "four is the likeliest, with probability over 99 %"},
	} {
		if got := learnt(names, c.share); !strings.Contains(got, c.want) {
			t.Errorf("%v: %q, want %q", c.share, got, c.want)
		}
	}
}

// What was simulated for some noise does not serve for other noise in the same slice.
func TestSlicesAreReused(t *testing.T) {
	in := Measurements{Nodes: []int{2, 6, 10, 14, 18}, Values: []float64{.1, .4, .2, 0, 0}, Sigmas: []float64{.05, .05, .05, .05, .05}}
	one := community.Partition{Labels: make([]int, 20), Count: 1, Names: []string{"all"}}
	analyse := func(o *Operator) *report.Report {
		t.Helper()
		rep := &report.Report{}
		must.Do(t, o.Analyse(t.Context(), in, detected(one), nil, Options{}, rep))
		return rep
	}
	o := pathOperator(t, 20, 2)
	analyse(o)
	for k := range in.Sigmas {
		in.Sigmas[k] = .5
	}
	got, want := analyse(o), analyse(pathOperator(t, 20, 2))
	if got.Presence.PValue != want.Presence.PValue || got.Fit.PValue != want.Fit.PValue {
		t.Errorf("p-values %v and %v, want %v and %v", got.Presence.PValue, got.Fit.PValue, want.Presence.PValue, want.Fit.PValue)
	}
}

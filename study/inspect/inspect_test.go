// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testgraph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

func model(g *graph.Graph, tau float64) sensitivity.Model {
	return sensitivity.Model{Graph: g, Laplacian: laplacian.New(g, laplacian.Combinatorial), Tau: tau}
}

// On graphs with a known spectrum every number is the closed form's.
func TestClosedForms(t *testing.T) {
	const tau = .5
	for _, f := range testgraph.All() {
		n := f.Graph.Order()
		in, err := Inspect(t.Context(), model(f.Graph, tau), Options{})
		if err != nil {
			t.Fatal(f.Name, err)
		}
		near := func(what string, got, want float64) {
			if math.Abs(got-want) > 1e-10*max(1, math.Abs(want)) {
				t.Errorf("%s: %s is %v, want %v", f.Name, what, got, want)
			}
		}
		near("λ₂", *in.Lambda2, f.Eigenvalues[1])
		near("λ_max", in.LambdaMax, f.Eigenvalues[n-1])
		if e := in.EigenvalueError; math.Abs(*in.Lambda2-f.Eigenvalues[1]) > e || math.Abs(in.LambdaMax-f.Eigenvalues[n-1]) > e {
			t.Errorf("%s: eigenvalues are off by more than %v", f.Name, e)
		}
		rough, err := Inspect(t.Context(), model(f.Graph, tau), Options{exactNodes: 1})
		if err != nil {
			t.Fatal(f.Name, err)
		}
		if rough.Exact || rough.Lambda2 != nil || len(rough.Notes) == 0 || rough.LambdaMax < f.Eigenvalues[n-1]*(1-1e-12) {
			t.Errorf("%s: without all eigenpairs %+v", f.Name, rough)
		}
		near("log₁₀ κ₂", *in.Kappa2Log10, tau*f.Eigenvalues[n-1]/math.Ln10)
		decay := make([]float64, n)
		for i, l := range f.Eigenvalues {
			decay[i] = math.Exp(-tau * l)
		}
		near("effective rank", *in.EffectiveRank, effectiveRank(decay))
		if want := f.Squared(tau); in.Sensitivity.Lower*in.Sensitivity.Lower > want*(1+1e-9) ||
			in.Sensitivity.Upper*in.Sensitivity.Upper < want*(1-1e-9) {
			t.Errorf("%s: Δ₂² = %v is outside [%v, %v]²", f.Name, want, in.Sensitivity.Lower, in.Sensitivity.Upper)
		}
		if *in.MassError > 1e-12 || len(in.Bounds) != 5 {
			t.Errorf("%s: mass is off by %v, bounds %v", f.Name, *in.MassError, in.Bounds)
		}
		for _, b := range in.Bounds {
			if !b.Holds {
				t.Errorf("%s: %s fails: %v against [%v, %v]", f.Name, b.Statement, b.Value, in.Sensitivity.Lower, in.Sensitivity.Upper)
			}
		}
		if n <= leadingVectors {
			near("leverage of all vectors", in.Leverage.Top[0].Score, 1)
		}
	}
}

// κ₂, effective rank and coherence of some sensors and of a walk are those of the
// matrix that gonum exponentiates.
func TestAgainstMatrix(t *testing.T) {
	g, _, err := graph.SBM(40, 2, .4, .1, 1)
	must.Do(t, err)
	for _, c := range []struct {
		kind    laplacian.Kind
		sensors []int
	}{
		{laplacian.Combinatorial, nil},
		{laplacian.Normalized, nil},
		{laplacian.RandomWalk, nil},
		{laplacian.Combinatorial, []int{3, 7, 20, 21, 39}},
		{laplacian.RandomWalk, []int{0, 1, 30}},
	} {
		m := sensitivity.Model{Graph: g, Laplacian: laplacian.New(g, c.kind), Tau: .2, Sensors: c.sensors}
		in := must.Get(Inspect(t.Context(), m, Options{}))(t)
		a := exponential(m)
		var svd mat.SVD
		svd.Factorize(a, mat.SVDNone)
		values := svd.Values(nil)
		if want := math.Log10(values[0] / values[len(values)-1]); math.Abs(*in.Kappa2Log10-want) > 1e-6 {
			t.Errorf("%v, sensors %v: log₁₀ κ₂ = %v, want %v", c.kind, c.sensors, *in.Kappa2Log10, want)
		}
		if want := effectiveRank(values); math.Abs(*in.EffectiveRank-want) > 1e-8*want {
			t.Errorf("%v, sensors %v: effective rank %v, want %v", c.kind, c.sensors, *in.EffectiveRank, want)
		}
		best := 0.0
		for i := range g.Order() {
			for j := range i {
				x, y := mat.Col(nil, i, a), mat.Col(nil, j, a)
				best = max(best, floats.Dot(x, y)/(floats.Norm(x, 2)*floats.Norm(y, 2)))
			}
		}
		if math.Abs(in.Coherence.Value-best) > 1e-10 {
			t.Errorf("%v, sensors %v: coherence %v, want %v", c.kind, c.sensors, in.Coherence.Value, best)
		}
	}
}

// exponential returns M from the entries of L.
func exponential(m sensitivity.Model) *mat.Dense {
	x := testgraph.Exponential(m.Laplacian, m.Tau)
	if m.Sensors == nil {
		return x
	}
	a := mat.NewDense(len(m.Sensors), m.Graph.Order(), nil)
	for r, i := range m.Sensors {
		a.SetRow(r, x.RawRowView(i))
	}
	return a
}

func TestRefused(t *testing.T) {
	var b graph.Builder
	for _, id := range []graph.ID{"a", "b"} {
		must.Get(b.AddNode(id))(t)
	}
	g := must.Get(b.Graph())(t)
	if _, err := Inspect(t.Context(), model(g, 1), Options{}); !errors.Is(err, ErrEmpty) {
		t.Errorf("no relationship: %v", err)
	}
	g = must.Get(graph.Cycle(5))(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, exact := range []int{0, 1} {
		if _, err := Inspect(ctx, model(g, 1), Options{exactNodes: exact}); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	}
}

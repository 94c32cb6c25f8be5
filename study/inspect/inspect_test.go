// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/graph"
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
		near("λ₂", in.Lambda2, f.Eigenvalues[1])
		near("λ_max", in.LambdaMax, f.Eigenvalues[n-1])
		if *in.Lambda2Lower > f.Eigenvalues[1] || *in.Lambda2Upper < f.Eigenvalues[1] || in.LambdaMaxLower > f.Eigenvalues[n-1] ||
			in.LambdaMaxUpper < f.Eigenvalues[n-1] {
			t.Errorf("%s: eigenvalues are not within their bounds", f.Name)
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
		if *in.MassError > 1e-12 || len(in.Bounds) != 5 || len(in.Sensitivity.Why) != 3 {
			t.Errorf("%s: mass is off by %v, bounds %v, why %q", f.Name, *in.MassError, in.Bounds, in.Sensitivity.Why)
		}
		for _, b := range in.Bounds {
			if !b.Holds {
				t.Errorf("%s: %s fails: %v against [%v, %v]", f.Name, b.Statement, b.Value, in.Sensitivity.Lower, in.Sensitivity.Upper)
			}
		}
		if n <= leadingVectors {
			near("leverage of all vectors", in.Leverage.Top[0].Score, 1)
		}
		share := 0.0
		for _, b := range in.Density {
			share += b.Share
		}
		near("density", share, 1)
	}
}

// κ₂, effective rank and coherence of some sensors and of a walk are those of the
// matrix that gonum exponentiates.
func TestAgainstMatrix(t *testing.T) {
	g, _, err := graph.SBM(40, 2, .4, .1, 1)
	if err != nil {
		t.Fatal(err)
	}
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
		in, err := Inspect(t.Context(), m, Options{})
		if err != nil {
			t.Fatal(err)
		}
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
	n := m.Graph.Order()
	l := mat.NewDense(n, n, nil)
	e, col := make([]float64, n), make([]float64, n)
	for j := range n {
		clear(e)
		e[j] = -m.Tau
		m.Laplacian.MulVecTo(col, false, e)
		l.SetCol(j, col)
	}
	var x mat.Dense
	x.Exp(l)
	if m.Sensors == nil {
		return &x
	}
	a := mat.NewDense(len(m.Sensors), n, nil)
	for r, i := range m.Sensors {
		a.SetRow(r, x.RawRowView(i))
	}
	return a
}

// Without all eigenpairs bounds enclose, and estimates are near, what they give.
func TestRough(t *testing.T) {
	for _, kind := range []laplacian.Kind{laplacian.Combinatorial, laplacian.Normalized} {
		for _, generate := range []func() (*graph.Graph, error){
			func() (*graph.Graph, error) { g, _, err := graph.RoadLike(400, 1); return g, err },
			func() (*graph.Graph, error) { return graph.BarabasiAlbert(400, 2, 1) },
			func() (*graph.Graph, error) { g, _, err := graph.SBM(400, 2, .01, .001, 1); return g, err }, // with isolated nodes
		} {
			g, err := generate()
			if err != nil {
				t.Fatal(err)
			}
			m := sensitivity.Model{Graph: g, Laplacian: laplacian.New(g, kind), Tau: 1}
			exact, err := Inspect(t.Context(), m, Options{})
			if err != nil {
				t.Fatal(err)
			}
			rough, err := Inspect(t.Context(), m, Options{exactNodes: 1})
			if err != nil {
				t.Fatal(err)
			}
			if rough.Exact || rough.Coherence != nil || len(rough.Notes) == 0 {
				t.Errorf("rough: %+v", rough)
			}
			if rough.Lambda2 < exact.Lambda2*(1-1e-9) || rough.LambdaMaxUpper < exact.LambdaMax ||
				rough.LambdaMaxLower > exact.LambdaMax*(1+1e-9) {
				t.Errorf("λ₂ %v, λ_max in [%v, %v]; exactly %v and %v", rough.Lambda2, rough.LambdaMaxLower, rough.LambdaMaxUpper,
					exact.Lambda2, exact.LambdaMax)
			}
			if rough.LambdaMaxLower < .99*exact.LambdaMax {
				t.Errorf("largest Ritz value %v of %v", rough.LambdaMaxLower, exact.LambdaMax)
			}
			if *rough.Kappa2Log10 > *exact.Kappa2Log10*(1+1e-9) {
				t.Errorf("κ₂ 10^%v is no lower bound of 10^%v", *rough.Kappa2Log10, *exact.Kappa2Log10)
			}
			// Eight random signs at n = 400: relative errors of a trace are some 2 %.
			if r := *rough.EffectiveRank / *exact.EffectiveRank; r < .9 || r > 1.1 {
				t.Errorf("effective rank %v, exactly %v", *rough.EffectiveRank, *exact.EffectiveRank)
			}
		}
	}
}

// For small τ the worst relationship is where heat leaves slowest, for large τ where
// the slowest mode changes most.
func TestWhy(t *testing.T) {
	g, err := graph.Path(9)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tau  float64
		line int
		want string
	}{
		{.01, 0, "none of the 8 relationships let heat leave more slowly"},
		{50, 2, "changes more along none of the relationships"},
	} {
		in, err := Inspect(t.Context(), model(g, c.tau), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := in.Sensitivity.Why[c.line]; !strings.Contains(got, c.want) {
			t.Errorf("τ = %v: %q, want %q", c.tau, got, c.want)
		}
	}
}

func TestRefused(t *testing.T) {
	var b graph.Builder
	for _, id := range []graph.ID{"a", "b"} {
		if _, err := b.AddNode(id); err != nil {
			t.Fatal(err)
		}
	}
	g, err := b.Graph()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Inspect(t.Context(), model(g, 1), Options{}); !errors.Is(err, ErrEmpty) {
		t.Errorf("no relationship: %v", err)
	}
	if g, err = graph.Cycle(5); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, exact := range []int{0, 1} {
		if _, err := Inspect(ctx, model(g, 1), Options{exactNodes: exact}); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	}
}

// The first line is about the operator that is used: for small τ no relationship lets
// heat leave more slowly than the worst, or none has more ends with sensors.
func TestWhyOfEveryKind(t *testing.T) {
	g, err := graph.BarabasiAlbert(30, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []laplacian.Kind{laplacian.Combinatorial, laplacian.Normalized, laplacian.RandomWalk} {
		in, err := Inspect(t.Context(), sensitivity.Model{Graph: g, Laplacian: laplacian.New(g, kind), Tau: 1e-4}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := in.Sensitivity.Why[0]; !strings.Contains(got, ": none of the") {
			t.Errorf("%v: %q", kind, got)
		}
	}
	m := model(g, 1e-4)
	e := g.Neighbors(0)[0]
	m.Sensors = []int{0, int(e)}
	in, err := Inspect(t.Context(), m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := in.Sensitivity.Why; len(got) != 1 || !strings.HasPrefix(got[0], "2 of its ends carry a sensor: none of the") {
		t.Errorf("two sensors: %q", got)
	}
}

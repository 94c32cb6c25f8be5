// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

// blocks returns a block model, its communities and operator, and M.
func blocks(t *testing.T, n, k int, kind laplacian.Kind, tau float64) (sensitivity.Model, *expm.Diffusion, []int, *mat.Dense) {
	t.Helper()
	size := float64(n) / float64(k)
	g, labels, err := graph.SBM(n, k, 5/size, .5/(float64(n)-size), 5)
	must.Do(t, err)
	l := laplacian.New(g, kind)
	d := must.Get(expm.New(t.Context(), l, tau, expm.Options{Method: expm.Chebyshev}))(t)
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	rows := must.Get(d.Rows(t.Context(), all))(t)
	return sensitivity.Model{Graph: g, Laplacian: l, Tau: tau, Alpha: 1.5}, d, labels, rows
}

func newTestEnergy(t *testing.T, m sensitivity.Model, d Diffusion, labels []int, opts Options) *energy {
	t.Helper()
	opts.Noise = noise
	p, sensors := unread(t, m, d, labels, Energy, opts)
	return p.newEnergy(d, sensors)
}

// The mean of many estimates is what they estimate: constraints, energies against the drawn
// rivals, gradient and prices, for an M that is not symmetric and a prior that is not flat.
func TestEstimatesAreUnbiased(t *testing.T) {
	const n, many = 60, 400
	m, d, labels, rows := blocks(t, n, 3, laplacian.RandomWalk, .5)
	m.Sensors = []int{2, 7, 11, 19, 30, 41, 42, 55}
	prior := make([]float64, n)
	for i := range prior {
		prior[i] = 1 + float64(i%4)
	}
	s := newTestEnergy(t, m, d, labels, Options{Prior: prior})
	u, y := make([]float64, len(m.Sensors)), make([]float64, len(s.edges))
	for k := range u {
		u[k] = 1 + float64(k)
	}
	for j := range y {
		y[j] = float64(1 + j%5)
	}
	at := make([]float64, n) // energies of the gradient
	for i := range at {
		at[i] = float64(i % 7)
	}
	constraints, energies := make([]float64, len(s.edges)), make([]float64, n)
	gradient, prices := make([]float64, len(u)), make([]float64, len(u))
	wantEnergies, wantGradient := make([]float64, n), make([]float64, len(u))
	for r := range many {
		f := 1 / float64(r+1)
		drawn := s.drawRivals()
		s.project(u)
		s.addConstraints(constraints, f)
		s.addEnergies(energies, drawn, f)
		slope, price := s.slopes(at, drawn, y)
		floats.AddScaled(gradient, 1./many, slope)
		floats.AddScaled(prices, 1./many, price)
		e, g := exactEnergies(s, rows, u, at, drawn)
		floats.AddScaled(wantEnergies, 1./many, e)
		floats.AddScaled(wantGradient, 1./many, g)
	}
	wantConstraints, wantPrices := make([]float64, len(s.edges)), make([]float64, len(u))
	for j, e := range s.edges {
		for k, i := range m.Sensors {
			x := rows.At(i, int(e.u)) - rows.At(i, int(e.v))
			wantConstraints[j] += e.scale * x * x * u[k]
			wantPrices[k] += y[j] * e.scale * x * x
		}
	}
	for name, pair := range map[string][2][]float64{
		"constraints": {constraints, wantConstraints}, "energies": {energies, wantEnergies},
		"gradient": {gradient, wantGradient}, "prices": {prices, wantPrices},
	} {
		for i, want := range pair[1] {
			if got := pair[0][i]; math.Abs(got-want) > .12*want {
				t.Errorf("%s[%d] = %v, want %v", name, i, got, want)
			}
		}
	}
}

// exactEnergies returns E at u, and the gradient at energies e, by the rows of M.
func exactEnergies(s *energy, rows *mat.Dense, u, e []float64, drawn [][]int) (energies, gradient []float64) {
	energies, gradient = make([]float64, len(e)), make([]float64, len(u))
	square := s.p.opts.Noise * s.p.opts.Noise
	for k, sensor := range s.sensors {
		mean := make([]float64, s.p.count)
		for i, a := range s.p.labels {
			mean[a] += s.p.prior[i] * rows.At(sensor, i) / s.share[a]
		}
		for i, a := range s.p.labels {
			_, slope := confusion(e[i], s.odds[i])
			for _, b := range drawn[a] {
				x := rows.At(sensor, i) - mean[b]
				energies[i] += u[k] * x * x / (width * square)
				gradient[k] += s.p.prior[i] * slope * x * x / (width * square)
			}
		}
	}
	return energies, gradient
}

// φ' is the derivative of φ, φ(0) = ln(1 + K), and nothing is left of it at a large energy.
func TestConfusion(t *testing.T) {
	for _, odds := range []float64{0, 1, 5, 10} {
		if v, _ := confusion(0, odds); math.Abs(v-math.Log1p(math.Exp(odds))) > 1e-12 {
			t.Errorf("φ(0) = %v against e^%v rivals", v, odds)
		}
		for _, e := range []float64{.3, 2, 10, 40} {
			const h = 1e-4
			above, _ := confusion(e+h, odds)
			below, _ := confusion(e-h, odds)
			if _, slope := confusion(e, odds); math.Abs(slope+(above-below)/(2*h)) > 1e-3 {
				t.Errorf("slope %v at %v, odds %v; differences give %v", slope, e, odds, (below-above)/(2*h))
			}
		}
		if v, slope := confusion(400, odds); v > 1e-6 || slope > 1e-6 {
			t.Errorf("φ(400) = %v, slope %v", v, slope)
		}
	}
}

// On a graph small enough for rows the search finds half of what the search with rows finds in
// simulated loss, and its certificate is near 1.
func TestEnergyIsNearInformation(t *testing.T) {
	m, d, labels, _ := blocks(t, 300, 10, laplacian.Combinatorial, 2)
	opts := Options{Noise: noise}
	r := must.Get(optimizeAs(t, m, d, labels, Energy, opts))(t)
	b, err := sensitivity.Bound(t.Context(), m, r.Weights, sensitivity.Options{})
	if err != nil || b.Lower < .8 || b.Upper > 1.4 {
		t.Fatalf("certificate [%v, %v] %v, want about 1", b.Lower, b.Upper, err)
	}
	p, sensors := unread(t, m, d, labels, Information, opts)
	byRows := must.Get(p.optimize(d, sensors))(t)
	c := p.newChannel()
	loss := func(u []float64) float64 {
		p.normalise(u)
		return c.evaluate(u, false).loss
	}
	mine, exact, equal := loss(slices.Clone(r.Weights)), loss(byRows.Weights), loss(p.equalWeights(p.cap))
	if mine > exact+.5*(equal-exact) || r.Objective != Energy {
		t.Errorf("%s: log loss %v, with rows %v, equal noise %v", r.Objective, mine, exact, equal)
	}
}

func TestEnergyLimits(t *testing.T) {
	m, d, labels, _ := blocks(t, 120, 3, laplacian.Combinatorial, 1)
	opts := Options{Noise: noise, MaxSensors: 20}
	if few, err := optimizeAs(t, m, d, labels, Energy, opts); err != nil || reporting(few.Weights) > 20 {
		t.Errorf("%v sensors report, want at most 20: %v", few, err)
	}
	opts.Worlds = []Diffusion{d}
	if _, err := optimizeAs(t, m, d, labels, Energy, opts); !errors.Is(err, ErrInvalid) {
		t.Errorf("another operator: %v", err)
	}
	p, sensors := unread(t, m, d, labels, Energy, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.ctx = ctx
	if _, err := p.optimize(d, sensors); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// The search has the same bits at any number of workers.
func TestEnergyBits(t *testing.T) {
	m, d, labels, _ := blocks(t, 600, 4, laplacian.Combinatorial, 1)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := must.Get(optimizeAs(t, m, d, labels, Energy, Options{Noise: noise}))(t)
	runtime.GOMAXPROCS(3)
	three, err := optimizeAs(t, m, d, labels, Energy, Options{Noise: noise})
	if err != nil || !slices.Equal(one.Weights, three.Weights) {
		t.Errorf("other bits with three workers: %v", err)
	}
}

// A search that has lost the edges of half of the graph gives weights under which these are
// told apart too well; the certificate says so.
func TestEnergyWithoutEdgesIsCaught(t *testing.T) {
	m, d, labels, _ := blocks(t, 200, 4, laplacian.Combinatorial, .5)
	p, sensors := unread(t, m, d, labels, Energy, Options{Noise: noise})
	s := p.newSearch(d, sensors, 1/p.equalPeak(d, sensors))
	s.edges = slices.DeleteFunc(s.edges, func(e edge) bool { return e.u < 100 })
	s.constraints = s.constraints[:len(s.edges)]
	s.run(mostRounds)
	b, err := sensitivity.Bound(t.Context(), m, s.u, sensitivity.Options{})
	if err != nil || b.Lower < 2 {
		t.Errorf("certificate [%v, %v] %v, want well above 1", b.Lower, b.Upper, err)
	}
}

// Norms that are alike but for a thousandth are estimated to a fraction of their differences.
func TestHalfNorms(t *testing.T) {
	m, d, labels, rows := blocks(t, 200, 4, laplacian.Combinatorial, 4)
	p, sensors := unread(t, m, d, labels, Energy, Options{Noise: 1})
	half := p.newComparison(d, sensors, budget{trials: 1, probes: 64}).halfNorms(ones(len(sensors)))
	mean := 0.0
	exact := make([]float64, len(half))
	for i := range exact {
		x := mat.Col(nil, i, rows)
		exact[i] = floats.Dot(x, x) / 2
		mean += exact[i] / float64(len(exact))
	}
	for i, want := range exact {
		if math.Abs(half[i]-want) > .25*math.Abs(want-1./400) {
			t.Errorf("node %d: %v, want %v", i, half[i], want)
		}
	}
}

// Where a product takes seconds no search is started.
func TestTooMuchWork(t *testing.T) {
	g := must.Get(graph.Grid(300, 300))(t)
	p := &problem{model: sensitivity.Model{Graph: g, Laplacian: laplacian.New(g, laplacian.Combinatorial), Tau: 1e6}}
	if _, err := p.affordable(); !errors.Is(err, ErrWork) {
		t.Errorf("affordable: %v", err)
	}
	p.model.Tau = 1
	if b, err := p.affordable(); err != nil || b.rounds != mostRounds {
		t.Errorf("%+v, %v", b, err)
	}
}

// The objective is that of the order and the number of communities.
func TestObjective(t *testing.T) {
	for _, c := range []struct {
		n, communities int
		want           Objective
	}{{RowsLimit, 1, Location}, {RowsLimit, 2, Information}, {RowsLimit + 1, 1, Energy}, {RowsLimit + 1, 2, Energy}} {
		g := must.Get(graph.Path(c.n))(t)
		m, d := model(t, g, laplacian.Combinatorial, 1)
		labels := make([]int, c.n)
		labels[0] = c.communities - 1
		p, _, err := newUnread(t.Context(), m, d, labels, Options{})
		if err != nil || p.objective != c.want {
			t.Errorf("%d nodes, %d communities: %v, want %v: %v", c.n, c.communities, p.objective, c.want, err)
		}
	}
}

// A draft without rows is right more often than equal noise, and no more often than the allocation that is drafted with
// all of its rounds, and the same at any number of workers.
func TestDraftOfEnergy(t *testing.T) {
	m, d, labels, _ := blocks(t, 400, 4, laplacian.Combinatorial, 1)
	opts := Options{Noise: noise}
	draft := func(d Diffusion, opts Options) (Sketch, error) {
		p, sensors := unread(t, m, d, labels, Energy, opts)
		return p.draft(d, sensors)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	rough := must.Get(draft(d, opts))(t)
	runtime.GOMAXPROCS(3)
	again, err := draft(d, opts)
	if err != nil || again.Accuracy != rough.Accuracy || again.Loss != rough.Loss {
		t.Errorf("three workers: %v, %v, one: %v, %v; %v", again.Accuracy, again.Loss, rough.Accuracy, rough.Loss, err)
	}
	equal := must.Get(Equal(t.Context(), m, d, labels, opts))(t)
	best := must.Get(optimizeAs(t, m, d, labels, Energy, opts))(t)
	p, sensors := unread(t, m, d, labels, Energy, opts)
	scale := make([]float64, len(sensors))
	for s, u := range best.Weights {
		scale[s] = math.Sqrt(u) / noise
	}
	full := p.simulate(d, sensors, scale)
	if !(rough.Accuracy > equal.Accuracy+.03) || !(full.Accuracy > rough.Accuracy-.03) || rough.Sensitivity != equal.Sensitivity {
		t.Errorf("draft %v, equal noise %v, allocated %v; sensitivity %v, %v", rough.Accuracy, equal.Accuracy, full.Accuracy,
			rough.Sensitivity, equal.Sensitivity)
	}
	few := opts
	few.MaxSensors = 3
	if s, err := draft(d, few); err != nil || !(s.Accuracy < rough.Accuracy) {
		t.Errorf("three sensors are right in %v, all %v; %v", s.Accuracy, rough.Accuracy, err)
	}
	if _, err := draft(silent{d}, opts); !errors.Is(err, ErrNothing) {
		t.Errorf("sensors that read nothing: %v", err)
	}
}

// silent is an operator whose products are 0.
type silent struct{ Diffusion }

func (s silent) MulVecTo(dst []float64, _ bool, _ []float64) { clear(dst) }

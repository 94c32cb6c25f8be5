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
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

const testNoise = .4855 // r at ε = 4, δ = 0.1

// blocks returns a block model, its communities and operator, and M.
func blocks(t *testing.T, n, k int, kind laplacian.Kind, tau float64) (sensitivity.Model, *expm.Diffusion, []int, *mat.Dense) {
	t.Helper()
	size := float64(n) / float64(k)
	g, labels, err := graph.SBM(n, k, 5/size, .5/(float64(n)-size), 5)
	if err != nil {
		t.Fatal(err)
	}
	l := laplacian.New(g, kind)
	d, err := expm.New(t.Context(), l, tau, expm.Options{Method: expm.Chebyshev})
	if err != nil {
		t.Fatal(err)
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	rows, err := d.Rows(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	return sensitivity.Model{Graph: g, Laplacian: l, Tau: tau, Alpha: 1.5}, d, labels, rows
}

func newTestEnergy(t *testing.T, m sensitivity.Model, d Diffusion, labels []int, opts Options) *energy {
	t.Helper()
	opts.Objective, opts.Noise = Energy, testNoise
	p, sensors, err := newUnread(t.Context(), m, d, labels, opts)
	if err != nil {
		t.Fatal(err)
	}
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
		s.hear(u)
		s.addConstraints(constraints, f)
		s.addEnergies(energies, drawn, f)
		told, given := s.slopes(at, drawn, y)
		floats.AddScaled(gradient, 1./many, told)
		floats.AddScaled(prices, 1./many, given)
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
	noise := s.p.opts.Noise * s.p.opts.Noise
	for k, sensor := range s.sensors {
		mean := make([]float64, s.p.count)
		for i, a := range s.p.labels {
			mean[a] += s.p.prior[i] * rows.At(sensor, i) / s.share[a]
		}
		for i, a := range s.p.labels {
			_, slope := confusion(e[i], s.odds[i])
			for _, b := range drawn[a] {
				x := rows.At(sensor, i) - mean[b]
				energies[i] += u[k] * x * x / (width * noise)
				gradient[k] += s.p.prior[i] * slope * x * x / (width * noise)
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
	opts := Options{Objective: Energy, Noise: testNoise}
	r, err := Optimize(t.Context(), m, d, labels, opts)
	if err != nil {
		t.Fatal(err)
	}
	b, err := sensitivity.Bound(t.Context(), m, r.Weights, sensitivity.Options{})
	if err != nil || b.Lower < .8 || b.Upper > 1.4 {
		t.Fatalf("certificate [%v, %v] %v, want about 1", b.Lower, b.Upper, err)
	}
	opts.Objective = Information
	exact, err := Optimize(t.Context(), m, d, labels, opts)
	if err != nil {
		t.Fatal(err)
	}
	p, err := newProblem(t.Context(), m, d, labels, opts)
	if err != nil {
		t.Fatal(err)
	}
	c := p.newChannel()
	u := slices.Clone(r.Weights)
	p.normalise(u)
	mine, equal := c.evaluate(u, false).loss, c.evaluate(p.equalWeights(p.cap), false).loss
	if mine > exact.Value+.5*(equal-exact.Value) {
		t.Errorf("log loss %v, with rows %v, equal noise %v", mine, exact.Value, equal)
	}
	if r.Objective != Energy || r.Reporting != reporting(r.Weights) {
		t.Errorf("objective %s, %d report", r.Objective, r.Reporting)
	}
}

func TestEnergyLimits(t *testing.T) {
	m, d, labels, _ := blocks(t, 120, 3, laplacian.Combinatorial, 1)
	opts := Options{Objective: Energy, Noise: testNoise, MaxSensors: 20}
	few, err := Optimize(t.Context(), m, d, labels, opts)
	if err != nil || few.Reporting > 20 {
		t.Errorf("%v sensors report, want at most 20: %v", few, err)
	}
	opts.MaxSensors, opts.Candidates = 0, []int{3, 1, 60, 50, 100, 80, 90, 30}
	some, err := Optimize(t.Context(), m, d, labels, opts)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range some.Weights {
		if v > 0 && !slices.Contains(opts.Candidates, k) {
			t.Errorf("sensor %d reports and is no candidate", k)
		}
	}
	opts.Worlds = []Diffusion{d}
	if _, err := Optimize(t.Context(), m, d, labels, opts); !errors.Is(err, ErrInvalid) {
		t.Errorf("another operator: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Optimize(ctx, m, d, labels, Options{Objective: Energy}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// The search has the same bits at any number of workers.
func TestEnergyBits(t *testing.T) {
	m, d, labels, _ := blocks(t, 600, 4, laplacian.Combinatorial, 1)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	opts := Options{Objective: Energy, Noise: testNoise}
	one, err := Optimize(t.Context(), m, d, labels, opts)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GOMAXPROCS(3)
	three, err := Optimize(t.Context(), m, d, labels, opts)
	if err != nil || !slices.Equal(one.Weights, three.Weights) {
		t.Errorf("other bits with three workers: %v", err)
	}
}

// A search that has lost the edges of half of the graph gives weights under which these are
// told apart too well; the certificate says so.
func TestEnergyWithoutEdgesIsCaught(t *testing.T) {
	m, d, labels, _ := blocks(t, 200, 4, laplacian.Combinatorial, .5)
	p, sensors, err := newUnread(t.Context(), m, d, labels, Options{Objective: Energy, Noise: testNoise})
	if err != nil {
		t.Fatal(err)
	}
	s := p.newSearch(d, sensors, 1/p.equalPeak(d, sensors))
	s.edges = slices.DeleteFunc(s.edges, func(e edge) bool { return e.u < 100 })
	s.constraints = s.constraints[:len(s.edges)]
	s.run(mostRounds)
	b, err := sensitivity.Bound(t.Context(), m, s.u, sensitivity.Options{})
	if err != nil || b.Lower < 2 {
		t.Errorf("certificate [%v, %v] %v, want well above 1", b.Lower, b.Upper, err)
	}
}

// Equal noise is told from an allocation that is worse, and from itself.
func TestCompare(t *testing.T) {
	m, d, labels, _ := blocks(t, 200, 4, laplacian.Combinatorial, 1)
	p, sensors, err := newUnread(t.Context(), m, d, labels, Options{Objective: Energy, Noise: testNoise})
	if err != nil {
		t.Fatal(err)
	}
	equal := 1 / p.equalPeak(d, sensors)
	u := ones(len(sensors))
	floats.Scale(equal, u)
	b := budget{trials: 4, probes: 8}
	if _, err := p.compare(d, sensors, u, equal, b); !errors.Is(err, ErrNothing) {
		t.Errorf("equal noise is no better than itself: %v", err)
	}
	floats.Scale(.1, u)
	if _, err := p.compare(d, sensors, u, equal, b); !errors.Is(err, ErrNothing) {
		t.Errorf("ten times the noise is no better: %v", err)
	}
	floats.Scale(100, u)
	if _, err := p.compare(d, sensors, u, equal, b); err != nil {
		t.Errorf("a tenth of the noise is better: %v", err)
	}
}

// Norms that are alike but for a thousandth are estimated to a fraction of their differences.
func TestHalfNorms(t *testing.T) {
	m, d, labels, rows := blocks(t, 200, 4, laplacian.Combinatorial, 4)
	p, sensors, err := newUnread(t.Context(), m, d, labels, Options{Objective: Energy, Noise: 1})
	if err != nil {
		t.Fatal(err)
	}
	j := p.newJury(d, sensors, budget{trials: 1, probes: 64})
	half := j.halfNorms(p.newWitness(ones(len(sensors)), false))
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
	g, err := graph.Grid(300, 300)
	if err != nil {
		t.Fatal(err)
	}
	p := &problem{model: sensitivity.Model{Graph: g, Laplacian: laplacian.New(g, laplacian.Combinatorial), Tau: 1e6}}
	if _, err := p.affordable(); !errors.Is(err, ErrWork) {
		t.Errorf("affordable: %v", err)
	}
	p.model.Tau = 1
	if b, err := p.affordable(); err != nil || b.rounds != mostRounds {
		t.Errorf("%+v, %v", b, err)
	}
}

// Auto keeps no rows above 10,000 nodes, whatever the number of communities.
func TestAutoAboveRows(t *testing.T) {
	for _, n := range []int{RowsLimit, RowsLimit + 1} {
		g, err := graph.Path(n)
		if err != nil {
			t.Fatal(err)
		}
		l := laplacian.New(g, laplacian.Combinatorial)
		d, err := expm.New(t.Context(), l, 1, expm.Options{})
		if err != nil {
			t.Fatal(err)
		}
		labels := make([]int, n)
		labels[0] = 1
		p, _, err := newUnread(t.Context(), sensitivity.Model{Graph: g, Laplacian: l, Tau: 1}, d, labels, Options{})
		if want := []Objective{Information, Energy}[n-RowsLimit]; err != nil || p.opts.Objective != want {
			t.Errorf("%d nodes: %v, %v", n, p, err)
		}
	}
}

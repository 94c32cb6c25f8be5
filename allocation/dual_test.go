// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/sensitivity"
)

// unlocal is an operator without balls.
type unlocal struct{ Diffusion }

// newTestDual returns the bound of a grid of four communities at a random dual point and random
// energies, with M. Some nodes carry no sensor, and the prior is not flat.
func newTestDual(t *testing.T, known bool) (*dual, *mat.Dense) {
	t.Helper()
	g, err := graph.Grid(12, 12)
	if err != nil {
		t.Fatal(err)
	}
	m := sensitivity.Model{Graph: g, Laplacian: laplacian.New(g, laplacian.Combinatorial), Tau: .5, Alpha: 1.5}
	d, err := expm.New(t.Context(), m.Laplacian, m.Tau, expm.Options{Method: expm.Chebyshev})
	if err != nil {
		t.Fatal(err)
	}
	labels, prior := make([]int, g.Order()), make([]float64, g.Order())
	for i := range labels {
		labels[i], prior[i] = i/72*2+i%12/6, float64(1+i%3)
		if i%7 != 0 {
			m.Sensors = append(m.Sensors, i)
		}
	}
	p, sensors, err := newUnread(t.Context(), m, d, labels, Options{Objective: Energy, Noise: testNoise, Prior: prior})
	if err != nil {
		t.Fatal(err)
	}
	s := p.newSearch(d, sensors, 1/p.equalPeak(d, sensors))
	if !known {
		s.m = unlocal{d}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for j := range s.dual {
		s.dual[j] = random.Float64()
	}
	floats.Scale(1/floats.Sum(s.dual), s.dual)
	for i := range s.energies {
		s.energies[i] = 8 * random.Float64()
	}
	all := make([]int, g.Order())
	for i := range all {
		all[i] = i
	}
	rows, err := d.Rows(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	return s.newDual(), rows
}

// exactly returns E of every node and unit of u_s, as the mean over its rivals, and D_es².
func exactly(d *dual, rows *mat.Dense) (told, constraints *mat.Dense) {
	n := len(d.energies)
	told, constraints = mat.NewDense(n, len(d.sensors), nil), mat.NewDense(len(d.edges), len(d.sensors), nil)
	for k, s := range d.sensors {
		mean := make([]float64, d.p.count)
		for i, a := range d.p.labels {
			mean[a] += d.p.prior[i] * rows.At(s, i) / d.share[a]
		}
		for i, a := range d.p.labels {
			r, before, sum := d.rivals[a], 0.0, 0.0
			for z, b := range r.communities {
				x := rows.At(s, i) - mean[b]
				sum += (r.shares[z] - before) * x * x
				before = r.shares[z]
			}
			told.Set(i, k, sum/before/(d.p.opts.Noise*d.p.opts.Noise))
		}
		for j, e := range d.edges {
			x := rows.At(s, int(e.u)) - rows.At(s, int(e.v))
			constraints.Set(j, k, e.scale*x*x)
		}
	}
	return told, constraints
}

// What balls and what products say of the rows is what the rows say: w and h from above, q from
// below, by no more than their tolerance.
func TestFormsOfRows(t *testing.T) {
	for _, known := range []bool{true, false} {
		d, rows := newTestDual(t, known)
		told, constraints := exactly(d, rows)
		ok, err := d.local()
		if err != nil || ok != known {
			t.Fatalf("local: %v, %v; want %v", ok, err, known)
		}
		order := d.chosen
		if !known {
			d.reserve(len(order))
			d.take(order)
		}
		for at, k := range order {
			q := mat.Dot(mat.NewVecDense(len(d.dual), d.dual), constraints.ColView(k))
			h := min(d.most[k], 1/mat.Max(constraints.ColView(k)))
			if d.q[at] > q || d.q[at] < .95*q || d.h[at] < h || d.h[at] > 1.05*h {
				t.Errorf("sensor %d: q %v, want %v; h %v, want %v", k, d.q[at], q, d.h[at], h)
			}
			for z, f := range stretches {
				w := 0.0
				for i, e := range d.energies {
					_, slope := quadrature(f*e, d.odds[i], fineStep)
					w += d.p.prior[i] * slope * told.At(i, k)
				}
				if d.w[z][at] < w || d.w[z][at] > 1.05*w {
					t.Errorf("sensor %d, stretch %v: w %v, want %v", k, f, d.w[z][at], w)
				}
			}
		}
	}
}

// finely returns F at energies e.
func finely(d *dual, e []float64) float64 {
	return (&losses{prior: d.p.prior, odds: d.odds, energies: e}).at(1)
}

// No weights that satisfy all constraints have less F than the bound, and those that are bounded have no
// more than their value, which is near.
func TestDualBounds(t *testing.T) {
	d, rows := newTestDual(t, true)
	told, constraints := exactly(d, rows)
	random := rand.New(rand.NewPCG(3, 4))
	u, c, e := make([]float64, len(d.sensors)), make([]float64, len(d.edges)), make([]float64, len(d.energies))
	least := math.Inf(1)
	for range 20 {
		for k := range u {
			u[k] = min(math.Exp(3*random.NormFloat64()), 1e3)
		}
		mat.NewVecDense(len(c), c).MulVec(constraints, mat.NewVecDense(len(u), u))
		floats.Scale(1/slices.Max(c), u)
		mat.NewVecDense(len(e), e).MulVec(told, mat.NewVecDense(len(u), u))
		least = min(least, finely(d, e))
		copy(d.energies, e)
		copy(d.u, u)
		r := Result{Objective: Energy}
		if err := d.boundBelow(&r); err != nil {
			t.Fatal(err)
		}
		if !r.Proven || r.Limit > least || r.Limit > r.Value || r.Gap < 0 || r.Gap > 1 {
			t.Fatalf("value %v, limit %v, gap %v; weights that were tried have %v", r.Value, r.Limit, r.Gap, least)
		}
		if f := finely(d, e); r.Value < f || r.Value > f+.01 {
			t.Fatalf("value %v, want %v", r.Value, f)
		}
	}
}

// The knapsack by hand: the second is taken whole, the first in part, what costs nothing whole, and
// what tells nothing not at all.
func TestKnapsack(t *testing.T) {
	w, q, h := []float64{2, 9, 1, 0}, []float64{1, 3, 0, 0}, []float64{5, .2, 4, 1}
	if v := knapsack(w, q, h, ones(4)); math.Abs(v-(4+1.8+.4*2)) > 1e-12 {
		t.Errorf("%v", v)
	}
	if v := knapsack(w, q, h, []float64{1, 2, 1, 1}); math.Abs(v-(4+3)) > 1e-12 {
		t.Errorf("%v where the second stands for two", v)
	}
}

// What noise leaves of the weights is what the gap is of. By rows of all sensors it is proven, from balls or
// from products; the linear objectives are linear.
func TestGapAt(t *testing.T) {
	for _, known := range []bool{true, false} {
		d, rows := newTestDual(t, known)
		told, _ := exactly(d, rows)
		mat.NewVecDense(len(d.energies), d.energies).MulVec(told, mat.NewVecDense(len(d.u), d.u))
		r := &Result{Objective: Energy}
		if err := d.boundBelow(r); err != nil {
			t.Fatal(err)
		}
		e := slices.Clone(d.energies)
		floats.Scale(.25, e)
		got, proven := r.GapAt(.25)
		want := (finely(d, e) - r.Limit) / (finely(d, make([]float64, len(e))) - r.Limit)
		if got < want-1e-12 || got > want+.01 || got < r.Gap+.05 || !proven {
			t.Errorf("gap %v, proven %v, want %v after %v", got, proven, want, r.Gap)
		}
		if r.losses = d.estimated(); known {
			continue
		}
		if _, proven := r.GapAt(.25); proven {
			t.Error("a gap by energies that are estimated is called proven")
		}
	}
	for _, c := range []struct {
		o           Objective
		share, want float64
		proven      bool
	}{
		{Separation, .5, .55, true},
		{MaxMin, 1, .1, true},
		{Location, 1.2, 0, true},
		{Bound, .99, .1, false},
		{Bound, .97, math.NaN(), false},
		{Information, .99, .1, false},
		{Information, .97, math.NaN(), false},
	} {
		r := &Result{Objective: c.o, Gap: .1, Proven: c.o != Information}
		got, proven := r.GapAt(c.share)
		if !(math.Abs(got-c.want) < 1e-12) && !(math.IsNaN(got) && math.IsNaN(c.want)) || proven != c.proven {
			t.Errorf("%s at %v: %v, %v", c.o, c.share, got, proven)
		}
	}
}

// Where next to nothing can be told, the gap is of F without measurements from below, whatever the quadrature is off by.
func TestGapOfLittle(t *testing.T) {
	f := &losses{prior: []float64{1}, odds: []float64{1}, energies: []float64{4e-10}}
	f.blank = f.at(0)
	value, _ := quadrature(4e-10, 1, fineStep)
	blank, _ := quadrature(0, 1, fineStep)
	r := &Result{Objective: Energy, Limit: blank - 2e-10, losses: f}
	got, _ := r.GapAt(1)
	if want := (value + lossError - r.Limit) / (blank - lossError - r.Limit); got < want-1e-5 || got > .7 {
		t.Errorf("gap %v, want %v", got, want)
	}
}

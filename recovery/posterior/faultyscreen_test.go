// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// TestScreenBounds: the exact evidence of every node is between the bounds of the screen, where more
// measurements are broken than it keeps, and norms are bounded.
func TestScreenBounds(t *testing.T) {
	const m, n = 150, 40
	rnd := rand.New(rand.NewPCG(41, 1))
	for _, scale := range []float64{.1, .5, 2} {
		a := mat.NewDense(m, n, nil)
		y := make([]float64, m)
		faults := Faults{Rate: .02, Low: make([]float64, m), High: make([]float64, m)}
		for s := range m {
			for i := range n {
				a.Set(s, i, scale*math.Pow(rnd.Float64(), 3))
			}
			y[s], faults.High[s] = a.At(s, 7)+rnd.NormFloat64(), 12
			if s%2 == 1 {
				y[s] = 12*rnd.Float64() + rnd.NormFloat64()
			}
		}
		d := measurement.Data{A: linop.Dense{M: a}, Y: y}
		f := must.Get(prepareFaulty(t.Context(), d, Options{Faults: faults}))(t)
		norms := f.norms
		norms.Low, norms.High = make([]float64, n), make([]float64, n)
		for i, v := range norms.N { // estimated: the bounds hold v, the estimate is off, either way
			norms.Low[i], norms.N[i], norms.High[i] = .9*v, []float64{.95, 2}[i%2]*v, 2*v
		}
		s := must.Get(f.newScreen(t.Context(), norms))(t)
		x := make([]float64, m)
		var c column
		for i := range n {
			mat.Col(x, i, a)
			f.column(nil, x, &c)
			exact := c.log(math.Inf(-1))
			low, estimate, high := s.bounds(i, &c)
			if !(low <= exact+1e-9 && exact <= high+1e-9 && low <= estimate && estimate <= high) {
				t.Errorf("scale %v, node %d: the evidence %v is not within %v, %v, %v", scale, i, exact, low, estimate, high)
			}
		}
	}
}

// TestSlopeOfColumn: slope is the derivative of value, for sensors that read once and twice, and where entries are faint.
func TestSlopeOfColumn(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 1))
	y, x := make([]float64, 12), make([]float64, 12)
	for s := range y {
		y[s], x[s] = 3*rnd.NormFloat64(), 2*rnd.Float64()
		if s >= 8 {
			x[s] *= 1e-5
		}
	}
	f := Faults{Rate: .1, Sensors: []int{0, 1, 1, 2, 3, 3, 3, 4, 5, 6, 6, 7}}
	var c column
	newFaultyEvidence(y, f, MixedAmplitude).column(nil, x, &c)
	if len(c.moved) != 5 || c.faint == (parabola{}) {
		t.Fatalf("%d sensors are moved, and the others %+v", len(c.moved), c.faint)
	}
	exact := func(a float64) (log float64) {
		e := newFaultyEvidence(y, f, MixedAmplitude)
		return e.product(func(r int) float64 { return a * x[r] })
	}
	const h = 1e-4
	for _, a := range []float64{.1, .5, .9} {
		if want := (exact(a+h) - exact(a-h)) / (2 * h); math.Abs(c.slope(a)-want) > 1e-6 || math.Abs(c.value(a)-exact(a)) > 1e-8 {
			t.Errorf("at %v: slope %v, want %v; value %v, want %v", a, c.slope(a), want, c.value(a), exact(a))
		}
	}
}

// An operator that is off by what it declares, along the readings of one node, moves the evidence of that node beyond what its own
// entries allow: the bounds hold it all the same.
func TestScreenBoundsOfInexactOperator(t *testing.T) {
	const m, n, off, node = 150, 10, .2, 3
	rnd := rand.New(rand.NewPCG(42, 1))
	y, faults := make([]float64, m), Faults{Rate: 1e-6, Low: make([]float64, m), High: slices.Repeat([]float64{12}, m)}
	a := mat.NewDense(m, n, nil)
	for s := range m {
		for i := range n {
			a.Set(s, i, .01*rnd.Float64())
		}
		y[s] = rnd.NormFloat64()
	}
	for _, sign := range []float64{-1, 1} {
		read := mat.DenseCopyOf(a)
		for s := range m {
			read.Set(s, node, a.At(s, node)+sign*off*y[s]/floats.Norm(y, 2))
		}
		truth := must.Get(prepareFaulty(t.Context(), measurement.Data{A: linop.Dense{M: a}, Y: y}, Options{Faults: faults}))(t)
		f := must.Get(prepareFaulty(t.Context(), measurement.Data{A: linop.Dense{M: read, Bound: off}, Y: y}, Options{Faults: faults}))(t)
		norms := f.norms
		norms.Low, norms.High = slices.Clone(norms.N), slices.Clone(norms.N)
		for i, v := range truth.norms.N {
			norms.Low[i], norms.High[i] = min(v, norms.N[i]), max(v, norms.N[i])
		}
		s := must.Get(f.newScreen(t.Context(), norms))(t)
		x := make([]float64, m)
		var c column
		for i := range n {
			mat.Col(x, i, a)
			truth.column(nil, x, &c)
			exact := c.log(math.Inf(-1))
			if low, estimate, high := s.bounds(i, &c); !(low <= exact && exact <= high) {
				t.Errorf("sign %v, node %d: the evidence %v is not within %v, %v, %v", sign, i, exact, low, estimate, high)
			}
		}
	}
}

// The slope of a screen holds at every entry, and is close to the least that does.
func TestSlopeBound(t *testing.T) {
	const largest = 10
	var y []float64
	for v := -6.; v <= 11; v += .37 {
		y = append(y, v)
	}
	a := mat.NewDense(len(y), 2, nil)
	for s := range y {
		a.Set(s, s%2, 1)
	}
	for _, rate := range []float64{1e-6, .02, .3} {
		faults := Faults{Rate: rate, Low: make([]float64, len(y)), High: slices.Repeat([]float64{12}, len(y))}
		f := must.Get(prepareFaulty(t.Context(), measurement.Data{A: linop.Dense{M: a}, Y: y}, Options{Faults: faults}))(t)
		for k := range f.sensors {
			sensor := &f.sensors[k]
			for _, curvature := range curvatures {
				least := math.Inf(-1)
				for x := 1e-5; x < largest; x *= 1.0007 {
					least = max(least, (sensor.logRatio(x*(f.y[k]-x/2))+curvature*x*x/2)/x)
				}
				loose := .02*(largest*curvature+math.Abs(least)) + .005
				if got := sensor.slopeBound(f.y[k], largest, curvature); !(got >= least-1e-12 && got <= least+loose) {
					t.Errorf("rate %v, y = %v, κ = %v: slope %v, and %v is the least", rate, f.y[k], curvature, got, least)
				}
			}
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package posterior_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// far returns sensors, one a node, that read 0 but for the last.
func far(sensors int, entry, last, low, high float64) (measurement.Data, posterior.Faults) {
	a := mat.NewDense(sensors, sensors, nil)
	d := measurement.Data{A: linop.Dense{M: a}, Y: make([]float64, sensors)}
	f := posterior.Faults{Rate: .01}
	for s := range sensors {
		a.Set(s, s, entry)
		f.Low, f.High = append(f.Low, low), append(f.High, high)
	}
	d.Y[sensors-1] = last
	return d, f
}

// TestFaultsFarFromTheirRange: the odds of sound against broken are beyond all numbers, and yet the
// posterior is one, and its evidence that of the arithmetic in logarithms.
func TestFaultsFarFromTheirRange(t *testing.T) {
	prior := faultPrior(.01)
	broken, shifted := prior[isBroken], prior[isShifted]
	for name, test := range map[string]struct {
		entry, last, low, high float64
		presence               float64 // 0: any
	}{
		// log(1/4 · shifted · N(100; 40, 10)/(1/8 · broken · N(100; 20, 10))), and the other sensors at 0.
		"above a range below the means": {40, 100, 0, 20, math.Log(.25*shifted/(1./8*broken)) - 60*60/20 + 80*80/20},
		"a reading beyond the squares":  {1e3, 1e5, 0, 1, 0},
		"a range beyond all":            {40, 0, 1e3, 2e3, 0},
		"a range far below":             {40, 60, -2e4, -1e4, 0},
		"the largest length":            {40, 1e150, -1e150, 1e150, 0},
	} {
		d, f := far(4, test.entry, test.last, test.low, test.high)
		opts := posterior.Options{Faults: f, Amplitude: posterior.UnitAmplitude}
		p, err := posterior.New(t.Context(), d, opts)
		checkFinite(t, name, p, err)
		if err == nil && test.presence != 0 && !(math.Abs(p.LogPresence-test.presence) < .02) {
			t.Errorf("%s: log presence %v, want %v", name, p.LogPresence, test.presence)
		}
		for _, amplitude := range []posterior.Amplitude{posterior.UniformAmplitude, posterior.MixedAmplitude} {
			opts.Amplitude, opts.Faults = amplitude, f
			p, err := posterior.New(t.Context(), d, opts)
			checkFinite(t, name, p, err)
		}
		d.A = productsOnly{d.A}
		p, err = posterior.New(t.Context(), d, opts)
		checkFinite(t, name+", by products", p, err)
	}
}

func checkFinite(t *testing.T, name string, p *posterior.Posterior, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if sum := floats.Sum(p.Probability); !(math.Abs(sum-1) < 1e-9) || math.IsNaN(p.LogPresence) || math.IsInf(p.LogPresence, 0) ||
		math.IsNaN(p.LogOddsError) || math.IsNaN(p.ProbabilityError) {
		t.Errorf("%s: %+v", name, p)
	}
	for s, v := range p.Faulty {
		if !(v >= 0 && v <= 1) {
			t.Errorf("%s: sensor %d is broken with probability %v", name, s, v)
		}
	}
}

// TestFaultsOfAnyScale: readings and ranges of any scale, whatever the entries are, give numbers,
// for one source and for two.
func TestFaultsOfAnyScale(t *testing.T) {
	for trial := range 20 {
		rnd := rand.New(rand.NewPCG(4, uint64(trial)))
		scale := func() float64 { return math.Exp(rnd.Float64()*14-4) * float64(1-2*rnd.IntN(2)) }
		const m, n = 5, 3
		a := mat.NewDense(m, n, nil)
		size := math.Exp(4 * rnd.Float64())
		for s := range m {
			for i := range n {
				a.Set(s, i, size*rnd.Float64())
			}
		}
		d := measurement.Data{A: linop.Dense{M: a}, Y: make([]float64, m)}
		f := posterior.Faults{Rate: math.Exp(-10 * rnd.Float64())}
		for s := range m {
			d.Y[s] = scale()
			l, h := scale(), scale()
			f.Low, f.High = append(f.Low, min(l, h)), append(f.High, max(l, h))
		}
		opts := posterior.Options{Faults: f}
		p, err := posterior.New(t.Context(), d, opts)
		checkFinite(t, "one source", p, err)
		pairs, err := posterior.NewPairs(t.Context(), d, opts)
		if err != nil || !(math.Abs(floats.Sum(pairs.Probability)-2) < 1e-9) || math.IsNaN(pairs.LogPresence) ||
			math.IsInf(pairs.LogPresence, 0) {
			t.Errorf("trial %d: %+v (%v)", trial, pairs, err)
		}
		if second, err := posterior.Second(t.Context(), d, opts); err != nil || math.IsNaN(second) || math.IsInf(second, 0) {
			t.Errorf("trial %d: a second source %v (%v)", trial, second, err)
		}
		if t.Failed() {
			t.Fatalf("trial %d: %v in %v to %v", trial, d.Y, f.Low, f.High)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package posterior_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// twoOfSix makes measurements of sources at 1 and 4 of six nodes by five sensors, one of them
// stuck.
func twoOfSix() (*mat.Dense, measurement.Data, posterior.Faults) {
	const m, n = 5, 6
	rnd := rand.New(rand.NewPCG(31, 1))
	a := mat.NewDense(m, n, nil)
	y := make([]float64, m)
	f := posterior.Faults{Rate: .1, Low: make([]float64, m), High: make([]float64, m)}
	for s := range m {
		for i := range n {
			a.Set(s, i, 4*math.Pow(rnd.Float64(), 2))
		}
		y[s], f.High[s] = a.At(s, 1)+.5*a.At(s, 4)+rnd.NormFloat64(), 9
	}
	y[3] = 9.4
	return a, measurement.Data{A: linop.Dense{M: a}, Y: y}, f
}

// pairsByDefinition sums the evidence of each pair over all that sensors may be: that of
// those that hear it is the posterior of two sources that trusts them.
func pairsByDefinition(t *testing.T, a *mat.Dense, y []float64, f posterior.Faults,
	amplitude posterior.Amplitude,
) (p *mat.SymDense, broken []float64, presence float64) {
	t.Helper()
	_, n := a.Dims()
	p, broken = mat.NewSymDense(n, nil), make([]float64, len(y))
	for set, log := range faultySets(f, y) {
		var rows []float64
		var sound []float64
		for s, v := range y {
			if w := math.Sqrt(fateWeight(fateOf(set, sensorOf(f, s)))); w > 0 {
				row := slices.Clone(a.RawRowView(s))
				floats.Scale(w, row)
				rows, sound = append(rows, row...), append(sound, w*v)
			}
		}
		if len(sound) == 0 {
			rows, sound = make([]float64, n), []float64{0}
		}
		pairs := must.Get(posterior.NewPairs(t.Context(), measurement.Data{A: linop.Dense{M: mat.NewDense(len(sound), n, rows)}, Y: sound},
			posterior.Options{Amplitude: amplitude}))(t)
		z := math.Exp(log + pairs.LogPresence)
		presence += z
		for s := range y {
			if fateOf(set, sensorOf(f, s)) != isSound {
				broken[s] += z
			}
		}
		for j := range n {
			for i := range j {
				p.SetSym(i, j, p.At(i, j)+z*pairs.At(i, j))
			}
		}
	}
	p.ScaleSym(1/presence, p)
	floats.Scale(1/presence, broken)
	return p, broken, math.Log(presence)
}

func TestFaultyPairsByDefinition(t *testing.T) {
	a, d, f := twoOfSix()
	for _, amplitude := range []posterior.Amplitude{posterior.MixedAmplitude, posterior.UnitAmplitude} {
		if amplitude == posterior.UnitAmplitude {
			f.Sensors = []int{0, 0, 1, 2, 2}
		}
		want, broken, presence := pairsByDefinition(t, a, d.Y, f, amplitude)
		got := must.Get(posterior.NewPairs(t.Context(), d, posterior.Options{Faults: f, Amplitude: amplitude}))(t)
		for j := range 6 {
			for i := range j {
				if math.Abs(got.At(i, j)-want.At(i, j)) > 1e-6 {
					t.Errorf("amplitude %v: %d and %d have %v, want %v", amplitude, i, j, got.At(i, j), want.At(i, j))
				}
			}
		}
		for s, want := range broken {
			if math.Abs(got.Faulty[s]-want) > 1e-6 {
				t.Errorf("amplitude %v: sensor %d is broken with probability %v, want %v", amplitude, s, got.Faulty[s], want)
			}
		}
		if math.Abs(got.LogPresence-presence) > 1e-6 {
			t.Errorf("amplitude %v: log presence %v, want %v", amplitude, got.LogPresence, presence)
		}
	}
}

// TestFaultySecond: a stuck sensor is no second source, and two sources are told from one, by the evidence of all pairs and by
// its estimate.
func TestFaultySecond(t *testing.T) {
	d, f := sensing(24, .05, 20)
	opts := posterior.Options{Faults: f, Amplitude: posterior.UnitAmplitude}
	for sources := 1; sources <= 2; sources++ {
		if sources == 2 {
			for s := range d.Y {
				d.Y[s] += .4 * math.Exp(-math.Pow(float64(s-13), 2)/4) / .05
			}
		}
		one := must.Get(posterior.New(t.Context(), d, opts))(t)
		two := must.Get(posterior.NewPairs(t.Context(), d, opts))(t)
		second, err := posterior.Second(t.Context(), d, opts)
		exact := two.LogPresence - one.LogPresence
		if err != nil || exact > 3 != (sources == 2) || math.Abs(second-exact) > 1 {
			t.Errorf("%d sources: log odds of a second %v, estimated at %v (%v)", sources, exact, second, err)
		}
	}
	hidden := measurement.Data{A: productsOnly{d.A}, Y: d.Y}
	if _, err := posterior.NewPairs(t.Context(), hidden, opts); !errors.Is(err, posterior.ErrInvalid) {
		t.Errorf("pairs by products: %v", err)
	}
	if _, err := posterior.Second(t.Context(), hidden, opts); !errors.Is(err, posterior.ErrInvalid) {
		t.Errorf("a second source by products: %v", err)
	}
}

// TestFaultyPairsWork: sensors that no two sources explain leave all pairs open, which is refused before it
// takes minutes.
func TestFaultyPairsWork(t *testing.T) {
	d, f := sensing(60, .05, -1)
	opts := posterior.Options{Faults: f}
	for s := range d.Y {
		d.Y[s] = f.High[s] * (.3 + .2*math.Sin(float64(7*s)))
	}
	if _, err := posterior.NewPairs(t.Context(), d, opts); !errors.Is(err, posterior.ErrWork) {
		t.Errorf("no source: %v", err)
	}
}

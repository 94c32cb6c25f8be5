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

	"github.com/graphcloak/graphcloak/linop"
	"github.com/graphcloak/graphcloak/measurement"
	"github.com/graphcloak/graphcloak/posterior"
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
func pairsByDefinition(t *testing.T, a *mat.Dense, y []float64, f posterior.Faults, amplitude posterior.Amplitude) (p *mat.SymDense, presence float64) {
	t.Helper()
	_, n := a.Dims()
	p = mat.NewSymDense(n, nil)
	for set, log := range faultySets(f, y) {
		var rows []float64
		var sound []float64
		for s, v := range y {
			if w := math.Sqrt(fateWeight(fateOf(set, s))); w > 0 {
				row := slices.Clone(a.RawRowView(s))
				floats.Scale(w, row)
				rows, sound = append(rows, row...), append(sound, w*v)
			}
		}
		if len(sound) == 0 {
			rows, sound = make([]float64, n), []float64{0}
		}
		pairs, err := posterior.NewPairs(t.Context(), measurement.Data{A: linop.Dense{M: mat.NewDense(len(sound), n, rows)}, Y: sound}, posterior.Options{Amplitude: amplitude})
		if err != nil {
			t.Fatal(err)
		}
		z := math.Exp(log + pairs.LogPresence)
		presence += z
		for j := range n {
			for i := range j {
				p.SetSym(i, j, p.At(i, j)+z*pairs.At(i, j))
			}
		}
	}
	p.ScaleSym(1/presence, p)
	return p, math.Log(presence)
}

func TestFaultyPairsByDefinition(t *testing.T) {
	a, d, f := twoOfSix()
	for _, amplitude := range []posterior.Amplitude{posterior.MixedAmplitude, posterior.UnitAmplitude} {
		want, presence := pairsByDefinition(t, a, d.Y, f, amplitude)
		got, err := posterior.NewPairs(t.Context(), d, posterior.Options{Faults: f, Amplitude: amplitude})
		if err != nil {
			t.Fatal(err)
		}
		for j := range 6 {
			for i := range j {
				if math.Abs(got.At(i, j)-want.At(i, j)) > 1e-6 {
					t.Errorf("amplitude %v: %d and %d have %v, want %v", amplitude, i, j, got.At(i, j), want.At(i, j))
				}
			}
		}
		if math.Abs(got.LogPresence-presence) > 1e-6 {
			t.Errorf("amplitude %v: log presence %v, want %v", amplitude, got.LogPresence, presence)
		}
	}
}

// TestFaultySampleAgainstPairs: the sampler agrees with the exact posterior, also on which sensors
// are broken, which for two sources is what a sum over pairs gives, and on the evidence.
func TestFaultySampleAgainstPairs(t *testing.T) {
	_, d, f := twoOfSix()
	for _, amplitude := range []posterior.Amplitude{posterior.MixedAmplitude, posterior.UnitAmplitude} {
		opts := posterior.Options{Faults: f, Amplitude: amplitude}
		exact, err := posterior.NewPairs(t.Context(), d, opts)
		if err != nil {
			t.Fatal(err)
		}
		s, err := posterior.NewSample(t.Context(), d, posterior.SampleOptions{Options: opts, Sources: 2, Sweeps: 2000, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range exact.Probability {
			if math.Abs(s.Probability[i]-want) > .04 {
				t.Errorf("amplitude %v: node %d is a source with %v, exactly %v", amplitude, i, s.Probability[i], want)
			}
		}
		if s.RHat > 1.03 || s.Faulty[3] < .5 || floats.Min(s.Faulty) < 0 || floats.Max(s.Faulty) > 1 {
			t.Errorf("amplitude %v: R̂ = %v, broken %v", amplitude, s.RHat, s.Faulty)
		}
		one, err := posterior.NewSample(t.Context(), d, posterior.SampleOptions{Options: opts, Sources: 1, Sweeps: 2000, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		single, err := posterior.New(t.Context(), d, opts)
		if err != nil {
			t.Fatal(err)
		}
		for r, want := range single.Faulty {
			if math.Abs(one.Faulty[r]-want) > .04 {
				t.Errorf("amplitude %v: of one source, sensor %d is broken with %v, exactly %v", amplitude, r, one.Faulty[r], want)
			}
		}
	}
}

// TestFaultyCount: a stuck sensor is no second source, and two sources are told from one.
func TestFaultyCount(t *testing.T) {
	d, f := sensing(24, .05, 20)
	opts := posterior.SampleOptions{Options: posterior.Options{Faults: f, Amplitude: posterior.UnitAmplitude}, Sweeps: 300, Seed: 1}
	for want := 1; want <= 2; want++ {
		if want == 2 {
			for s := range d.Y {
				d.Y[s] += .4 * math.Exp(-math.Pow(float64(s-13), 2)/4) / .05
			}
		}
		c, err := posterior.NewCount(t.Context(), d, 3, opts)
		if err != nil {
			t.Fatal(err)
		}
		if c.Best() != want {
			t.Errorf("%d sources, want %d: %+v", c.Best(), want, c)
		}
	}
	hidden := measurement.Data{A: productsOnly{d.A}, Y: d.Y}
	if posterior.ExactPairs(hidden, f) || !posterior.ExactPairs(hidden, posterior.Faults{}) {
		t.Error("pairs by products")
	}
}

// TestFaultyPairsWork: sensors that no two sources explain leave all pairs open, which is refused before it
// takes minutes; the number of sources is then found by sampling.
func TestFaultyPairsWork(t *testing.T) {
	d, f := sensing(60, .05, -1)
	opts := posterior.Options{Faults: f}
	for s := range d.Y {
		d.Y[s] = f.High[s] * (.3 + .2*math.Sin(float64(7*s)))
	}
	if _, err := posterior.NewPairs(t.Context(), d, opts); !errors.Is(err, posterior.ErrWork) {
		t.Errorf("no source: %v", err)
	}
	c, err := posterior.NewCount(t.Context(), d, 2, posterior.SampleOptions{Options: opts, Sweeps: 10, Seed: 1})
	if err != nil || len(c.LogEvidence) != 3 || math.IsInf(c.ESS, 1) {
		t.Errorf("number of sources: %+v, %v", c, err)
	}
}

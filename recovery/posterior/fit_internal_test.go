// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// spread is an operator of bumps of a width on a line, in units of the noise.
func spread(n int, width, scale float64) linop.Dense {
	m := mat.NewDense(n, n, nil)
	for s := range n {
		for i := range n {
			x := float64(s-i) / width
			m.Set(s, i, scale/width*math.Exp(-x*x))
		}
	}
	return linop.Dense{M: m}
}

// fitJudge judges under an operator, against a background.
func fitJudge(t *testing.T, a linop.Dense, amplitude Amplitude, seed uint64) *judge {
	t.Helper()
	n, _ := a.Dims()
	h := make([]float64, n)
	floats.AddConst(3, h)
	opts := CheckOptions{Options: Options{Amplitude: amplitude}, Background: h, Seed: seed}
	k := must.Get(newChecker(t.Context(), measurement.Data{A: a, Y: make([]float64, n)}, opts))(t)
	return must.Get(newJudge(k, opts))(t)
}

// What the fit is held against is what the functions that explain a poor one give, summed as is said.
func TestJudgeAgainstItsParts(t *testing.T) {
	const n = 9
	a := spread(n, 2, 6)
	for _, amplitude := range []Amplitude{MixedAmplitude, UniformAmplitude, UnitAmplitude} {
		j := fitJudge(t, a, amplitude, 0)
		random := rand.New(rand.NewPCG(1, uint64(amplitude)))
		for range 20 {
			y := mat.Col(nil, random.IntN(n), a.M)
			for s := range y {
				y[s] += 1.3 * random.NormFloat64()
			}
			got := j.measure(y, 1)[0]
			d, opts := measurement.Data{A: a, Y: y}, Options{Amplitude: amplitude}
			log := func(of func() (float64, error)) float64 {
				return must.Get(of())(t)
			}
			presence := func(d measurement.Data) float64 {
				return log(func() (float64, error) {
					p, err := New(t.Context(), d, opts)
					return p.LogPresence, err
				})
			}
			one, rest := presence(d), append([]float64(nil), y...)
			floats.AddScaled(rest, -got.amplitude, mat.Col(nil, got.node, a.M))
			background := log(func() (float64, error) { return Background(t.Context(), d, j.h, opts) }) - one
			tail := 3 * j.k.tail(j.k.residual(rest))
			unlikely := 2 * min(tail, float64(len(j.k.e.kinds()))*math.Exp(-background))
			second := presence(measurement.Data{A: a, Y: rest})
			want := math.Log((math.Exp(background) + math.Exp(second) + .25/(2*math.Sqrt(min(1, tail)))) / 2.25)
			if math.Abs(got.against-want) > 1e-8 || math.Abs(got.unlikely-unlikely) > 1e-8*unlikely {
				t.Fatalf("%v: %v and %v, want %v and %v", amplitude, got.against, got.unlikely, want, unlikely)
			}
			if want := floats.Dot(rest, rest); math.Abs(got.residual-want) > 1e-13*want {
				t.Fatalf("residual %v, want %v", got.residual, want)
			}
		}
	}
}

// Measurements of a source that the prior draws are as likely to rank at any place among those that are simulated: the
// p-value is uniform on its multiples of 1/(trials + 1), at every level, and at most so for a mixture's kinds.
func TestFitIsExact(t *testing.T) {
	const n, trials, runs = 8, 19, 1200
	a := spread(n, 2, 8)
	for _, c := range []struct {
		prior Amplitude
		truth func(random *rand.Rand) float64
		exact bool
	}{
		{UnitAmplitude, func(*rand.Rand) float64 { return 1 }, true},
		{UniformAmplitude, (*rand.Rand).Float64, true},
		{MixedAmplitude, func(*rand.Rand) float64 { return 1 }, false},
		{MixedAmplitude, (*rand.Rand).Float64, false},
	} {
		base := fitJudge(t, a, c.prior, 0)
		var counts [trials + 1]int
		for run := range runs {
			random := rand.New(rand.NewPCG(77, uint64(run)))
			base.k.seed = uint64(run)
			law := must.Get(base.law(t.Context(), trials, nil))(t)
			y := mat.Col(nil, random.IntN(n), a.M)
			floats.Scale(c.truth(random), y)
			for s := range y {
				y[s] += random.NormFloat64()
			}
			of := base.measure(y, 1)[0]
			of.unlikely = 1 // the rank alone
			counts[int(math.Round(law.pValue(of)*(trials+1)))-1]++
		}
		square, below := 0.0, 0
		for k, got := range counts {
			want := float64(runs) / (trials + 1)
			square += (float64(got) - want) * (float64(got) - want) / want
			below += got
			level := float64(k+1) / (trials + 1)
			if most := runs*level + 4*math.Sqrt(runs*level*(1-level)); float64(below) > most+1e-9 {
				t.Errorf("prior %v: p ≤ %v in %d of %d runs", c.prior, level, below, runs)
			}
		}
		if c.exact && square > 52.4 { // χ² of 19 degrees: 5e-5
			t.Errorf("prior %v: χ² = %v, counts %v", c.prior, square, counts)
		}
	}
}

// Two sources that the residual of one does not show are told by what a further source beside it explains.
func TestFitSeesASecondSource(t *testing.T) {
	const n, runs = 24, 60
	a := spread(n, 3, 8)
	j := fitJudge(t, a, MixedAmplitude, 0)
	law := must.Get(j.law(t.Context(), 399, nil))(t)
	var told, residual int
	for run := range runs {
		random := rand.New(rand.NewPCG(5, uint64(run)))
		y := mat.Col(nil, 4, a.M)
		floats.Add(y, mat.Col(nil, 17, a.M))
		for s := range y {
			y[s] += random.NormFloat64()
		}
		of := j.measure(y, 1)[0]
		if law.pValue(of) < .05 {
			told++
		}
		if ResidualTail(of.residual, n) < .05 {
			residual++
		}
	}
	if told < runs*3/4 || told < residual+5 {
		t.Errorf("told in %d of %d runs, by the residual in %d", told, runs, residual)
	}
}

func TestFitRefuses(t *testing.T) {
	d := []measurement.Data{{A: spread(4, 1, 2), Y: make([]float64, 4)}}
	if _, err := NewChecker(t.Context(), d, CheckOptions{Background: make([]float64, 3)}); !errors.Is(err, ErrInvalid) {
		t.Errorf("a background elsewhere: %v", err)
	}
}

// TestFitByProducts: where no entries are held, the p-value is at most α with a probability of at most α under one source, and
// what one source does not explain is seen.
func TestFitByProducts(t *testing.T) {
	const n, runs = 24, 400
	a := spread(n, 3, 8)
	d := []measurement.Data{{A: hidden{a}, Y: make([]float64, n)}}
	c := must.Get(NewChecker(t.Context(), d, CheckOptions{Trials: 1}))(t)
	var five, twenty int
	for run := range runs {
		random := rand.New(rand.NewPCG(6, uint64(run)))
		y := noisyColumn(random, a.M, run%n)
		of := c.Check(y)
		if of.Fit <= .05 {
			five++
		}
		if of.Fit <= .2 {
			twenty++
		}
		if y[3] += 9; run < 20 && c.Check(y).Fit > .001 || of.FitTrials != 0 {
			t.Errorf("run %d: a wild measurement has p = %v, %d trials", run, c.Check(y).Fit, of.FitTrials)
		}
	}
	// .05 and .2 of 400 are 20 and 80; 4 standard errors above.
	if five > 37 || twenty > 112 {
		t.Errorf("p is at most .05 in %d and .2 in %d of %d runs", five, twenty, runs)
	}
}

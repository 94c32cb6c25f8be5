// SPDX-License-Identifier: Apache-2.0

package posterior_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/posterior"
)

// TestFaultRates: the rates have the moments of a Beta distribution from their products, or of its
// mirror image, lie between 0 and 1, and stand by falling weight.
func TestFaultRates(t *testing.T) {
	for _, shape := range []float64{.25, 1} {
		for _, mean := range []float64{1e-300, 1e-6, .01, .2, .5, .7, .999, 1 - 1e-12} {
			if err := posterior.CheckFaultRate(mean); err != nil {
				t.Fatal(err)
			}
			rates, prior := posterior.Rates(mean, shape)
			small := min(mean, 1-mean)
			a, b, want := shape, shape*(1-small)/small, 1.0
			if !(prior[0] >= prior[1] && prior[1] >= prior[2]) {
				t.Errorf("mean %v: weights %v", mean, prior)
			}
			for order := range 6 {
				got := 0.0
				for k, r := range rates {
					if !(r > 0 && r < 1) {
						t.Fatalf("mean %v: rates %v", mean, rates)
					}
					if mean > .5 {
						r = 1 - r
					}
					got += prior[k] * math.Pow(r/small, float64(order))
				}
				if !(math.Abs(got/want-1) < 1e-9) && mean < .9999 {
					t.Errorf("mean %v: moment %d is %v, want %v", mean, order, got, want)
				}
				want *= (a + float64(order)) / (a + b + float64(order)) / small
			}
		}
	}
}

// TestFaultStates: in every state the probabilities of a sensor sum to 1 and are those of the rates, and no state is likelier
// than the first.
func TestFaultStates(t *testing.T) {
	for _, mean := range []float64{1e-300, 1e-6, .01, .3, .7, 1 - 1e-12} {
		f := posterior.Faults{Rate: mean}
		states, prior := f.States()
		means := f.RateMeans()
		broken, p := posterior.Rates(means[0], posterior.BrokenShape)
		shifted, q := posterior.Rates(means[2], posterior.ShiftedShape)
		if len(states) != 9 || math.Abs(floats.Sum(prior)-1) > 1e-12 || floats.Max(prior) != prior[0] {
			t.Fatalf("mean %v: %v with %v", mean, states, prior)
		}
		for k, s := range states {
			i, j := k/3, k%3
			for name, pair := range map[string][2]float64{
				"broken":  {s[1], broken[i]},
				"silent":  {s[2], (1 - broken[i]) * means[1]},
				"shifted": {s[3] / (s[0] + s[3]), shifted[j]},
				"prior":   {prior[k], p[i] * q[j]},
				"all":     {floats.Sum(s[:]), 1},
			} {
				if !(math.Abs(pair[0]/pair[1]-1) < 1e-9) {
					t.Errorf("mean %v, state %d: %s is %v, want %v", mean, k, name, pair[0], pair[1])
				}
			}
		}
	}
}

// TestFaultStatesHoldTheMean: over the states, as many sensors are broken as the rate says, and of the others 3o are silent and
// 4o shifted for each that is sound, with o the odds of the rate.
func TestFaultStatesHoldTheMean(t *testing.T) {
	for _, rate := range []float64{.01, .02, .05, .1, .2, .25, .5, .9} {
		states, prior := posterior.Faults{Rate: rate}.States()
		var mean [4]float64
		for k, s := range states {
			floats.AddScaled(mean[:], prior[k], s[:])
		}
		o := rate / (1 - rate)
		for kind, want := range [4]float64{(1 - rate) / (1 + 7*o), rate, (1 - rate) * 3 * o / (1 + 7*o), (1 - rate) * 4 * o / (1 + 7*o)} {
			if !(math.Abs(mean[kind]/want-1) < 1e-9) {
				t.Errorf("rate %v: kind %d has a mean of %v, want %v", rate, kind, mean[kind], want)
			}
		}
	}
}

// TestFaultRatesOfDefault: at a mean of .01 the rates are those that the documentation gives.
func TestFaultRatesOfDefault(t *testing.T) {
	for want, means := range map[string][2]float64{
		"[0.0033 0.0553 0.1741] [0.8805 0.1156 0.0039]": {.01, posterior.BrokenShape},
		"[0.0151 0.0808 0.2066] [0.6711 0.3122 0.0167]": {posterior.Faults{Rate: .01}.RateMeans()[2], posterior.ShiftedShape},
	} {
		rates, prior := posterior.Rates(means[0], means[1])
		if got := fmt.Sprintf("%.4f %.4f", rates, prior); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestFaultRateNearOne: a rate whose prior holds a rate of 1 is refused.
func TestFaultRateNearOne(t *testing.T) {
	for _, rate := range []float64{1 - 1e-13, math.Nextafter(1, 0), 1, math.NaN(), -1e-300} {
		if err := posterior.CheckFaultRate(rate); !errors.Is(err, posterior.ErrInvalid) {
			t.Errorf("rate %v: %v", rate, err)
		}
	}
}

// TestFaultRateIsLearnt: the more sensors are seen to be broken, the likelier another that reads oddly is to be, which in a
// known state they do not change.
func TestFaultRateIsLearnt(t *testing.T) {
	const n, other = 20, 5
	before, fixed := 0.0, math.NaN()
	for _, stuck := range []int{2, 6} {
		d, f := sensing(n, .05, -1)
		d.Y[other] += 2
		for s := range stuck {
			d.Y[n-1-s] = f.High[n-1-s]
		}
		chance := func(f posterior.Faults) float64 {
			p, err := posterior.New(t.Context(), d, posterior.Options{Faults: f, Amplitude: posterior.UnitAmplitude})
			if err != nil {
				t.Fatal(err)
			}
			return p.Faulty[other]
		}
		learnt, known := chance(f), chance(posterior.Known(f))
		if !(learnt > 1.2*before) || !(learnt > 2*known) || math.Abs(known-fixed) > 1e-4 {
			t.Errorf("%d stuck: another is faulty with probability %v after %v, at a known rate %v after %v", stuck, learnt, before, known, fixed)
		}
		before, fixed = learnt, known
	}
}

// SPDX-License-Identifier: Apache-2.0

package posterior_test

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// TestFaultRates: the rates have the moments of a Beta distribution from their products, or of its
// mirror image, lie between 0 and 1, and stand by falling weight.
func TestFaultRates(t *testing.T) {
	for _, count := range []int{posterior.BrokenNodes, posterior.ShiftedNodes} {
		for _, mean := range []float64{1e-300, 1e-6, .01, .2, .5, .7, .999, 1 - 1e-12} {
			if err := posterior.CheckFaultRate(mean); err != nil {
				t.Fatal(err)
			}
			rates, prior := posterior.Rates(mean, count)
			small := min(mean, 1-mean)
			a, b, want := .5, .5*(1-small)/small, 1.0
			if len(prior) != count || !slices.IsSortedFunc(prior, func(x, y float64) int { return cmp.Compare(y, x) }) {
				t.Errorf("mean %v: weights %v", mean, prior)
			}
			for order := range 2 * count {
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
		broken, p := posterior.Rates(mean, posterior.BrokenNodes)
		shifted, w := posterior.Rates(f.ShiftedMean(), posterior.ShiftedNodes)
		if len(states) != 6 || math.Abs(floats.Sum(prior)-1) > 1e-12 || floats.Max(prior) != prior[0] {
			t.Fatalf("mean %v: %v with %v", mean, states, prior)
		}
		for k, s := range states {
			i, j := k/3, k%3
			for name, pair := range map[string][2]float64{
				"broken":  {s[1], broken[i]},
				"shifted": {s[2] / (s[0] + s[2]), shifted[j]},
				"prior":   {prior[k], p[i] * w[j]},
				"all":     {floats.Sum(s[:]), 1},
			} {
				if !(math.Abs(pair[0]/pair[1]-1) < 1e-9) {
					t.Errorf("mean %v, state %d: %s is %v, want %v", mean, k, name, pair[0], pair[1])
				}
			}
		}
	}
}

// TestFaultStatesHoldTheMean: over the states, as many sensors are broken as the rate says, and of the others 4o are shifted
// for each that is sound, with o the odds of the rate.
func TestFaultStatesHoldTheMean(t *testing.T) {
	for _, rate := range []float64{.01, .02, .05, .1, .2, .25, .5, .9} {
		states, prior := posterior.Faults{Rate: rate}.States()
		var mean [3]float64
		for k, s := range states {
			floats.AddScaled(mean[:], prior[k], s[:])
		}
		o := rate / (1 - rate)
		for kind, want := range [3]float64{(1 - rate) / (1 + 4*o), rate, (1 - rate) * 4 * o / (1 + 4*o)} {
			if !(math.Abs(mean[kind]/want-1) < 1e-9) {
				t.Errorf("rate %v: kind %d has a mean of %v, want %v", rate, kind, mean[kind], want)
			}
		}
		if got := posterior.FaultyPrior(rate); math.Abs(got-(1-mean[0])) > 1e-9 {
			t.Errorf("rate %v: a sensor is faulty with probability %v, want %v", rate, got, 1-mean[0])
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

// TestFaultRateIsLearnt: the more sensors are seen to be broken, the likelier another that reads oddly
// is to be, which in a known state they do not change.
func TestFaultRateIsLearnt(t *testing.T) {
	const n, other = 20, 5
	chance := func(stuck int, known bool) float64 {
		d, f := sensing(n, .05, -1)
		d.Y[other] += 2
		for s := range stuck {
			d.Y[n-1-s] = f.High[n-1-s] * (.5 + .5*float64(s)/float64(stuck))
		}
		if known {
			f = posterior.Known(f)
		}
		p, err := posterior.New(t.Context(), d, posterior.Options{Faults: f, Amplitude: posterior.UnitAmplitude})
		if err != nil {
			t.Fatal(err)
		}
		return p.Faulty[other]
	}
	few, many := chance(0, false), chance(6, false)
	if !(many > 1.2*few) {
		t.Errorf("another is faulty with probability %v where none is broken, and %v where six are", few, many)
	}
	few, many = chance(0, true), chance(6, true)
	if math.Abs(many-few) > 5e-3 {
		t.Errorf("where the rates are known another is faulty with probability %v, and %v", few, many)
	}
}

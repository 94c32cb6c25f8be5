// SPDX-License-Identifier: Apache-2.0

package posterior_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/graphcloak/graphcloak/posterior"
)

// TestFaultRates: the rates have the first seven moments of Beta(¼, b), from their products, or of its
// mirror image, and lie between 0 and 1.
func TestFaultRates(t *testing.T) {
	for _, mean := range []float64{1e-300, 1e-6, .01, .2, .5, .7, .999, 1 - 1e-12} {
		if err := posterior.CheckFaultRate(mean); err != nil {
			t.Fatal(err)
		}
		rates, prior := posterior.Faults{Rate: mean}.Rates()
		small := min(mean, 1-mean)
		a, b, want := .25, .25*(1-small)/small, 1.0
		for order := range 8 {
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

// TestFaultRatesOfDefault: at a mean of .01 the rates are those that the documentation gives.
func TestFaultRatesOfDefault(t *testing.T) {
	rates, prior := posterior.Faults{Rate: .01}.Rates()
	if got, want := fmt.Sprintf("%.4f %.4f", rates, prior), "[0.0024 0.0400 0.1219 0.2550] [0.8312 0.1543 0.0143 0.0003]"; got != want {
		t.Errorf("got %s, want %s", got, want)
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

// TestFaultRateIsLearnt: the more sensors are seen to be broken, the likelier another is to be, which at a
// known rate they do not change.
func TestFaultRateIsLearnt(t *testing.T) {
	const n, other = 20, 5
	before := 0.0
	for _, stuck := range []int{0, 2, 6} {
		d, f := sensing(n, .05, -1)
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
		if !(learnt > 2*before) || !(known < .01) || stuck > 0 && !(learnt > known) {
			t.Errorf("%d stuck: another is broken with probability %v after %v, at a known rate %v", stuck, learnt, before, known)
		}
		before = learnt
	}
}

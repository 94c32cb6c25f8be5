// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestAmplitudeLaw: the density of the law integrates to 1 with what amplitude 1 itself has, what is drawn follows it, and it is near
// the likelihood whether that is wide or narrow.
func TestAmplitudeLaw(t *testing.T) {
	for _, amplitude := range []Amplitude{MixedAmplitude, UniformAmplitude, UnitAmplitude} {
		for _, scale := range []float64{.1, 1, 30, 3000} {
			y := []float64{.3*scale + .5, .3*scale - .5, 40}
			e := newFaultyEvidence(y, Faults{Rate: .01}, amplitude)
			var l amplitudeLaw
			e.column([]float64{scale, scale, scale / 2}, &l.column)
			l.set(e.prior)
			below, cut := 0.0, .29999
			total, end := l.prior.one*math.Exp(l.logDensity(1)), 1.0
			for k := 1; l.prior.even > 0 && k < len(l.at); k++ {
				const parts = 200
				for m := range parts {
					a := l.at[k-1] + (l.at[k]-l.at[k-1])*(float64(m)+.5)/parts
					mass := l.prior.even * (l.at[k] - l.at[k-1]) / parts * math.Exp(l.logDensity(a))
					if total += mass; a < cut {
						below += mass
					}
				}
			}
			if math.Abs(total-1) > 1e-3 {
				t.Errorf("%v, scale %v: the law adds up to %v", amplitude, scale, total)
			}
			const draws = 20_000
			rnd, count := rand.New(rand.NewPCG(1, 2)), 0
			for range draws {
				a := l.draw(rnd)
				if end = min(end, a); a < cut {
					count++
				}
			}
			if got := float64(count) / draws; math.Abs(got-below) > 4*math.Sqrt(below*(1-below)/draws)+1e-3 || end < 0 {
				t.Errorf("%v, scale %v: %v of the draws are below %v, want %v", amplitude, scale, got, cut, below)
			}
			if scale == 3000 && l.prior.even > 0 && !(l.logDensity(.3)-l.logDensity(.29) > 8) {
				t.Errorf("%v: a narrow likelihood is missed, by %v and %v", amplitude, l.logDensity(.3), l.logDensity(.29))
			}
		}
	}
}

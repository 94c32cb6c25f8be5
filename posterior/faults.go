// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"fmt"
	"math"

	"github.com/graphcloak/graphcloak/measurement"
)

// Faults says how often sensors are broken: given the rate π each by itself, and π has a prior
// of mean Rate, so that sensors that are seen to be broken make others the more suspect. A broken
// sensor's reading does not depend on the sources, but its noise is still added. The
// likelihood of measurement s of a sound sensor with mean x is N(y_s; x, 1), so that of any
// sensor is
//
//	(1 − π)·N(y_s; x, 1) + π·W_s(y_s).
//
// A broken reading is anywhere in [l, h], the range that readings are clipped to, with
// probability ½, and at each end, where all lands that lies beyond, with probability ¼:
//
//	W_s(y) = ½·(Φ(y − l) − Φ(y − h))/(h − l) + ¼·φ(y − l) + ¼·φ(y − h).
//
// The ends also keep N/W bounded by 4 where y is outside the range, of every mean within it.
// Where no range is known, W_s is a Cauchy density about 0 of half width 30, under which no measurement, however
// large, speaks for more than a few nats. The zero value is no fault at all.
type Faults struct {
	Rate float64 // the mean of π, in [0, 1)
	// Low and High are l and h in units of the noise, one a row of A, up to
	// [measurement.MaxLength] either way; nil: unknown.
	Low, High []float64

	known bool // π is Rate
}

// unknownWidth is the half width of a broken sensor's measurement in units of the noise,
// where its range is unknown.
const unknownWidth = 30

// maxRate is the largest mean of π: nearer to 1 a rate of the prior rounds to 1, under which a sound sensor
// is impossible.
const maxRate = 1 - 1e-12

// CheckFaultRate refuses, with [ErrInvalid], what is no rate of faults in [0, 1 − 10⁻¹²].
func CheckFaultRate(rate float64) error {
	if !(rate >= 0 && rate <= maxRate) {
		return fmt.Errorf("%w: the sensor fault rate is %v, want at least 0 and below 1, by 1e-12 or more", ErrInvalid, rate)
	}
	return nil
}

// check refuses faults that do not fit to m measurements.
func (f Faults) check(m int) error {
	if err := CheckFaultRate(f.Rate); err != nil {
		return err
	}
	if f.Low == nil && f.High == nil {
		return nil
	}
	if len(f.Low) != m || len(f.High) != m {
		return fmt.Errorf("%w: %d and %d ends of ranges for %d measurements", ErrInvalid, len(f.Low), len(f.High), m)
	}
	for s, l := range f.Low {
		if h := f.High[s]; !(l <= h) || max(math.Abs(l), math.Abs(h)) > measurement.MaxLength {
			return fmt.Errorf("%w: the range of measurement %d is from %v to %v", ErrInvalid, s, l, h)
		}
	}
	return nil
}

// logBroken returns log W_s(y).
func (f Faults) logBroken(s int, y float64) float64 {
	if f.Low == nil {
		return -math.Log(math.Pi*unknownWidth) - math.Log1p(y/unknownWidth*(y/unknownWidth))
	}
	l, h := f.Low[s], f.High[s]
	return logSum([]float64{
		logUniform(y, l, h) - math.Ln2, logNormal(y-l) - 2*math.Ln2, logNormal(y-h) - 2*math.Ln2,
	})
}

// narrowRange is a width, in units of the noise, within which a uniform reading cannot be
// told from the middle of its range: the density differs by less than its square.
const narrowRange = 1e-5

// logUniform returns the log density of a reading uniform on [l, h] with noise N(0, 1),
// (Φ(y−l) − Φ(y−h))/(h−l), in both tails by the Mills ratio.
func logUniform(y, l, h float64) float64 {
	if h-l < narrowRange {
		return logNormal(y - (l+h)/2)
	}
	u, v := y-l, y-h // u > v
	if u+v < 0 {
		u, v = -v, -u
	}
	if v <= 0 {
		return math.Log((1 - tail(u) - tail(-v)) / (h - l))
	}
	return logNormal(v) + math.Log((mills(v)-math.Exp((v-u)*(v+u)/2)*mills(u))/(h-l))
}

// logNormal returns log φ(x).
func logNormal(x float64) float64 { return -x*x/2 - math.Log(2*math.Pi)/2 }

// softplus returns log(1 + e^x).
func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

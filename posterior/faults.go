// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"fmt"
	"math"

	"github.com/graphcloak/graphcloak/measurement"
)

// Faults says how often sensors are faulty: given the state of their network each by itself. The noise of a faulty
// sensor is added all the same. In units of the noise, what sensor s published is, where a source
// gives it the mean x, of density
//
//	sound:   N(y; x, 1)
//	broken:  W_s(y)
//	silent:  N(y; 0, 1), the reading being 0, or the end of the range nearest to it
//	shifted: N(y; x, v), v = 10: a drift, or a wrong scale, of a few times the noise
//
// A broken reading is anywhere in [l, h], the range that readings are clipped to, with
// probability ½, and at each end, where all lands that lies beyond, with probability ¼, half
// the time with the variance of a shifted one:
//
//	W_s(y) = ½·(Φ(y − l) − Φ(y − h))/(h − l) + ⅛·(φ(y − l) + φ(y − h) + φ_v(y − l) + φ_v(y − h)).
//
// The ends also keep what one sensor says bounded where y is outside the range, of every mean within it.
// Where no range is known, W_s is a Cauchy density about 0 of half width 30, under which no measurement, however
// large, speaks for more than a few nats.
//
// Rate is the mean of the rate of broken sensors. Of the others, 3o are silent and 4o shifted for each that is sound, in the
// mean, with o the odds of Rate. How many are broken, and how many shifted, is learnt: sensors that are seen to be faulty make others the more
// suspect. The zero value is no fault at all.
type Faults struct {
	Rate float64 // in [0, 1)
	// Low and High are l and h in units of the noise, one a row of A, up to
	// [measurement.MaxLength] either way; nil: unknown.
	Low, High []float64

	only int // the state that is known, from 1; 0: none
}

// shiftedVariance is v.
const shiftedVariance = 10

// unknownWidth is the half width of a broken sensor's measurement in units of the noise,
// where its range is unknown.
const unknownWidth = 30

// maxRate is the largest mean rate: nearer to 1 a rate of the prior rounds to 1, under which a sound sensor
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
	parts := f.brokenParts(s, y)
	return logSum(parts[:])
}

// brokenParts are the logarithms of the parts of W_s(y), each with one peak, where the range is known.
func (f Faults) brokenParts(s int, y float64) [5]float64 {
	l, h := f.Low[s], f.High[s]
	const end = 3 * math.Ln2
	return [5]float64{
		logUniform(y, l, h) - math.Ln2, logNormal(y-l) - end, logNormal(y-h) - end, logShifted(y-l) - end, logShifted(y-h) - end,
	}
}

// silence is what a silent sensor reads.
func (f Faults) silence(s int) float64 {
	if f.Low == nil {
		return 0
	}
	return min(max(0, f.Low[s]), f.High[s])
}

// logDeaf returns the log density of a sensor that is broken or silent, with the probabilities of both.
func (f Faults) logDeaf(s int, y float64, p kinds) float64 {
	return logAdd(math.Log(p.broken)+f.logBroken(s, y), math.Log(p.silent)+logNormal(y-f.silence(s)))
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

// logShifted returns log φ_v(x).
func logShifted(x float64) float64 {
	return -x*x/(2*shiftedVariance) - math.Log(2*math.Pi*shiftedVariance)/2
}

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
//	random:  (Φ(y − l) − Φ(y − h))/(h − l), the reading being anywhere in [l, h], the range that readings are clipped to
//	stuck:   (w·(φ(y − l) + φ_v(y − l)) + (1 − w)·(φ(y − h) + φ_v(y − h)))/2, at an end of it, where all lands that lies beyond
//	silent:  N(y; z, 1), the reading z being 0, or the end of the range nearest to it
//	shifted: N(y; x, v), v = 10: a drift, or a wrong scale, of a few times the noise
//
// with w = ⅛ + ¾·(z − l)/(h − l): what is stuck near z is as good as silent. Random and stuck sensors are broken.
// The ends also keep what one sensor says bounded where y is outside the range, of every mean within it.
// Where no range is known, both densities are a Cauchy one about 0 of half width 30, under which no measurement, however
// large, speaks for more than a few nats.
//
// Rate is the mean of the rate of broken sensors, half of them random. Of the others, 2o are silent and 4o shifted for each that is sound, in the
// mean, with o the odds of Rate. How many are random, stuck and shifted is learnt: sensors that are seen to be faulty make others the more
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

// logUnknown returns the log density of a broken sensor where no range is known.
func logUnknown(y float64) float64 {
	return -math.Log(math.Pi*unknownWidth) - math.Log1p(y/unknownWidth*(y/unknownWidth))
}

// logDeafParts are the logarithms of the parts, each with one peak, of the density of a sensor that is broken or silent,
// with the probabilities of both, where the range is known.
func (f Faults) logDeafParts(s int, y float64, p kinds) [6]float64 {
	l, h := f.Low[s], f.High[s]
	atLow, atHigh := f.ends(s)
	low, high := math.Log(p.stuck)+math.Log(atLow/2), math.Log(p.stuck)+math.Log(atHigh/2)
	return [6]float64{
		math.Log(p.random) + logUniform(y, l, h),
		low + logNormal(y-l), low + logShifted(y-l), high + logNormal(y-h), high + logShifted(y-h),
		math.Log(p.silent) + logNormal(y-f.silence(s)),
	}
}

// leastEnd is the probability that a stuck sensor is at the end of its range which a silent one reads.
const leastEnd = 1. / 8

// ends returns the probability of either end, l and h, where a sensor is stuck.
func (f Faults) ends(s int) (low, high float64) {
	share, l, h := .5, f.Low[s], f.High[s]
	if h > l {
		share = (f.silence(s) - l) / (h - l)
	}
	low = leastEnd + (1-2*leastEnd)*share
	return low, 1 - low
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
	if f.Low == nil {
		return logAdd(math.Log(p.random+p.stuck)+logUnknown(y), math.Log(p.silent)+logNormal(y))
	}
	parts := f.logDeafParts(s, y, p)
	return logSum(parts[:])
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

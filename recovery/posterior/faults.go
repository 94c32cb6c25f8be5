// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"fmt"
	"math"

	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// Faults says how often sensors are faulty, each by itself and at all of its times. The noise of a faulty sensor is added all the
// same. In units of the noise, what sensor s published is, where a source gives it the mean x, of density
//
//	sound:   N(y; x, 1)
//	broken:  (Φ(y − l) − Φ(y − h))/(h − l)/2 + (φ(y − l) + φ_v(y − l) + φ(y − h) + φ_v(y − h))/8
//	shifted: N(y; x, v), v = 10: a drift, or a wrong scale, of a few times the noise
//
// and of several times the product of these densities; of a broken sensor, of each of the five terms.
//
// A broken sensor reads anything in [l, h], the range that readings are clipped to, or is stuck at an end of it, where all
// lands that lies beyond. The ends also keep what one sensor says bounded where y is outside the range, of every mean within it.
// Where no range is known, the density of a broken sensor is a Cauchy one about 0 of half width 30, under which no measurement,
// however large, speaks for more than a few nats. The zero value is no fault at all.
type Faults struct {
	// Rate is the probability of a sensor to be broken, in [0, 1). Of the others, 4o are shifted for each that is sound, with o the
	// odds of Rate.
	Rate float64
	// Low and High are l and h in units of the noise, one a row of A, up to
	// [measurement.MaxLength] either way; nil: unknown.
	Low, High []float64
	// Sensors numbers the sensor of each measurement, ascending from 0; nil: each has its own.
	Sensors []int
}

// shiftedVariance is v.
const shiftedVariance = 10

// unknownWidth is the half width of a broken sensor's measurement in units of the noise,
// where its range is unknown.
const unknownWidth = 30

// maxRate is the largest rate: nearer to 1 a sound sensor is all but impossible.
const maxRate = 1 - 1e-12

// shiftedOdds is how much commoner shifted sensors are supposed than broken ones, against sound ones: what is hard to
// see is seldom fixed.
const shiftedOdds = 4

// prior returns the probabilities of a sensor to be sound, shifted and broken.
func (f Faults) prior() (sound, shifted, broken float64) {
	sound = (1 - f.Rate) * (1 - f.Rate) / (1 - f.Rate + shiftedOdds*f.Rate)
	return sound, 1 - f.Rate - sound, f.Rate
}

// FaultyPrior returns the probability, before any measurement, that a sensor is broken or shifted at a rate of broken
// ones: at .01 it is .048.
func FaultyPrior(rate float64) float64 {
	sound, _, _ := Faults{Rate: rate}.prior()
	return 1 - sound
}

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
	if f.Sensors != nil && len(f.Sensors) != m {
		return fmt.Errorf("%w: the sensors of %d of %d measurements", ErrInvalid, len(f.Sensors), m)
	}
	next := 0
	for _, s := range f.Sensors {
		if s != next && s != next-1 || s < 0 {
			return fmt.Errorf("%w: sensor %d where %d is next", ErrInvalid, s, next)
		}
		next = s + 1
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

// logBroken returns the log density of a broken sensor with the measurements y[from:to].
func (f Faults) logBroken(y []float64, from, to int) (log float64) {
	if f.Low == nil {
		for _, v := range y[from:to] {
			log += logUnknown(v)
		}
		return log
	}
	const logHalf, logEighth = -math.Ln2, -3 * math.Ln2
	terms := []float64{logHalf, logEighth, logEighth, logEighth, logEighth}
	for r := from; r < to; r++ {
		v, l, h := y[r], f.Low[r], f.High[r]
		for k, log := range [...]float64{logUniform(v, l, h), logNormal(v - l), logShifted(v - l), logNormal(v - h), logShifted(v - h)} {
			terms[k] += log
		}
	}
	return logSum(terms)
}

// narrowRange is a width, in units of the noise, within which a uniform reading is taken
// for the middle of its range: the density differs by less than its square.
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

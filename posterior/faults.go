// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"fmt"
	"math"
)

// Faults says how often sensors are broken, each by itself. A broken sensor's reading does
// not depend on the sources, but its noise is still added. The likelihood of measurement s
// of a sound sensor with mean x is N(y_s; x, 1), so that of any sensor is
//
//	(1 − π)·N(y_s; x, 1) + π·W_s(y_s).
//
// A broken reading is anywhere in [l, h], the range that readings are clipped to, with
// probability ½, and at each end, where all lands that lies beyond, with probability ¼:
//
//	W_s(y) = ½·(Φ(y − l) − Φ(y − h))/(h − l) + ¼·φ(y − l) + ¼·φ(y − h).
//
// The ends also keep N/W bounded by 4 where y is outside the range. Where no range is
// known, W_s is a Cauchy density about 0 of half width 30, under which no measurement, however
// large, speaks for more than a few nats. The zero value is no fault at all.
type Faults struct {
	Rate float64 // π, in [0, 1)
	// Low and High are l and h in units of the noise, one a row of A; nil: unknown.
	Low, High []float64
}

// unknownWidth is the half width of a broken sensor's measurement in units of the noise,
// where its range is unknown.
const unknownWidth = 30

// CheckFaultRate refuses, with [ErrInvalid], what is no rate of faults in [0, 1).
func CheckFaultRate(rate float64) error {
	if !(rate >= 0 && rate < 1) {
		return fmt.Errorf("%w: the sensor fault rate is %v, want at least 0 and below 1", ErrInvalid, rate)
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
		if h := f.High[s]; !(l <= h) || math.IsInf(l, 0) || math.IsInf(h, 0) {
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

// sensor is one measurement whose sensor may be broken. Against no source anywhere the
// likelihood of a mean x is broken + e^{logSound + x·y − x²/2}: the probabilities are those
// of no source, and their sum is 1.
type sensor struct {
	y, logSound, broken float64
}

// exponent returns the log likelihood of mean x against that of mean 0 for a sound sensor,
// with the log probability that it is one.
func (s sensor) exponent(x float64) float64 { return s.logSound + x*(s.y-x/2) }

// ratio returns the likelihood of mean x against that of mean 0. It is +Inf where that is no
// number, as it may be of means outside of the range of a broken sensor.
func (s sensor) ratio(x float64) float64 { return s.broken + math.Exp(s.exponent(x)) }

// logRatio returns log ratio(x), to full precision where that is near 0.
func (s sensor) logRatio(x float64) float64 {
	if t := x * (s.y - x/2); t < 1 {
		return math.Log1p(math.Exp(s.logSound) * math.Expm1(t))
	}
	if e := s.exponent(x); e > largestExponent {
		return e
	}
	return math.Log(s.ratio(x))
}

// largestExponent is one whose exponential can be multiplied by 1e150; a sensor's probability
// to be broken adds nothing to it.
const largestExponent = 340

// sensors prepares the measurements y.
func (f Faults) sensors(y []float64) []sensor {
	out := make([]sensor, len(y))
	odds := math.Log(f.Rate) - math.Log1p(-f.Rate)
	for s, v := range y {
		w := odds + f.logBroken(s, v) - logNormal(v) // log odds of broken against sound
		out[s] = sensor{y: v, logSound: -softplus(w), broken: math.Exp(-softplus(-w))}
	}
	return out
}

// softplus returns log(1 + e^x).
func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

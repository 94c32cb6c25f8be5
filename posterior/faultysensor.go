// SPDX-License-Identifier: Apache-2.0

package posterior

import "math"

// sensor is one measurement whose sensor may be broken. Against no source anywhere the
// likelihood of a mean x is broken + e^{logSound + x·y − x²/2}: the probabilities are those
// of no source, and their sum is 1. Either may be below all numbers, where its logarithm is not.
type sensor struct {
	y, logSound, logBroken float64
	broken                 float64 // e^logBroken
}

// sensors prepares the measurements y.
func (f Faults) sensors(y []float64) []sensor {
	out := make([]sensor, len(y))
	odds := math.Log(f.Rate) - math.Log1p(-f.Rate)
	for s, v := range y {
		w := odds + f.logBroken(s, v) - logNormal(v) // log odds of broken against sound
		out[s] = sensor{y: v, logSound: -softplus(w), logBroken: -softplus(-w), broken: math.Exp(-softplus(-w))}
	}
	return out
}

// Between these a ratio of likelihoods is a number to full precision, and so is a product of two;
// beyond them it is its logarithm that counts.
const (
	smallRatio = 1e-150
	largeRatio = 1e150
)

// plain reports whether a ratio is between the two.
func plain(ratio float64) bool { return ratio > smallRatio && ratio < largeRatio }

// ratio returns the likelihood of mean x against that of mean 0: 0 or +Inf where that is beyond
// all numbers.
func (s sensor) ratio(x float64) float64 { return s.broken + math.Exp(s.logSound+x*(s.y-x/2)) }

// logRatio returns log ratio(x), finite, and to full precision where that is near 0.
func (s sensor) logRatio(x float64) float64 {
	t := x * (s.y - x/2)
	if t < 1 {
		if v := math.Exp(s.logSound) * math.Expm1(t); v > -.5 {
			return math.Log1p(v)
		}
	}
	t += s.logSound
	return max(t, s.logBroken) + math.Log1p(math.Exp(-math.Abs(t-s.logBroken)))
}

// brokenAt returns the probability that the sensor is broken where its mean is x.
func (s sensor) brokenAt(x float64) float64 {
	if r := s.ratio(x); plain(r) {
		return s.broken / r
	}
	return math.Exp(min(0, s.logBroken-s.logRatio(x)))
}

// sound returns the probability that the sensor is sound where its mean is x.
func (s sensor) sound(x float64) float64 { return 1 - s.brokenAt(x) }

// beyond returns the sensor where a mean is known already: y is what remains.
func (s sensor) beyond(mean float64) sensor {
	all := s.logRatio(mean)
	broken := min(0, s.logBroken-all)
	return sensor{
		y: s.y - mean, logSound: min(0, s.logSound+mean*(s.y-mean/2)-all),
		logBroken: broken, broken: math.Exp(broken),
	}
}

// product is the logarithm of a product of ratios, of which few logarithms are taken.
type product struct{ log, factor float64 }

// times multiplies by the likelihood of mean x.
func (p *product) times(s sensor, x float64) {
	r := s.ratio(x)
	if !plain(r) {
		p.log += s.logRatio(x)
		return
	}
	p.factor *= r
	if !plain(p.factor) {
		p.log += math.Log(p.factor)
		p.factor = 1
	}
}

func (p *product) value() float64 { return p.log + math.Log(p.factor) }

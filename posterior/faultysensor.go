// SPDX-License-Identifier: Apache-2.0

package posterior

import "math"

// sensor is one measurement whose sensor may be broken, at each of the fault rates that are
// possible. Against no source anywhere the likelihood of a mean x is
// broken + sound·e^{x·y − x²/2}: the probabilities are those of no source, and their sum is 1.
type sensor struct {
	y             float64
	sound, broken [maxRates]float64
	// odds are the log odds of broken against sound where one of them is below smallRatio; else nil.
	odds *[maxRates]float64
}

// setOdds sets the probabilities by the log odds of broken against sound.
func (s *sensor) setOdds(odds [maxRates]float64) {
	far := false
	for k, v := range odds {
		s.sound[k], s.broken[k] = math.Exp(-softplus(v)), math.Exp(-softplus(-v))
		far = far || min(s.sound[k], s.broken[k]) <= smallRatio
	}
	if far {
		s.odds = &odds
	}
}

// logs returns the logarithms of both probabilities at a rate.
func (s *sensor) logs(k int) (sound, broken float64) {
	if s.odds != nil {
		return -softplus(s.odds[k]), -softplus(-s.odds[k])
	}
	return math.Log(s.sound[k]), math.Log(s.broken[k])
}

// sensors prepares the measurements y. logRates are the log probabilities of the fault rates given
// no source, and base is the log evidence of that against sound sensors.
func (f Faults) sensors(y []float64) (out []sensor, logRates []float64, base float64) {
	rates, logRates := f.rates()
	out = make([]sensor, len(y))
	for k, p := range logRates {
		logRates[k] = math.Log(p)
	}
	for s, v := range y {
		out[s].y = v
		against := f.logBroken(s, v) - logNormal(v)
		var odds [maxRates]float64
		for k, rate := range rates {
			odds[k] = math.Log(rate) - math.Log1p(-rate) + against
			logRates[k] += math.Log1p(-rate) + softplus(odds[k]) // log((1−π)N + πW) − log N
		}
		out[s].setOdds(odds)
	}
	base = logSum(logRates)
	for k := range logRates {
		logRates[k] -= base
	}
	return out, logRates, base
}

// Between these a ratio of likelihoods is a number to full precision, and so is a product of two;
// beyond them it is its logarithm that counts.
const (
	smallRatio = 1e-150
	largeRatio = 1e150
)

// plain reports whether a ratio is between the two.
func plain(ratio float64) bool { return ratio > smallRatio && ratio < largeRatio }

// exponent returns x·y − x²/2.
func (s *sensor) exponent(x float64) float64 { return x * (s.y - x/2) }

// logRatio returns, at a rate, the logarithm of the likelihood of exponent t against that of mean 0,
// finite, and to full precision where that is near 0.
func (s *sensor) logRatio(k int, t float64) float64 {
	if t < 1 {
		if v := s.sound[k] * math.Expm1(t); v > -.5 {
			return math.Log1p(v)
		}
	}
	sound, broken := s.logs(k)
	sound += t
	return max(sound, broken) + math.Log1p(math.Exp(-math.Abs(sound-broken)))
}

// soundAt returns the probability that the sensor is sound at a rate where its mean is x.
func (s *sensor) soundAt(k int, x float64) float64 {
	t := s.exponent(x)
	if e := math.Exp(t); plain(e) {
		return 1 - s.broken[k]/(s.broken[k]+s.sound[k]*e)
	}
	_, broken := s.logs(k)
	return 1 - math.Exp(min(0, broken-s.logRatio(k, t)))
}

// beyond returns the sensor where a mean is known already: y is what remains.
func (s *sensor) beyond(mean float64) (out sensor) {
	out.y = s.y - mean
	t := s.exponent(mean)
	if e := math.Exp(t); plain(e) && s.odds == nil {
		least := 1.0
		for k := range s.sound {
			r := s.broken[k] + s.sound[k]*e
			out.sound[k], out.broken[k] = s.sound[k]*e/r, s.broken[k]/r
			least = min(least, out.sound[k], out.broken[k])
		}
		if least > smallRatio {
			return out
		}
	}
	var odds [maxRates]float64
	for k := range odds {
		sound, broken := s.logs(k)
		odds[k] = broken - sound - t
	}
	out.setOdds(odds)
	return out
}

// ratios are the logarithms of products of ratios, one for each fault rate, of which few logarithms
// are taken.
type ratios struct{ log, factor [maxRates]float64 }

func newRatios() ratios { return ratios{factor: [maxRates]float64{1, 1, 1, 1}} }

// times multiplies by the likelihood of mean x. Where e^t is a plain number each ratio is.
func (p *ratios) times(s *sensor, x float64) {
	t := s.exponent(x)
	e := math.Exp(t)
	if !plain(e) {
		for k := range p.log {
			p.log[k] += s.logRatio(k, t)
		}
		return
	}
	for k := range p.factor {
		f := p.factor[k] * (s.broken[k] + s.sound[k]*e)
		if !plain(f) {
			p.log[k] += math.Log(f)
			f = 1
		}
		p.factor[k] = f
	}
}

// value returns the logarithm of a product.
func (p *ratios) value(k int) float64 { return p.log[k] + math.Log(p.factor[k]) }

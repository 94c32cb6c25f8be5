// SPDX-License-Identifier: Apache-2.0

package posterior

import "math"

// sensor is one that may be faulty. Against no source anywhere the likelihood of the means x of its measurements y is, with
// t = Σ x·y − x²/2,
//
//	broken + sound·e^t + shifted·e^{t/v},
//
// v = [shiftedVariance]: the probabilities are those of no source, and their sum is 1.
type sensor struct {
	sound, shifted, broken float64
	log                    sensorLogs
}

// sensorLogs are the logarithms of the probabilities of a sensor.
type sensorLogs struct{ sound, shifted, broken float64 }

// sum returns the logarithm of the sum.
func (l sensorLogs) sum() float64 {
	largest := max(l.sound, l.shifted, l.broken)
	return largest + math.Log(math.Exp(l.sound-largest)+math.Exp(l.shifted-largest)+math.Exp(l.broken-largest))
}

// moved returns the logarithms at the exponent t.
func (l sensorLogs) moved(t float64) sensorLogs {
	return sensorLogs{l.sound + t, l.shifted + t/shiftedVariance, l.broken}
}

// newSensor returns a sensor whose probabilities are given by logarithms of any scale.
func newSensor(l sensorLogs) sensor {
	sum := l.sum()
	l.sound, l.shifted, l.broken = l.sound-sum, l.shifted-sum, l.broken-sum
	return sensor{math.Exp(l.sound), math.Exp(l.shifted), math.Exp(l.broken), l}
}

// sensors prepares those of the measurements y; of numbers each.
func (f Faults) sensors(y []float64, of []int) []sensor {
	sound, shifted, broken := f.prior()
	prior := sensorLogs{math.Log(sound), math.Log(shifted), math.Log(broken)}
	var out []sensor
	for from, to := 0, 0; from < len(y); from = to {
		l := prior
		for ; to < len(y) && of[to] == of[from]; to++ {
			l.sound += logNormal(y[to])
			l.shifted += logShifted(y[to])
		}
		l.broken += f.logBroken(y, from, to)
		out = append(out, newSensor(l))
	}
	return out
}

// powers returns e^t and e^{t/v}, v = 10: the first is the tenth power of the second.
func powers(t float64) (e, q float64) {
	q = math.Exp(t / shiftedVariance)
	square := q * q
	fourth := square * square
	return fourth * fourth * square, q
}

// logRatio returns the logarithm of the likelihood of exponent t against that of mean 0,
// finite, and to full precision where that is near 0.
func (s *sensor) logRatio(t float64) float64 {
	if t < 1 {
		if v := s.sound*math.Expm1(t) + s.shifted*math.Expm1(t/shiftedVariance); v > -.5 {
			return math.Log1p(v)
		}
	}
	return s.log.moved(t).sum()
}

// at returns the probabilities of the sensor to be sound, and to be shifted, at the exponent t.
func (s *sensor) at(t float64) (sound, shifted float64) {
	if math.Abs(t) < mostSpan {
		e, q := powers(t)
		sum := s.broken + s.sound*e + s.shifted*q
		return s.sound * e / sum, s.shifted * q / sum
	}
	logs := s.log.moved(t)
	sum := logs.sum()
	return math.Exp(logs.sound - sum), math.Exp(logs.shifted - sum)
}

// gain is the mean weight of the sensor where it moves little: what it adds to the log likelihood is
// gain·t, and curves with the variance of the weight.
func (s *sensor) gain() (mean, variance float64) {
	mean = s.sound + s.shifted/shiftedVariance
	return mean, s.sound + s.shifted/(shiftedVariance*shiftedVariance) - mean*mean
}

// ratios is the logarithm of a product of ratios, of which few logarithms are taken.
type ratios struct {
	log, factor float64
	span        float64 // bounds the logarithm of the factor
}

// mostSpan is the largest span: within it a ratio, and a product, is a plain number.
const mostSpan = 345

// times multiplies by the likelihood of exponent t. Where e^t is a plain number the ratio is: a mean of 1, e^t and e^{t/v}, it is
// between 1 and e^t.
func (p *ratios) times(s *sensor, t float64) {
	if !(math.Abs(t) < mostSpan) {
		p.log += s.logRatio(t)
		return
	}
	if p.span += math.Abs(t); p.span > mostSpan {
		p.log += math.Log(p.factor)
		p.factor, p.span = 1, math.Abs(t)
	}
	e, q := powers(t)
	p.factor *= s.broken + s.sound*e + s.shifted*q
}

// value returns the logarithm of the product.
func (p *ratios) value() float64 { return p.log + math.Log(p.factor) }

// SPDX-License-Identifier: Apache-2.0

package posterior

import "math"

// sensor is one measurement whose sensor may be faulty, in each of the states that are
// possible. Against no source anywhere the likelihood of a mean x is, with t = x·y − x²/2,
//
//	broken + sound·e^t + shifted·e^{t/v},
//
// v = [shiftedVariance]: the probabilities are those of no source, and their sum is 1.
type sensor struct {
	y                      float64
	sound, shifted, broken [maxStates]float64
	// logs are the logarithms of the three where one of them is below smallRatio; else nil.
	logs *[maxStates]sensorLogs
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

// set sets the probabilities in a number of states by logarithms of any scale, and returns their sums.
func (s *sensor) set(logs *[maxStates]sensorLogs, states int) []float64 {
	sums, far := make([]float64, states), false
	for k := range sums {
		l := &logs[k]
		sums[k] = l.sum()
		l.sound, l.shifted, l.broken = l.sound-sums[k], l.shifted-sums[k], l.broken-sums[k]
		s.sound[k], s.shifted[k], s.broken[k] = math.Exp(l.sound), math.Exp(l.shifted), math.Exp(l.broken)
		far = far || min(s.sound[k], s.shifted[k], s.broken[k]) <= smallRatio
	}
	if far {
		s.logs = logs
	}
	return sums
}

// log returns the logarithms in a state.
func (s *sensor) log(k int) sensorLogs {
	if s.logs != nil {
		return s.logs[k]
	}
	return sensorLogs{math.Log(s.sound[k]), math.Log(s.shifted[k]), math.Log(s.broken[k])}
}

// sensors prepares the measurements y. logStates are the log probabilities of the states given
// no source, and base is the log evidence of that against sound sensors.
func (f Faults) sensors(y []float64) (out []sensor, logStates []float64, base float64) {
	states, logStates := f.states()
	out = make([]sensor, len(y))
	prior := make([]sensorLogs, len(states))
	for k, p := range logStates {
		logStates[k], prior[k] = math.Log(p), states[k].logs()
	}
	for s, v := range y {
		out[s].y = v
		sound, shifted, broken, logs := logNormal(v), logShifted(v), f.logBroken(s, v), new([maxStates]sensorLogs)
		for k, p := range prior {
			logs[k] = sensorLogs{p.sound + sound, p.shifted + shifted, p.broken + broken}
		}
		for k, sum := range out[s].set(logs, len(states)) {
			logStates[k] += sum - sound
		}
	}
	base = logSum(logStates)
	for k := range logStates {
		logStates[k] -= base
	}
	return out, logStates, base
}

// Between these a ratio of likelihoods is a number to full precision, and so is a product of two;
// beyond them it is its logarithm that counts.
const (
	smallRatio = 1e-150
	largeRatio = 1e150
)

// plain reports whether a ratio is between the two.
func plain(ratio float64) bool { return ratio > smallRatio && ratio < largeRatio }

// powers returns e^t and e^{t/v}, v = 10: the first is the tenth power of the second.
func powers(t float64) (e, q float64) {
	q = math.Exp(t / shiftedVariance)
	square := q * q
	fourth := square * square
	return fourth * fourth * square, q
}

// exponent returns x·y − x²/2.
func (s *sensor) exponent(x float64) float64 { return x * (s.y - x/2) }

// logRatio returns, in a state, the logarithm of the likelihood of exponent t against that of mean 0,
// finite, and to full precision where that is near 0.
func (s *sensor) logRatio(k int, t float64) float64 {
	if t < 1 {
		if v := s.sound[k]*math.Expm1(t) + s.shifted[k]*math.Expm1(t/shiftedVariance); v > -.5 {
			return math.Log1p(v)
		}
	}
	return s.log(k).moved(t).sum()
}

// at returns the probabilities of the sensor to be sound, and to be shifted, in each state where its
// mean is x.
func (s *sensor) at(x float64, states int) (sound, shifted [maxStates]float64) {
	t := s.exponent(x)
	if e, q := powers(t); plain(e) {
		for k := range states {
			a, b := s.sound[k]*e, s.shifted[k]*q
			scale := 1 / (a + b + s.broken[k])
			sound[k], shifted[k] = a*scale, b*scale
		}
		return sound, shifted
	}
	for k := range states {
		logs := s.log(k).moved(t)
		sum := logs.sum()
		sound[k], shifted[k] = math.Exp(logs.sound-sum), math.Exp(logs.shifted-sum)
	}
	return sound, shifted
}

// unsound returns the sum, over the states, of a share times how much likelier the sensor is to be faulty where its
// mean is x than where that is 0.
func (s *sensor) unsound(x float64, shares *[maxStates]float64, states int) (sum float64) {
	t := s.exponent(x)
	if e, q := powers(t); plain(e) {
		for k := range states {
			a := s.sound[k] * e
			sum += shares[k] * (s.sound[k] - a/(a+s.shifted[k]*q+s.broken[k]))
		}
		return sum
	}
	for k := range states {
		logs := s.log(k).moved(t)
		sum += shares[k] * (s.sound[k] - math.Exp(logs.sound-logs.sum()))
	}
	return sum
}

// gain is the mean weight of the sensor where it moves little: what it adds to the log likelihood is
// gain·t, and curves with the variance of the weight.
func (s *sensor) gain(k int) (mean, variance float64) {
	mean = s.sound[k] + s.shifted[k]/shiftedVariance
	return mean, s.sound[k] + s.shifted[k]/(shiftedVariance*shiftedVariance) - mean*mean
}

// beyond returns the sensor where a mean is known already: y is what remains.
func (s *sensor) beyond(mean float64, states int) (out sensor) {
	out.y = s.y - mean
	t := s.exponent(mean)
	if e, q := powers(t); plain(e) && s.logs == nil {
		least := 1.0
		for k := range states {
			sound, shifted := s.sound[k]*e, s.shifted[k]*q
			sum := sound + shifted + s.broken[k]
			out.sound[k], out.shifted[k], out.broken[k] = sound/sum, shifted/sum, s.broken[k]/sum
			least = min(least, out.sound[k], out.shifted[k], out.broken[k])
		}
		if least > smallRatio {
			return out
		}
	}
	logs := new([maxStates]sensorLogs)
	for k := range states {
		logs[k] = s.log(k).moved(t)
	}
	out.set(logs, states)
	return out
}

// ratios are the logarithms of products of ratios, one for each state, of which few logarithms
// are taken.
type ratios struct {
	log, factor [maxStates]float64
	span        float64 // bounds the logarithm of every factor
}

func newRatios() (p ratios) {
	p.one()
	return p
}

// one makes every factor 1.
func (p *ratios) one() {
	for k := range p.factor {
		p.factor[k] = 1
	}
	p.span = 0
}

// mostSpan is the largest span: the logarithm of largeRatio.
const mostSpan = 345

// times multiplies by the likelihood of mean x. Where e^t is a plain number each ratio is: a mean of 1, e^t and e^{t/v}, it is
// between 1 and e^t.
func (p *ratios) times(s *sensor, x float64) {
	t := s.exponent(x)
	if !(math.Abs(t) < mostSpan) {
		for k := range p.log {
			p.log[k] += s.logRatio(k, t)
		}
		return
	}
	if p.span += math.Abs(t); p.span > mostSpan {
		for k, f := range p.factor {
			p.log[k] += math.Log(f)
		}
		p.one()
		p.span = math.Abs(t)
	}
	e, q := powers(t)
	for k := range p.factor {
		p.factor[k] *= s.broken[k] + s.sound[k]*e + s.shifted[k]*q
	}
}

// value returns the logarithm of a product.
func (p *ratios) value(k int) float64 { return p.log[k] + math.Log(p.factor[k]) }

// SPDX-License-Identifier: Apache-2.0

package posterior

import "math"

// reading holds the log densities of a measurement for what its sensor may be, and, against the largest, e^scale, the
// densities themselves: those do not depend on the state, so that a state costs products alone.
type reading struct {
	logSound, logShifted                         float64
	deaf                                         deafReading
	scale, sound, shifted, random, stuck, silent float64
}

func newReading(y float64, deaf deafReading) reading {
	r := reading{logSound: logNormal(y), logShifted: logShifted(y), deaf: deaf}
	r.scale = max(r.logSound, r.logShifted, deaf.most())
	of := func(log float64) float64 { return math.Exp(log - r.scale) }
	r.sound, r.shifted, r.silent = of(r.logSound), of(r.logShifted), of(deaf.silent)
	if deaf.known {
		p := &deaf.parts
		r.random = of(p[0])
		r.stuck = deaf.low*(of(p[1])+of(p[2])) + deaf.high*(of(p[3])+of(p[4]))
	} else {
		r.random = of(deaf.unknown)
		r.stuck = r.random
	}
	return r
}

// logs returns the logarithms of the likelihood in every state.
func (r *reading) logs(prior []logKinds) *[maxStates]sensorLogs {
	logs := new([maxStates]sensorLogs)
	for k, p := range prior {
		logs[k] = sensorLogs{p.sound + r.logSound, p.shifted + r.logShifted, r.deaf.log(p)}
	}
	return logs
}

// weigh sets the probabilities of a sensor by products, and multiplies sums by the likelihood in each state, against e^scale. It
// changes nothing, and reports false, where one of the parts is no plain number.
func (s *sensor) weigh(r *reading, states []kinds, sums *ratios) bool {
	var total [maxStates]float64
	for k := range states {
		p := &states[k]
		sound, shifted, deaf := p.sound*r.sound, p.shifted*r.shifted, p.random*r.random+p.stuck*r.stuck+p.silent*r.silent
		if !(min(sound, shifted, deaf) > smallRatio) {
			return false
		}
		total[k] = sound + shifted + deaf
		scale := 1 / total[k]
		s.sound[k], s.shifted[k], s.deaf[k] = sound*scale, shifted*scale, deaf*scale
	}
	sums.multiply(total[:len(states)])
	return true
}

// deafReading is what [Faults.logDeaf] takes of a measurement in every state: the parts without their probabilities, and the
// probabilities of the ends of a known range, each for either of two parts.
type deafReading struct {
	known           bool
	low, high       float64
	unknown, silent float64
	parts           [5]float64
}

func (f Faults) deafReading(s int, y float64) deafReading {
	if f.Low == nil {
		return deafReading{unknown: logUnknown(y), silent: logNormal(y)}
	}
	l, h := f.Low[s], f.High[s]
	low, high := f.ends(s)
	return deafReading{
		known: true, low: low / 2, high: high / 2, silent: logNormal(y - f.silence(s)),
		parts: [5]float64{logUniform(y, l, h), logNormal(y - l), logShifted(y - l), logNormal(y - h), logShifted(y - h)},
	}
}

// log is [Faults.logDeaf].
func (d *deafReading) log(p logKinds) float64 {
	if !d.known {
		return logAdd(p.broken+d.unknown, p.silent+d.silent)
	}
	low, high := p.stuck+math.Log(d.low), p.stuck+math.Log(d.high)
	parts := [6]float64{p.random + d.parts[0], low + d.parts[1], low + d.parts[2], high + d.parts[3], high + d.parts[4], p.silent + d.silent}
	return logSum(parts[:])
}

// most returns the largest of the parts.
func (d *deafReading) most() float64 {
	if !d.known {
		return max(d.unknown, d.silent)
	}
	p := &d.parts
	return max(p[0], p[1], p[2], p[3], p[4], d.silent)
}

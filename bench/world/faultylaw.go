// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// logLaw is the log density of what a faulty sensor publishes where a sound one would read x, in units of the noise; high is the
// upper end of the clipped range, from 0.
type logLaw func(y, x, high float64) float64

// logAt is the log density of a certain reading with its noise.
func logAt(y, reading float64) float64 { return distuv.UnitNormal.LogProb(y - reading) }

// logBetween is the log density of a reading that is uniform on [from, to], with its noise: the difference of two tails, of
// which neither is near 1.
func logBetween(y, from, to float64) float64 {
	y = -math.Abs(y - (from+to)/2)
	half := (to - from) / 2
	return math.Log((distuv.UnitNormal.CDF(y+half) - distuv.UnitNormal.CDF(y-half)) / (2 * half))
}

// logDrift is the log density of a reading up to w off, clipped.
func logDrift(y, x, w, high float64) float64 {
	from, to := max(0, x-w), min(high, x+w)
	parts := []float64{
		math.Log((to-from)/(2*w)) + logBetween(y, from, to),
		math.Log(max(0, w-x)/(2*w)) + logAt(y, 0),
		math.Log(max(0, x+w-high)/(2*w)) + logAt(y, high),
	}
	return floats.LogSumExp(parts)
}

// knownLaw returns the posterior of the source given that k sensors anywhere, each set as likely as another, are faulty by
// a law: under that no rule is right more often than its likeliest community. The sum over sets is an elementary symmetric
// polynomial of the densities, sensor by sensor.
func (b *faultBench) knownLaw(law logLaw, k int, y []float64) []float64 {
	logs := make([]float64, len(b.column))
	sets := make([]float64, k+1) // by how many of the sensors so far are faulty
	for i, column := range b.column {
		clear(sets)
		sets[0] = 1
		for s, x := range column {
			sound, faulty := logAt(y[s], x), law(y[s], x, b.high[s])
			top := max(sound, faulty)
			p, q := math.Exp(sound-top), math.Exp(faulty-top)
			for j := k; j > 0; j-- {
				sets[j] = p*sets[j] + q*sets[j-1]
			}
			sets[0] *= p
			largest := floats.Max(sets)
			floats.Scale(1/largest, sets)
			logs[i] += top + math.Log(largest)
		}
		logs[i] += math.Log(sets[k])
	}
	return fromLogs(logs)
}

// fromLogs makes probabilities of logarithms of any scale, in place.
func fromLogs(logs []float64) []float64 {
	total := floats.LogSumExp(logs)
	for i, l := range logs {
		logs[i] = math.Exp(l - total)
	}
	return logs
}

// SPDX-License-Identifier: Apache-2.0

package posterior

import "math"

// Offset returns the log evidence, against noise alone, of an offset that some measurements share: b·h, b ~ N(0, deviation²), of which
// square is ‖h‖² and along is hᵀy.
func Offset(deviation, square, along float64) float64 {
	return backgrounds{deviation: deviation, square: square}.gain(along)
}

// Unsmoothed returns the log evidence, against noise alone, of two laws under which no sensor tells of another. A reading is 0 but
// with a probability that is uniform in [0, 1], and then 1 (answers of yes or no), or anything in [0, 1] (any). y is in units of the
// noise, of which the readings 1 have one[s].
func Unsmoothed(y, one []float64) (answers, anything float64) {
	rule := newEvidence(UniformAmplitude) // of the probability
	share := func(at func(s int) float64) float64 {
		logs := make([]float64, len(rule.at))
		for k, p := range rule.at {
			logs[k] = math.Log(rule.w[k])
			for s := range y {
				logs[k] += logAdd(math.Log1p(-p), math.Log(p)+at(s))
			}
		}
		return logSum(logs)
	}
	return share(func(s int) float64 { return one[s] * (y[s] - one[s]/2) }),
		share(func(s int) float64 { return logUniform(y[s], 0, one[s]) - logNormal(y[s]) })
}

// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"math"
	"slices"
)

// size bounds a simulation and the search by it.
type size struct {
	hypotheses               int // nodes in the sample
	minReleases, maxReleases int // trials, fewer where a trial takes more than maxProducts/maxReleases
	ascents                  int // steps of the search
	levels                   int // of the amplitude, at which the posterior is summed
}

var fullSize = size{hypotheses: 1000, minReleases: 200, maxReleases: 600, ascents: 24, levels: 16}

// draftSize is for the search of an allocation, which then is judged on a larger sample. Its levels
// are at most two standard deviations apart, so that the midpoint rule is off by 1.5 %.
var draftSize = size{hypotheses: 250, minReleases: 200, maxReleases: 200, ascents: 4, levels: 6}

// integrate is posterior given yᵀz_i in mean, with the amplitude summed over so many levels.
func integrate(post, mean, half, prior []float64, levels int) {
	top := math.Inf(-1)
	for i, t := range mean {
		peak, lo, hi := support(t, 2*half[i])
		// The largest exponent is subtracted, so that no exponent overflows.
		most := peak*t - peak*peak*half[i]
		var sum, first float64
		for q := range levels {
			a := lo + (hi-lo)*(float64(q)+.5)/float64(levels)
			e := math.Exp(a*t - a*a*half[i] - most)
			sum += e
			first += a * e
		}
		mean[i] = first / sum
		post[i] = most + math.Log(sum*(hi-lo)*prior[i])
		top = max(top, post[i])
	}
	var sum float64
	for i, v := range post {
		post[i] = math.Exp(v - top)
		sum += post[i]
	}
	for i := range post {
		post[i] /= sum
	}
}

// support returns where exp(at − a²n/2) has its maximum in [0, 1], and an interval
// that holds all but 1e-6 of its integral: six standard deviations 1/√n to each
// side, or 14 decay lengths from an end of [0, 1] where the maximum is there with a slope.
// So the midpoint rule resolves it however narrow it is.
func support(t, n float64) (peak, lo, hi float64) {
	width := 1.0
	switch {
	case n > 0:
		peak = min(1, max(0, t/n))
		width = min(1, 6/math.Sqrt(n))
	case t > 0:
		peak = 1
	}
	if slope := math.Abs(t - n*peak); slope*width > 14 {
		width = 14 / slope
	}
	return peak, max(0, peak-width), min(1, peak+width)
}

// cumulative is a distribution to draw from.
type cumulative []float64

func cumulate(p []float64) cumulative {
	c := make(cumulative, len(p))
	sum := 0.0
	for i, v := range p {
		sum += v
		c[i] = sum
	}
	return c
}

// at returns the quantile q.
func (c cumulative) at(q float64) int {
	i, _ := slices.BinarySearch(c, q*c[len(c)-1])
	return min(i, len(c)-1)
}

// standardError is that of a mean of n values with a mean square.
func standardError(mean, square, n float64) float64 {
	return math.Sqrt(max(0, square-mean*mean) / n)
}

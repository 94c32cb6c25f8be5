// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// splitRHat is the potential scale reduction of chains of the same length, each cut
// in two; 1 where nothing varies, +Inf where each chain is constant at a different value.
// Reference: Vehtari et al. (2021), Bayesian Anal. 16(2), section 3.
func splitRHat(chains [][]float64) float64 {
	halves := split(chains)
	between, within, n := variances(halves)
	switch {
	case within == 0 && between == 0:
		return 1
	case within == 0:
		return math.Inf(1)
	}
	return math.Sqrt((n-1)/n + between/within)
}

// effectiveSize is the number of independent draws with the same standard error, by
// Geyer's initial monotone sequence over all chains; 1 where each chain is
// constant at a different value.
func effectiveSize(chains [][]float64) float64 {
	halves := split(chains)
	between, within, n := variances(halves)
	total := n * float64(len(halves))
	switch {
	case within == 0 && between == 0:
		return total
	case within == 0:
		return 1
	}
	v := (n-1)/n*within + between
	rho := func(lag int) float64 {
		sum := 0.0
		for _, c := range halves {
			sum += autocovariance(c, lag)
		}
		return 1 - (within-sum/float64(len(halves)))/v
	}
	tau, last := -1.0, math.Inf(1)
	for lag := 0; lag+1 < int(n); lag += 2 {
		pair := rho(lag) + rho(lag+1)
		if pair < 0 {
			break
		}
		last = min(last, pair)
		tau += 2 * last
	}
	return min(total/max(tau, 1/math.Log10(max(total, 10))), total)
}

func split(chains [][]float64) [][]float64 {
	var out [][]float64
	for _, c := range chains {
		h := len(c) / 2
		out = append(out, c[:h], c[len(c)-h:])
	}
	return out
}

// variances returns the variance of the chains' means, the mean of their variances,
// each set to 0 below negligibleVariance, and their length.
func variances(chains [][]float64) (between, within, n float64) {
	means := make([]float64, len(chains))
	for i, c := range chains {
		m, v := stat.MeanVariance(c, nil)
		means[i] = m
		within += v / float64(len(chains))
	}
	between = stat.Variance(means, nil)
	if between < negligibleVariance {
		between = 0
	}
	if within < negligibleVariance {
		within = 0
	}
	return between, within, float64(len(chains[0]))
}

// negligibleVariance is a variance due to rounding: the traces are in nats, amplitudes, and
// 0 or 1.
const negligibleVariance = 1e-12

func autocovariance(x []float64, lag int) float64 {
	mean := floats.Sum(x) / float64(len(x))
	sum := 0.0
	for i := range len(x) - lag {
		sum += (x[i] - mean) * (x[i+lag] - mean)
	}
	return sum / float64(len(x)-1)
}

// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// maxRates is the number of fault rates that are summed over.
const maxRates = 4

// rateShape is the first parameter of the prior of π: the smaller, the heavier its tail.
const rateShape = .25

// rates returns the fault rates that are possible and the prior probability of each. How many
// sensors of a network are broken is known by its mean at best, so π has a prior of mean
// Rate: Beta(¼, b), or its mirror image above ½, whose four Gauss nodes stand for it. It
// has the same first seven moments. At a mean of .01 they are .0024, .0400, .1219 and .2550, with
// probability .8312, .1543, .0143 and .0003.
func (f Faults) rates() (rates, prior []float64) {
	if f.known {
		return []float64{f.Rate}, []float64{1}
	}
	if f.Rate <= .5 {
		return betaNodes(f.Rate)
	}
	rates, prior = betaNodes(1 - f.Rate)
	for k, x := range rates {
		rates[k] = 1 - x
	}
	return rates, prior
}

// betaNodes returns the nodes and weights of the Gauss rule for Beta(¼, b) of a mean up to ½,
// by the eigenvalues of its Jacobi matrix (Golub and Welsch 1969). With s = b − 7/4 the
// recurrence of the Jacobi polynomials on [0, 1] has no difference that cancels. Below
// leastMean the nodes are in proportion to the mean, as far as a number can tell.
func betaNodes(mean float64) (nodes, weights []float64) {
	const leastMean = 1e-20
	if mean < leastMean {
		nodes, weights = betaNodes(leastMean)
		floats.Scale(mean/leastMean, nodes)
		return nodes, weights
	}
	b := rateShape * (1 - mean) / mean
	s, alpha, beta := b+rateShape-2, b-1, rateShape-1.0
	j := mat.NewSymDense(maxRates, nil)
	j.SetSym(0, 0, (1+beta)/(s+2))
	for k := 1; k < maxRates; k++ {
		n := float64(k)
		t := 2*n + s
		j.SetSym(k, k, (4*n*n+4*n*(s+1)+2*s*(1+beta))/(2*t*(t+2)))
		square := (n + alpha) * (n + beta) * n / (t * t * (t + 1)) // times (n + s)/(t − 1), which is 1 for n = 1
		if k > 1 {
			square *= (n + s) / (t - 1)
		}
		j.SetSym(k-1, k, math.Sqrt(square))
	}
	var e mat.EigenSym
	e.Factorize(j, true)
	nodes = e.Values(nil)
	var v mat.Dense
	e.VectorsTo(&v)
	for k := range nodes {
		weights = append(weights, v.At(0, k)*v.At(0, k))
	}
	return nodes, weights
}

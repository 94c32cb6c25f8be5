// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// maxStates is the number of states of a network that are summed over.
const maxStates = 2*rateNodes - 1

// rateNodes is the number of Gauss nodes that stand for the prior of one rate.
const rateNodes = 3

// First parameters of the priors of both rates: the smaller, the heavier the tail.
const (
	brokenShape  = .25
	shiftedShape = 1
)

// How much commoner silent and shifted sensors are supposed than those that read anything: what
// is hard to see is seldom mended.
const (
	silentOdds  = 3
	shiftedOdds = 4
)

// kinds are the probabilities of what a sensor may be. They sum to 1.
type kinds struct{ sound, broken, silent, shifted float64 }

// kindsOf returns the probabilities whose odds against a sound sensor are those of three rates below 1.
func kindsOf(broken, silent, shifted float64) kinds {
	b, z, d := broken/(1-broken), silent/(1-silent), shifted/(1-shifted)
	total := 1 + b + z + d
	return kinds{1 / total, b / total, z / total, d / total}
}

// commoner returns the rate of odds that are a multiple of those of a rate below 1.
func commoner(rate, times float64) float64 { return times * rate / (1 + (times-1)*rate) }

// mean returns the probabilities at the means of all rates.
func (f Faults) mean() kinds {
	return kindsOf(f.Rate, commoner(f.Rate, silentOdds), commoner(f.Rate, shiftedOdds))
}

// states returns the states that the network may be in and the prior probability of each. How
// many sensors of a network are broken, and how many shifted, is known by its mean at best, so each of the two rates has
// a Beta prior of that mean, with first parameter ¼ and 1, whose three Gauss nodes stand for it: they have the same
// first five moments. A state is a node of either, of which at most one is not the
// likeliest. Silent sensors have a known rate: one by one they cannot be seen, and nothing is learnt of it.
func (f Faults) states() (states []kinds, prior []float64) {
	broken, p := rates(f.Rate, brokenShape)
	shifted, q := rates(commoner(f.Rate, shiftedOdds), shiftedShape)
	silent := commoner(f.Rate, silentOdds)
	for k, r := range broken {
		states, prior = append(states, kindsOf(r, silent, shifted[0])), append(prior, p[k]*q[0])
	}
	for k := 1; k < rateNodes; k++ {
		states, prior = append(states, kindsOf(broken[0], silent, shifted[k])), append(prior, p[0]*q[k])
	}
	floats.Scale(1/floats.Sum(prior), prior)
	if f.only > 0 {
		return states[f.only-1 : f.only], []float64{1}
	}
	return states, prior
}

// rates returns the nodes and weights of the Gauss rule for Beta(shape, b) of a mean below 1, or for its
// mirror image above ½: the likeliest first.
func rates(mean, shape float64) (nodes, weights []float64) {
	if mean <= .5 {
		return betaNodes(mean, shape)
	}
	nodes, weights = betaNodes(1-mean, shape)
	for k, x := range nodes {
		nodes[k] = 1 - x
	}
	return nodes, weights
}

// betaNodes returns the nodes and weights of the Gauss rule for Beta(shape, b) of a mean up to ½,
// by the eigenvalues of its Jacobi matrix (Golub and Welsch 1969). With s = b + shape − 2 the
// recurrence of the Jacobi polynomials on [0, 1] has no difference that cancels. Below
// leastMean the nodes are in proportion to the mean, as far as a number can tell.
func betaNodes(mean, shape float64) (nodes, weights []float64) {
	const leastMean = 1e-20
	if mean < leastMean {
		nodes, weights = betaNodes(leastMean, shape)
		floats.Scale(mean/leastMean, nodes)
		return nodes, weights
	}
	b := shape * (1 - mean) / mean
	s, alpha, beta := b+shape-2, b-1, shape-1
	j := mat.NewSymDense(rateNodes, nil)
	j.SetSym(0, 0, (1+beta)/(s+2))
	for k := 1; k < rateNodes; k++ {
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

// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// maxStates is the number of states of a network that are summed over.
const maxStates = brokenNodes * brokenNodes * shiftedNodes

// Numbers of Gauss nodes that stand for the prior of a rate: of random and of stuck sensors, and of shifted ones.
const (
	brokenNodes  = 2
	shiftedNodes = 3
)

// First parameters of the priors of the rates: the smaller, the heavier the tail.
const (
	brokenShape  = .25
	shiftedShape = .5
)

// randomShare is the share of broken sensors that read anything; the others are stuck at an end.
const randomShare = .5

// How much commoner silent and shifted sensors are supposed than those that read anything: what
// is hard to see is seldom mended. The odds are those against a sound one.
const (
	silentOdds  = 2
	shiftedOdds = 4
)

// kinds are the probabilities of what a sensor may be. They sum to 1.
type kinds struct{ sound, random, stuck, silent, shifted float64 }

// rateSet are the probabilities of a sensor to be random, else stuck, else silent, else shifted, else sound.
type rateSet struct{ random, stuck, silent, shifted float64 }

// kinds returns the probabilities of what a sensor may be. They are linear in each of the four, so that the means of
// independent rates give the means of the probabilities.
func (r rateSet) kinds() kinds {
	steady := 1 - r.random
	whole := steady * (1 - r.stuck)
	heard := whole * (1 - r.silent)
	return kinds{heard * (1 - r.shifted), r.random, steady * r.stuck, whole * r.silent, heard * r.shifted}
}

// rateMeans returns the mean of each rate. Of the sensors that are not broken, 2o are silent and 4o
// shifted for each that is sound, with o the odds of the rate of broken ones.
func (f Faults) rateMeans() rateSet {
	r := f.Rate
	return rateSet{
		random:  randomShare * r,
		stuck:   (1 - randomShare) * r / (1 - randomShare*r),
		silent:  silentOdds * r / (1 - r + (silentOdds+shiftedOdds)*r),
		shifted: shiftedOdds * r / (1 - r + shiftedOdds*r),
	}
}

// mean returns the probabilities in the mean over all states.
func (f Faults) mean() kinds { return f.rateMeans().kinds() }

// states returns the states that the network may be in and the prior probability of each, the likeliest first. How
// many sensors of a network are random, stuck and shifted is known by its mean at best, so each of the three rates has
// a Beta prior of that mean, with first parameter ¼, ¼ and ½, whose Gauss nodes stand for it: the two of the first
// have its first three moments, the three of the last its first five. A state is a node of each, by itself. Silent sensors
// have a known rate: one by one they cannot be seen, and nothing is learnt of it.
func (f Faults) states() (states []kinds, prior []float64) {
	mean := f.rateMeans()
	random, p := rates(mean.random, brokenShape, brokenNodes)
	stuck, q := rates(mean.stuck, brokenShape, brokenNodes)
	shifted, w := rates(mean.shifted, shiftedShape, shiftedNodes)
	for i, r := range random {
		for j, e := range stuck {
			for k, d := range shifted {
				states, prior = append(states, rateSet{r, e, mean.silent, d}.kinds()), append(prior, p[i]*q[j]*w[k])
			}
		}
	}
	if f.only > 0 {
		return states[f.only-1 : f.only], []float64{1}
	}
	return states, prior
}

// rates returns the nodes and weights of the Gauss rule for Beta(shape, b) of a mean below 1, or for its
// mirror image above ½: the likeliest first.
func rates(mean, shape float64, count int) (nodes, weights []float64) {
	small, sign, from := mean, 1.0, 0.0
	if mean > .5 {
		small, sign, from = 1-mean, -1, 1
	}
	x, w := betaNodes(small, shape, count)
	order := make([]int, count)
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(w[j], w[i]) })
	for _, k := range order {
		nodes, weights = append(nodes, from+sign*x[k]), append(weights, w[k])
	}
	return nodes, weights
}

// betaNodes returns the nodes and weights of the Gauss rule for Beta(shape, b) of a mean up to ½,
// by the eigenvalues of its Jacobi matrix (Golub and Welsch 1969). With s = b + shape − 2 the
// recurrence of the Jacobi polynomials on [0, 1] has no difference that cancels. Below
// leastMean the nodes are in proportion to the mean, as far as a number can tell.
func betaNodes(mean, shape float64, count int) (nodes, weights []float64) {
	const leastMean = 1e-20
	if mean < leastMean {
		nodes, weights = betaNodes(leastMean, shape, count)
		floats.Scale(mean/leastMean, nodes)
		return nodes, weights
	}
	b := shape * (1 - mean) / mean
	s, alpha, beta := b+shape-2, b-1, shape-1
	j := mat.NewSymDense(count, nil)
	j.SetSym(0, 0, (1+beta)/(s+2))
	for k := 1; k < count; k++ {
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

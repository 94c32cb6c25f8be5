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
const maxStates = brokenNodes * shiftedNodes

// Numbers of Gauss nodes that stand for the prior of a rate: of broken sensors, and of shifted ones.
const (
	brokenNodes  = 2
	shiftedNodes = 3
)

// rateShape is the first parameter of the prior of a rate: the smaller, the heavier its tail.
const rateShape = .5

// shiftedOdds is how much commoner shifted sensors are supposed than broken ones, against sound ones: what is hard to
// see is seldom fixed.
const shiftedOdds = 4

// kinds are the probabilities of what a sensor may be. They sum to 1.
type kinds struct{ sound, broken, shifted float64 }

// kindsOf returns the probabilities of a sensor that is broken, else shifted, with these. They are linear in each, so that
// the means of independent rates give the means of the probabilities.
func kindsOf(broken, shifted float64) kinds {
	return kinds{(1 - broken) * (1 - shifted), broken, (1 - broken) * shifted}
}

// logs returns the logarithms.
func (p kinds) logs() sensorLogs {
	return sensorLogs{math.Log(p.sound), math.Log(p.shifted), math.Log(p.broken)}
}

// shiftedMean is the mean rate of shifted sensors among those that are not broken: 4o for each that is sound.
func (f Faults) shiftedMean() float64 {
	return shiftedOdds * f.Rate / (1 - f.Rate + shiftedOdds*f.Rate)
}

// mean returns the probabilities in the mean over all states.
func (f Faults) mean() kinds { return kindsOf(f.Rate, f.shiftedMean()) }

// states returns the states that the network may be in and the prior probability of each, the likeliest first. How
// many sensors of a network are broken and shifted is known by its mean at best, so either rate has a Beta prior of that
// mean, with first parameter ½, whose Gauss nodes stand for it: the two of the first have its first three moments, the
// three of the second its first five. A state is a node of each, by itself.
func (f Faults) states() (states []kinds, prior []float64) {
	broken, p := rates(f.Rate, brokenNodes)
	shifted, w := rates(f.shiftedMean(), shiftedNodes)
	for i, r := range broken {
		for k, d := range shifted {
			states, prior = append(states, kindsOf(r, d)), append(prior, p[i]*w[k])
		}
	}
	if f.only > 0 {
		return states[f.only-1 : f.only], []float64{1}
	}
	return states, prior
}

// rates returns the nodes and weights of the Gauss rule for Beta(½, b) of a mean below 1, or for its
// mirror image above ½: the likeliest first.
func rates(mean float64, count int) (nodes, weights []float64) {
	small, sign, from := mean, 1.0, 0.0
	if mean > .5 {
		small, sign, from = 1-mean, -1, 1
	}
	x, w := betaNodes(small, count)
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

// betaNodes returns the nodes and weights of the Gauss rule for Beta(½, b) of a mean up to ½,
// by the eigenvalues of its Jacobi matrix (Golub and Welsch 1969). With s = b + ½ − 2 the
// recurrence of the Jacobi polynomials on [0, 1] has no difference that cancels. Below
// leastMean the nodes are in proportion to the mean, as far as a number can tell.
func betaNodes(mean float64, count int) (nodes, weights []float64) {
	const leastMean = 1e-20
	if mean < leastMean {
		nodes, weights = betaNodes(leastMean, count)
		floats.Scale(mean/leastMean, nodes)
		return nodes, weights
	}
	b := rateShape * (1 - mean) / mean
	s, alpha, beta := b+rateShape-2, b-1, rateShape-1
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

// FaultyPrior returns the probability, before any measurement, that a sensor is broken or shifted where broken ones
// have a mean rate, as [Faults].Rate: at .01 it is .048.
func FaultyPrior(rate float64) float64 { return 1 - Faults{Rate: rate}.mean().sound }

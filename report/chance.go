// SPDX-License-Identifier: Apache-2.0

package report

import "gonum.org/v1/gonum/floats"

// Chance returns, for each label 0 … groups−1, the prior probability that it holds at
// least one of k sources at distinct nodes, k = sources. A set of k nodes has
// prior probability ∝ Π weight: with e_j the elementary symmetric polynomials of the
// weights, group C holds a source with probability
//
//	Σ_{j≥1} e_j(C)·e_{k−j}(rest) / e_k(all),
//
// which is 1 − C(n−|C|, k)/C(n, k) under a flat prior, nil weight, and the group's
// share of the weights for one source. It is 1 where the rest has fewer than k nodes, or
// where no sum tells its share from 0.
func Chance(weight []float64, labels []int, groups, sources int) []float64 {
	k, n := sources, len(labels)
	total := float64(n)
	if weight != nil {
		total = floats.Sum(weight)
	}
	// Drawn independently with odds w ∝ weight, k nodes in all, a set has probability
	// ∝ Π w too. So e_j is taken in units of Π (1 + w): the law of the number drawn,
	// without overflow, whose mean the scale k/total keeps near k.
	of := laws(groups, k)
	for i, c := range labels {
		w := 1.0
		if weight != nil {
			w = weight[i]
		}
		w *= float64(k) / total
		draw(of[c], w/(1+w), 1/(1+w))
	}
	after := laws(groups+1, k) // after[c]: of the groups c, c+1, …
	for c := groups - 1; c >= 0; c-- {
		convolve(after[c], of[c], after[c+1])
	}
	out := make([]float64, groups)
	before, rest := laws(1, k)[0], make([]float64, k+1)
	for c := range out {
		convolve(rest, before, after[c+1])
		for j := 1; j <= k; j++ {
			out[c] += of[c][j] * rest[k-j]
		}
		if out[c] = min(1, out[c]/after[0][k]); rest[k] == 0 {
			out[c] = 1
		}
		convolve(rest, before, of[c])
		before, rest = rest, before
	}
	return out
}

// laws returns count laws of the number drawn from no node, up to k.
func laws(count, k int) [][]float64 {
	out := make([][]float64, count)
	for c := range out {
		out[c] = make([]float64, k+1)
		out[c][0] = 1
	}
	return out
}

// draw adds to a law a node that is drawn with probability p = 1 − q.
func draw(law []float64, p, q float64) {
	for j := len(law) - 1; j > 0; j-- {
		law[j] = law[j]*q + law[j-1]*p
	}
	law[0] *= q
}

// convolve sets dst to the law of the sum of two numbers, up to its length.
func convolve(dst, x, y []float64) {
	clear(dst)
	for i, v := range x {
		for j := range len(dst) - i {
			dst[i+j] += v * y[j]
		}
	}
}

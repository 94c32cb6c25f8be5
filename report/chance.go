// SPDX-License-Identifier: Apache-2.0

package report

import "slices"

// Chance returns, for each label 0 … groups−1, the prior probability that it holds at
// least one of k sources at distinct nodes, k = sources, which is 1 or 2. A set of k nodes has
// prior probability ∝ Π weight: with e_j the elementary symmetric polynomials of the
// weights, group C holds a source with probability
//
//	Σ_{1≤j≤k} e_j(C)·e_{k−j}(rest) / e_k(all),
//
// which is 1 − C(n−|C|, k)/C(n, k) under a flat prior, nil weight, and the group's
// share of the weights for one source. It is 1 where the rest has fewer than k nodes, or
// where its share rounds to 0.
func Chance(weight []float64, labels []int, groups, sources int) []float64 {
	largest := 1.0
	if weight != nil {
		largest = slices.Max(weight)
	}
	of := slices.Repeat([]symmetric{{1}}, groups)
	for i, c := range labels {
		w := 1.0
		if weight != nil {
			w = weight[i] / largest // so that no product overflows
		}
		of[c] = of[c].and(symmetric{1, w})
	}
	after := slices.Repeat([]symmetric{{1}}, groups+1) // after[c]: of the groups c, c+1, …
	for c := groups - 1; c >= 0; c-- {
		after[c] = of[c].and(after[c+1])
	}
	out, before := make([]float64, groups), symmetric{1}
	for c := range out {
		rest := before.and(after[c+1])
		for j := 1; j <= sources; j++ {
			out[c] += of[c][j] * rest[sources-j]
		}
		if out[c] = min(1, out[c]/after[0][sources]); rest[sources] == 0 {
			out[c] = 1
		}
		before = before.and(of[c])
	}
	return out
}

// symmetric is e_0, e_1 and e_2 of some weights.
type symmetric [3]float64

// and returns those of the weights of both.
func (x symmetric) and(y symmetric) symmetric {
	return symmetric{1, x[1] + y[1], x[2] + x[1]*y[1] + y[2]}
}

// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// The credible set is the head of all nodes in order, sharp or flat as the posterior may be.
func TestSetCredible(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	for _, width := range []float64{0, .1, 2, 20, 400} {
		for _, level := range []float64{.1, .5, .95, .999, 1 - 1e-7, 1} {
			p := Posterior{Probability: make([]float64, 500)}
			for i := range p.Probability {
				p.Probability[i] = math.Exp(-width * math.Round(8*r.Float64()) / 8)
			}
			floats.Scale(1/floats.Sum(p.Probability), p.Probability)
			var want []int
			for i, v := range p.Probability {
				if level > 1-1e-9 || v >= (1-level)/2/500 {
					want = append(want, i)
				}
			}
			slices.SortStableFunc(want, func(i, j int) int { return cmp.Compare(p.Probability[j], p.Probability[i]) })
			sum, k := 0.0, 0
			for k < len(want) && sum < level {
				sum += p.Probability[want[k]]
				k++
			}
			if p.setCredible(level); !slices.Equal(p.Credible, want[:k]) {
				t.Errorf("width %v, level %v: %d nodes, want %d", width, level, len(p.Credible), k)
			}
		}
	}
}

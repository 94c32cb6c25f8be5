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
func TestCredible(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	for _, width := range []float64{0, .1, 2, 20, 400} {
		p := Posterior{Probability: make([]float64, 500)}
		for i := range p.Probability {
			p.Probability[i] = math.Exp(-width * math.Round(8*r.Float64()) / 8)
		}
		floats.Scale(1/floats.Sum(p.Probability), p.Probability)
		want := everyNode(500)
		slices.SortStableFunc(want, func(i, j int) int { return cmp.Compare(p.Probability[j], p.Probability[i]) })
		sum, k := 0.0, 0
		for sum < .95 {
			sum += p.Probability[want[k]]
			k++
		}
		if got := p.Credible(); !slices.Equal(got, want[:k]) {
			t.Errorf("width %v: %d nodes, want %d", width, len(got), k)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"math"
	"math/big"
	"math/bits"
	"testing"

	"github.com/graphcloak/graphcloak/report"
)

// TestChance enumerates the sets of nodes.
func TestChance(t *testing.T) {
	labels := []int{0, 1, 0, 2, 1, 0, 2, 3}
	for name, weight := range map[string][]float64{
		"flat":         nil,
		"weighted":     {5, 1, .5, 0, 2, 3, 7, .25},
		"one has most": {98, .3, .3, .3, .3, .3, .3, .2},
		"scaled":       {5e200, 1e200, .5e200, 0, 2e200, 3e200, 7e200, .25e200},
	} {
		for k := 1; k <= 2; k++ {
			all, holds := 0.0, make([]float64, 4)
			for set := range uint(1) << len(labels) {
				if bits.OnesCount(set) != k {
					continue
				}
				p, seen := 1.0, [4]bool{}
				for i, c := range labels {
					if set>>i&1 == 0 {
						continue
					}
					seen[c] = true
					if weight != nil {
						p *= weight[i] / weight[0]
					}
				}
				all += p
				for c, yes := range seen {
					if yes {
						holds[c] += p
					}
				}
			}
			for c, got := range report.Chance(weight, labels, 4, k) {
				if want := holds[c] / all; math.Abs(got-want) > 1e-13 {
					t.Errorf("%s prior, %d sources: community %d has %v, want %v", name, k, c, got, want)
				}
			}
		}
	}
}

// TestChanceOfMany: flat, 1 − C(n−s, k)/C(n, k), and 1 exactly where the rest cannot
// hold every source.
func TestChanceOfMany(t *testing.T) {
	const n = 1000
	for _, s := range []int{400, 998, 999} {
		labels := make([]int, n)
		for i := range s {
			labels[i] = 1
		}
		for k := 1; k <= 2; k++ {
			ratio := new(big.Rat).SetFrac(new(big.Int).Binomial(int64(n-s), int64(k)), new(big.Int).Binomial(n, int64(k)))
			none, _ := ratio.Float64()
			got := report.Chance(nil, labels, 2, k)[1]
			if math.Abs(got-(1-none)) > 1e-12 || k > n-s && got != 1 {
				t.Errorf("%d sources, %d of %d nodes: %v, want %v", k, s, n, got, 1-none)
			}
		}
	}
	// e₂ is 1e-400 of the square of the largest weight.
	for _, got := range report.Chance([]float64{1e200, 1e-200, 0, 0}, []int{0, 0, 1, 1}, 2, 2) {
		if got != 1 {
			t.Errorf("weights too small for e₂: %v, want 1", got)
		}
	}
}

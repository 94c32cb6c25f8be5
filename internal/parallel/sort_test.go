// SPDX-License-Identifier: Apache-2.0

package parallel_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// TestSortFunc: the order is that of slices.SortFunc, at lengths around those of the ranges.
func TestSortFunc(t *testing.T) {
	withWorkers(t, func(workers int) {
		for _, n := range []int{0, 1, 2, 4096, 4097, 3*4096 + 1, 50_000} {
			got := rand.New(rand.NewPCG(1, uint64(n))).Perm(n)
			want := slices.Clone(got)
			down := func(a, b int) int { return cmp.Compare(b, a) }
			parallel.SortFunc(got, down)
			if slices.SortFunc(want, down); !slices.Equal(got, want) {
				t.Errorf("%d values, %d workers: another order", n, workers)
			}
		}
	})
}

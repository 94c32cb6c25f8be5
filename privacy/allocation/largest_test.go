// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// The largest values are those at the head of a stable sort, equal ones in order.
func TestLargest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	for range 200 {
		value, want := make([]float64, r.IntN(40)), []int{}
		for k := range value {
			value[k], want = float64(r.IntN(12)), append(want, k)
		}
		slices.SortStableFunc(want, func(a, b int) int { return cmp.Compare(value[b], value[a]) })
		if got := largest(value, 16); !slices.Equal(got, want[:min(16, len(want))]) {
			t.Fatalf("%v of %v, want %v", got, value, want)
		}
	}
}

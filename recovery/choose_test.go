// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"cmp"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// TestBestPrices: the columns that are added are those with the best prices of all, in their order, also where
// many have equal ones; whatever the number of workers.
func TestBestPrices(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	s := &generation{certifier: &certifier{c: make([]float64, 3*choosePiece+7)}}
	for j := range s.c {
		s.c[j] = float64(rnd.IntN(300))
	}
	odd := func(j int) bool { return j%2 == 1 }
	var want []int
	for j := range s.c {
		if odd(j) {
			want = append(want, j)
		}
	}
	slices.SortFunc(want, func(a, b int) int { return cmp.Or(cmp.Compare(s.c[b], s.c[a]), a-b) })
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, workers := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(workers)
		for _, limit := range []int{0, 1, 20, 500, len(s.c)} {
			if got := s.bestPrices(limit, odd); !slices.Equal(got, want[:min(limit, len(want))]) {
				t.Errorf("%d workers: the best %d are not those of a sort", workers, limit)
			}
		}
	}
}

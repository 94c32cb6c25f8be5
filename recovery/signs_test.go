// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"math/rand/v2"
	"runtime"
	"testing"
)

// TestSigns: the signs of a trace are those of the stream, one bit after the other, and the stream goes on after
// them; squares add up to the same bits, whatever the number of workers.
func TestSigns(t *testing.T) {
	const n = 40_001
	plain := rand.NewPCG(1, 3)
	want := make([]float64, n)
	for i := range want {
		want[i] = 1 - 2*float64(plain.Uint64()&1)
	}
	next := plain.Uint64()
	x := make([]float64, n)
	for i := range x {
		x[i] = 1 / float64(i+1)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	sum := sumSquares(x)
	for _, workers := range []int{1, 2, 3, 7, 16} {
		runtime.GOMAXPROCS(workers)
		rnd, got := rand.NewPCG(1, 3), make([]float64, n)
		setSigns(got, rnd)
		wrong := 0
		for i := range got {
			if got[i] != want[i] {
				wrong++
			}
		}
		if wrong > 0 || rnd.Uint64() != next {
			t.Errorf("%d workers: %d of %d signs differ, or the stream does after them", workers, wrong, n)
		}
		if got := sumSquares(x); got != sum || got < 1.64490 || got > 1.64494 {
			t.Errorf("%d workers: squares add up to %v, with one to %v", workers, got, sum)
		}
	}
}

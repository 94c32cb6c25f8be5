// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
)

// smallWords are words of which every third is below 2³², which a stream of chance has once
// in 2³² words.
type smallWords struct {
	*rand.PCG
	count int
}

func (s *smallWords) Uint64() uint64 {
	if s.count++; s.count%3 == 0 {
		return s.PCG.Uint64() >> 40
	}
	return s.PCG.Uint64()
}

// Normals that many workers compute are those of the stream taken word by word, also where
// a radius takes several words, and for an odd number of them.
func TestFillNormals(t *testing.T) {
	const n = 6*normalBatch + 4097 // four batches
	want := make([]float64, n+1)
	stream := &smallWords{PCG: rand.NewPCG(1, 1)}
	for i := 0; i < n; i += 2 {
		r := math.Sqrt(-2 * logUniform(stream.Uint64(), stream))
		sin, cos := math.Sincos(2 * math.Pi * (float64(stream.Uint64()>>11) * 0x1p-53))
		want[i], want[i+1] = r*cos, r*sin
	}
	for _, workers := range []int{1, 3} {
		before := runtime.GOMAXPROCS(workers)
		got := make([]float64, n)
		fillNormals(&smallWords{PCG: rand.NewPCG(1, 1)}, got)
		runtime.GOMAXPROCS(before)
		for i, v := range got {
			if v != want[i] {
				t.Fatalf("%d workers: normal %d is %v, want %v", workers, i, v, want[i])
			}
		}
	}
}

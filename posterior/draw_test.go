// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"math/rand/v2"
	"runtime"
	"testing"
)

// silentSensors is an operator of some rows and one column, of zeros.
type silentSensors int

func (m silentSensors) Dims() (rows, columns int) { return int(m), 1 }

func (m silentSensors) MulVecTo(dst []float64, _ bool, _ []float64) { clear(dst) }

// TestNoiseOfManySensors: each trial has the noise of its own stream, sensor after sensor, however many sensors there
// are and whatever the number of workers; also in memory that was used before.
func TestNoiseOfManySensors(t *testing.T) {
	const m, at = drawRows + 1000, 7
	k := &checker{seed: 5, coarse: silentSensors(m)}
	k.d.A = silentSensors(m)
	want := make([][]float64, 3)
	for j := range want {
		random := rand.New(rand.NewPCG(5, uint64(at+j)))
		for range m {
			want[j] = append(want[j], random.NormFloat64())
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, workers := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(workers)
		for _, width := range []int{3, 2} {
			_, n := k.d.A.Dims()
			b := &noiseBlock{z: make([]float64, m*width), w: make([]float64, n*width), drawn: make([]float64, m*width), width: width}
			b.draw(k, at)
			wrong := 0
			for i, v := range b.z {
				if v != want[i%width][i/width] {
					wrong++
				}
			}
			if wrong > 0 || len(b.z) != m*width {
				t.Errorf("%d workers: %d of %d values of %d trials are not those of their streams", workers, wrong, len(b.z), width)
			}
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// silentSensors is an operator of some rows and one column, of zeros.
type silentSensors int

func (m silentSensors) Dims() (rows, columns int) { return int(m), 1 }

func (m silentSensors) MulVecTo(dst []float64, _ bool, _ []float64) { clear(dst) }

// TestNoiseOfManySensors: each trial has the noise of its own stream, sensor after sensor, however many sensors there
// are and whatever the number of workers; also in memory that was used before.
func TestNoiseOfManySensors(t *testing.T) {
	const m, trials = 5000, checkBlock + 3
	k := &checker{seed: 5, d: measurement.Data{A: silentSensors(m)}}
	want := make([][]float64, trials)
	for j := range want {
		random := rand.New(rand.NewPCG(5, uint64(j)))
		for range m {
			want[j] = append(want[j], random.NormFloat64())
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, workers := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(workers)
		used := linop.GetBlock(m * checkBlock)
		for i := range used.V {
			used.V[i] = math.NaN()
		}
		used.Put()
		next := 0
		if err := k.simulate(t.Context(), trials, nil, func(at int, b *noiseBlock) {
			wrong := 0
			for i, v := range b.z {
				if v != want[at+i%b.width][i/b.width] {
					wrong++
				}
			}
			if wrong > 0 || at != next || len(b.z) != m*b.width {
				t.Errorf("%d workers: %d of %d values of %d trials from %d on are not those of their streams", workers, wrong,
					len(b.z), b.width, at)
			}
			next = at + b.width
		}); err != nil || next != trials {
			t.Errorf("%d workers: %d of %d trials, %v", workers, next, trials, err)
		}
	}
}

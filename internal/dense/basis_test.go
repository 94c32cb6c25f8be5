// SPDX-License-Identifier: Apache-2.0

package dense_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/internal/dense"
)

// Vectors are orthonormal to rounding and give every column back, also where columns
// differ from each other by 1e-9 of their length; a column that depends adds no vector.
func TestExtend(t *testing.T) {
	const m, p = 40, 6
	rnd := rand.New(rand.NewPCG(1, 1))
	b := dense.Basis{M: m}
	var all, coords [][]float64
	common := normal(rnd, m)
	for range 3 {
		var cols []float64
		for range p - 1 {
			c := normal(rnd, m)
			floats.Scale(1e-9, c)
			floats.Add(c, common)
			cols = append(cols, c...)
		}
		cols = append(cols, cols[:m]...) // once more
		for i := range p {
			all = append(all, append([]float64(nil), cols[i*m:(i+1)*m]...))
		}
		coords = append(coords, b.Extend(cols, p)...)
	}
	if b.K != 3*(p-1) {
		t.Errorf("%d vectors, want %d", b.K, 3*(p-1))
	}
	for i := range b.K {
		for j := range i + 1 {
			want := 0.0
			if i == j {
				want = 1
			}
			if got := floats.Dot(b.Vector(i), b.Vector(j)); math.Abs(got-want) > 1e-14 {
				t.Errorf("vectors %d and %d: product %v, want %v", i, j, got, want)
			}
		}
	}
	for k, c := range coords {
		for i, v := range c {
			floats.AddScaled(all[k], -v, b.Vector(i))
		}
		if left := floats.Norm(all[k], 2); left > 1e-13 {
			t.Errorf("column %d is %v from its coordinates", k, left)
		}
	}
}

func normal(rnd *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rnd.NormFloat64()
	}
	return x
}

// SPDX-License-Identifier: Apache-2.0

package dense_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
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

// Long vectors are split: the basis, the remainders and the transposes have the same bits at
// any number of workers, and what is removed is orthogonal.
func TestWorkers(t *testing.T) {
	const m, p = 30_000, 9
	var first, q []float64
	for _, workers := range []int{1, 2, 7} {
		before := runtime.GOMAXPROCS(workers)
		rnd := rand.New(rand.NewPCG(2, 2))
		b := dense.Basis{M: m}
		b.Extend(normal(rnd, m*p), p)
		b.Extend(normal(rnd, m*p), p)
		x := normal(rnd, m*p)
		b.Remove(x, p)
		columns := dense.Transpose(x, m, p)
		runtime.GOMAXPROCS(before)
		if b.K != 2*p || !slices.Equal(dense.Transpose(columns, p, m), x) {
			t.Fatalf("%d vectors, want %d, or the transpose of the transpose differs", b.K, 2*p)
		}
		for c := range p {
			for i := range b.K {
				if d := floats.Dot(columns[c*m:(c+1)*m], b.Vector(i)); math.Abs(d) > 1e-12 {
					t.Errorf("column %d: product %v with vector %d", c, d, i)
				}
			}
		}
		if first == nil {
			first, q = x, b.Q
		}
		if !slices.Equal(first, x) || !slices.Equal(q, b.Q) {
			t.Errorf("%d workers: other bits than with one", workers)
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

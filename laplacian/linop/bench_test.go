// SPDX-License-Identifier: Apache-2.0

package linop

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// BenchmarkDense: a product of a dense matrix, rows × columns × columns of the vectors, with itself or its transpose.
func BenchmarkDense(b *testing.B) {
	for _, s := range [][3]int{{3000, 3000, 16}, {300, 300, 16}, {100, 3000, 16}, {3000, 3000, 2}, {3000, 3000, 1}} {
		m := mat.NewDense(s[0], s[1], nil)
		rnd := rand.New(rand.NewPCG(1, 1))
		for i := range m.RawMatrix().Data {
			m.RawMatrix().Data[i] = rnd.Float64()
		}
		for _, trans := range []bool{false, true} {
			r, c := s[0], s[1]
			if trans {
				r, c = c, r
			}
			x, y := make([]float64, c*s[2]), make([]float64, r*s[2])
			for i := range x {
				x[i] = rnd.Float64()
			}
			b.Run(fmt.Sprint(s, trans), func(b *testing.B) {
				for b.Loop() {
					Dense{M: m}.MulBlockTo(y, trans, x, s[2])
				}
			})
		}
	}
}

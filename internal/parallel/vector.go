// SPDX-License-Identifier: Apache-2.0

package parallel

import "gonum.org/v1/gonum/floats"

// Dot returns the inner product of x and y, of equal length.
func Dot(x, y []float64) float64 {
	y = y[:len(x)]
	sum := make([]float64, 1)
	Sum(len(x), 2, sum, func(lo, hi int, sum []float64) { sum[0] += floats.Dot(x[lo:hi], y[lo:hi]) })
	return sum[0]
}

// AddSquares adds to sum_i, for each row i of the row-major block x of k columns, the
// squares of its entries.
func AddSquares(sum, x []float64, k int) {
	x = x[:len(sum)*k]
	Rows(len(sum), k+1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			s := sum[i]
			for _, v := range x[i*k : (i+1)*k] {
				s += v * v
			}
			sum[i] = s
		}
	})
}

// ScaleRows multiplies row i of the row-major block x of k columns by scale_i.
func ScaleRows(x, scale []float64, k int) {
	x = x[:len(scale)*k]
	Rows(len(scale), k+1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := x[i*k : (i+1)*k]
			for c := range row {
				row[c] *= scale[i]
			}
		}
	})
}

// SPDX-License-Identifier: Apache-2.0

package parallel

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

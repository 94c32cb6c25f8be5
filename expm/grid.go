// SPDX-License-Identifier: Apache-2.0

package expm

// roundToGrid rounds x to (x + C) − C in place, C = 1.5·2ᵉ; C = 0 leaves it as it is.
//
// ulp(C) is 2^{e−52}. For |x_i| < 2^{e−1} the sum is rounded to a multiple of it and the
// difference is exact: off by at most 2^{e−53}. A larger x_i, above C/3, loses at most
// u(|x_i| + C) and then a unit of itself: 5.1u|x_i|. So the result is 0 or at least
// 2^{e−53}: where |x_i + C| < 2ᵉ for a larger x_i, both steps are exact (Sterbenz).
func roundToGrid(x []float64, c float64) {
	if c == 0 {
		return
	}
	for i, v := range x {
		x[i] = float64(v+c) - c
	}
}

// gridUnits bounds what [roundToGrid] loses, in units of the entry.
const gridUnits = 6

// negligibleDecay is the size below which factors and entries of eigenvectors count as 0.
const negligibleDecay = 0x1p-200

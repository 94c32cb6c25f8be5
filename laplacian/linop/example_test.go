// SPDX-License-Identifier: Apache-2.0

package linop_test

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// Two of three sensors report: rows of a matrix, as an operator, and its transpose.
func ExampleRows() {
	a := linop.Dense{M: mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6})}
	s := linop.Rows(a, []int{0, 2})
	y, x := make([]float64, 2), make([]float64, 2)
	s.MulVecTo(y, false, []float64{1, 1})
	s.MulVecTo(x, true, []float64{1, 1})
	fmt.Println(y, x)
	// Output: [3 11] [6 8]
}

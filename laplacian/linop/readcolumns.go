// SPDX-License-Identifier: Apache-2.0

package linop

import "math"

// ColumnReader calls do with column j, in the caller's goroutine: its entries x at some rows, and a bound on the
// 2-norm of what they miss of the whole. Both slices are do's to change, and void after it. It may be called concurrently.
type ColumnReader func(j int, do func(rows []int32, x []float64, off float64))

// ReadableColumns is an operator whose columns can be read without a product for each.
type ReadableColumns interface {
	Operator
	// ReadColumns returns a reader of the columns of what the operator approximates, within tol in the
	// 2-norm as far as that can be had. It reports false where it cannot, or where the columns js would take longer than
	// as many products as given by most.
	ReadColumns(js []int, tol float64, most int) (ColumnReader, bool)
}

// ReadColumns calls that of a, or of what a scales, and reports false where there is none.
func ReadColumns(a Operator, js []int, tol float64, most int) (ColumnReader, bool) {
	if l, ok := a.(ReadableColumns); ok {
		return l.ReadColumns(js, tol, most)
	}
	return nil, false
}

// ReadColumns reads columns of A, whose row s.Rows[k] is scaled; tol is that of the result.
func (s Scaled) ReadColumns(js []int, tol float64, most int) (ColumnReader, bool) {
	return pickedColumns(s.A, s.Rows, s.Scale, js, tol, most)
}

// pickedColumns reads columns of some rows of a, scaled unless scale is nil. It reports false where a row is picked twice.
func pickedColumns(a Operator, pick []int, scale []float64, js []int, tol float64, most int) (ColumnReader, bool) {
	m, _ := a.Dims()
	place, factor := make([]int32, m), make([]float64, m)
	largest := 0.0
	for k, row := range pick {
		if place[row] != 0 {
			return nil, false
		}
		if place[row], factor[row] = int32(k)+1, 1; scale != nil {
			factor[row] = scale[k]
		}
		largest = max(largest, math.Abs(factor[row]))
	}
	if largest == 0 {
		return nil, false
	}
	read, ok := ReadColumns(a, js, tol/largest, most)
	if !ok {
		return nil, false
	}
	return func(j int, do func(rows []int32, x []float64, off float64)) {
		read(j, func(rows []int32, x []float64, off float64) {
			count := 0
			for i, row := range rows {
				if k := place[row] - 1; k >= 0 {
					rows[count], x[count] = k, x[i]*factor[row]
					count++
				}
			}
			do(rows[:count], x[:count], off*largest)
		})
	}, true
}

// SPDX-License-Identifier: Apache-2.0

package linop

// ReadableNormal is an operator A of whose normal matrices columns can be read without a product for each.
type ReadableNormal interface {
	Operator
	// ReadNormalColumns returns a reader of the columns of Aᵀ diag(weights) A, A being what the operator
	// approximates and each weight ≥ 0, within tol in the 2-norm as far as that can be had. It reports false
	// where it cannot, or where the columns js, or others like them, would take longer than as many products
	// as given by most.
	ReadNormalColumns(weights []float64, js []int, tol float64, most int) (ColumnReader, bool)
}

// ReadNormalColumns calls that of a, or of what a scales or picks rows of, and reports false where there is none.
// nil weights are all 1.
func ReadNormalColumns(a Operator, weights []float64, js []int, tol float64, most int) (ColumnReader, bool) {
	r, ok := a.(ReadableNormal)
	if !ok {
		return nil, false
	}
	return r.ReadNormalColumns(orOnes(weights, a), js, tol, most)
}

// ReadNormalColumns is that of A, whose row s.Rows[k] weighs weights[k]·s.Scale[k]².
func (s Scaled) ReadNormalColumns(weights []float64, js []int, tol float64, most int) (ColumnReader, bool) {
	return ReadNormalColumns(s.A, whole(s.A, s.Rows, s.Scale, weights), js, tol, most)
}

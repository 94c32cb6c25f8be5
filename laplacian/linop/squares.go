// SPDX-License-Identifier: Apache-2.0

package linop

import (
	"context"
	"slices"
)

// ColumnSquarer bounds the squared norms of columns without a product for each.
type ColumnSquarer interface {
	Operator
	// ColumnSquares sets low[k] and high[k] to bounds on Σ_i weights[i]·A_ij² for column
	// j = js[k], each weight ≥ 0, where A is what the operator approximates. It reports
	// false, with nothing that is to be used, where it cannot, or where that would take
	// longer than as many products as given by most. tol is the error in the 2-norm of a
	// column that is allowed to it.
	ColumnSquares(ctx context.Context, js []int, weights []float64, tol float64, most int, low, high []float64) (bool, error)
}

// ColumnSquares calls that of a, or of what a scales or picks rows of, and reports false
// where there is none. nil weights are all 1.
func ColumnSquares(ctx context.Context, a Operator, js []int, weights []float64, tol float64, most int, low, high []float64) (bool, error) {
	c, ok := a.(ColumnSquarer)
	if !ok {
		return false, ctx.Err()
	}
	return c.ColumnSquares(ctx, js, orOnes(weights, a), tol, most, low, high)
}

// orOnes returns weights of the rows of a: ones where they are nil.
func orOnes(weights []float64, a Operator) []float64 {
	if weights == nil {
		m, _ := a.Dims()
		weights = slices.Repeat([]float64{1}, m)
	}
	return weights
}

// whole returns the weights of all rows of a where the given ones are of the picked rows, and scale² counts with
// them unless scale is nil; the others weigh 0.
func whole(a Operator, pick []int, scale, weights []float64) []float64 {
	m, _ := a.Dims()
	all := make([]float64, m)
	for k, row := range pick {
		all[row] = weights[k]
		if scale != nil {
			all[row] = weights[k] * scale[k] * scale[k]
		}
	}
	return all
}

// ColumnSquares is that of A, whose row s.Rows[k] weighs weights[k]·s.Scale[k]².
func (s Scaled) ColumnSquares(ctx context.Context, js []int, weights []float64, tol float64, most int, low, high []float64) (bool, error) {
	return ColumnSquares(ctx, s.A, js, whole(s.A, s.Rows, s.Scale, weights), tol, most, low, high)
}

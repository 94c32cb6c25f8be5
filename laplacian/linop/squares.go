// SPDX-License-Identifier: Apache-2.0

package linop

import "context"

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
	if weights == nil {
		m, _ := a.Dims()
		weights = make([]float64, m)
		for i := range weights {
			weights[i] = 1
		}
	}
	return c.ColumnSquares(ctx, js, weights, tol, most, low, high)
}

// ColumnSquares is that of A, whose row s.Rows[k] weighs weights[k]·s.Scale[k]².
func (s Scaled) ColumnSquares(ctx context.Context, js []int, weights []float64, tol float64, most int, low, high []float64) (bool, error) {
	m, _ := s.A.Dims()
	all := make([]float64, m)
	for k, row := range s.Rows {
		all[row] = weights[k] * s.Scale[k] * s.Scale[k]
	}
	return ColumnSquares(ctx, s.A, js, all, tol, most, low, high)
}

// ColumnSquares is that of the operator whose rows are picked; the others weigh 0.
func (r rows) ColumnSquares(ctx context.Context, js []int, weights []float64, tol float64, most int, low, high []float64) (bool, error) {
	n, _ := r.a.Dims()
	all := make([]float64, n)
	for k, row := range r.pick {
		all[row] = weights[k]
	}
	return ColumnSquares(ctx, r.a, js, all, tol, most, low, high)
}

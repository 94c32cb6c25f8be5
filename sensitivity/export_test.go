// SPDX-License-Identifier: Apache-2.0

package sensitivity

import "context"

// Search is Bound without the eigendecomposition of small graphs.
func Search(ctx context.Context, m Model, u []float64, opts Options) (Bracket, error) {
	p, err := newProblem(m, u, &opts)
	if err != nil {
		return Bracket{}, err
	}
	return p.search(ctx, opts)
}

// ChiSquareQuantile is for its test.
var ChiSquareQuantile = chiSquareQuantile

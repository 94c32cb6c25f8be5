// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"
	"slices"
)

// Confirm certifies again that Δ₂ ≤ b.Upper, for a bracket from any source, found
// with any tolerance. The upper end of the result is at most b.Upper
// where that could be shown, and its lower end above b.Upper where b is wrong.
// It takes about the time of the bracket, less where b is wide or wrong.
//
// Its random screen is keyed by opts.Seed and fails with probability b.Failure at most;
// where that is 0 there is none. Tolerance of opts is ignored. It returns
// [expm.ErrAccuracy] where double precision certifies nothing.
func Confirm(ctx context.Context, m Model, u []float64, b Bracket, opts Options) (Bracket, error) {
	opts.Threshold, opts.Failure = b.Upper, b.Failure
	if b.Failure == 0 {
		opts.Seed = [32]byte{}
	}
	// The error of a computed M is about the tolerance, but grows again where rounding
	// dominates: the width of b gives the first tolerance to try, not the only one.
	width := min(max((b.Upper-b.Lower)/b.Upper, 1e-6), 0.05)
	tries := slices.Compact([]float64{width, 0.02, 1e-3, 1e-5})
	var fresh Bracket
	for _, opts.Tolerance = range tries {
		next, err := Bound(ctx, m, u, opts)
		if err != nil {
			return Bracket{}, err
		}
		if fresh.Upper == 0 || next.Upper < fresh.Upper {
			fresh = next
		}
		if opts.decided(next) || next.Exact {
			return next, nil
		}
	}
	return fresh, nil
}

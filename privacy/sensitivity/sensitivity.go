// SPDX-License-Identifier: Apache-2.0

// Package sensitivity certifies how much neighbouring sources can differ at the
// sensors,
//
//	Δ₂ = α · max over edges e = {i, j} of ‖diag(√u) M_S (e_i − e_j)‖₂ / length(e),
//
// M_S the rows of M = e^{-τL} at the sensors. Edges suffice for every
// shortest-path metric: along a geodesic the triangle inequality adds up, so no
// pair of nodes has a larger ratio than the worst edge on its way.
//
// Start with [Bound]. It returns a [Bracket] whose upper end is valid but for
// [Bracket.Failure], however many tiers ran; noise is calibrated to it. [PerSensor] bounds each
// coordinate alone. Only the public graph enters, never a reading.
package sensitivity

import (
	"context"
)

// Bound brackets Δ₂. u weighs the squares of the sensors' readings (noise
// allocation: u_s = 1/σ_s²), one entry ≥ 0 for each sensor; nil: ones. Without
// edges Δ₂ = 0. It returns [expm.ErrAccuracy] where double precision certifies nothing, and the
// error of a context that ends.
//
// Proof: docs/proofs/sensitivity.md.
func Bound(ctx context.Context, m Model, u []float64, opts Options) (Bracket, error) {
	if m.Given != nil {
		return m.boundGiven(ctx, u)
	}
	p, err := newProblem(m, u, &opts)
	if err != nil {
		return Bracket{}, err
	}
	if p.trivial() {
		return Bracket{Edge: [2]int{-1, -1}, Exact: true}, nil
	}
	spec, err := p.spectrum(ctx, m, opts)
	if err != nil {
		return Bracket{}, err
	}
	if spec == nil {
		return p.search(ctx, opts)
	}
	b, err := p.exact(ctx, spec)
	if err != nil || b.closed(opts.Tolerance) && opts.Threshold == 0 || opts.decided(b) {
		return b, err
	}
	s, err := p.search(ctx, opts)
	if err == nil && s.Upper < b.Upper {
		b = s
	}
	return b, err
}

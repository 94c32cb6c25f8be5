// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"fmt"
	"math"
)

// Normal is ColumnGeneration by normal equations at any size, whose columns may take
// some bytes.
func Normal(memory int) ColumnGeneration { return ColumnGeneration{memory: memory} }

// Resized returns the ball with the radius that the noise exceeds with probability beta.
func (b Ball) Resized(beta float64) Ball {
	b.resize(beta)
	return b
}

// LowerBound returns the dual value of z, which is at most p*:
//
//	g(z) = yᵀz − η‖z‖₂ + U·Σ_i min(0, 1 − (Mᵀz)_i)
//
// for every z. Where M is known within d, (Mᵀz)_i is increased by its [operatorError],
// at most d‖z‖₂. Without an upper bound z is first scaled down until (Mᵀz)_i ≤ 1.
// It costs one product.
//
// Proof: docs/proofs/recovery.md.
func (p Problem) LowerBound(z []float64) (float64, error) {
	v, err := p.evaluateDual(z)
	if err != nil {
		return 0, err
	}
	if u := p.upper(); !math.IsInf(u, 1) {
		return v.gain + u*v.penalty(1), nil
	}
	return v.gain / max(1, v.maxEntry()), nil
}

// Distance returns a lower bound, by z, on ‖M f − y‖₂ over all 0 ≤ f ≤ U, and, where
// U = +Inf, 1ᵀf ≤ mass. Beyond the radius it proves the problem infeasible (Farkas).
//
// Proof: docs/proofs/recovery.md.
func (p Problem) Distance(z []float64, mass float64) (float64, error) {
	v, err := p.evaluateDual(z)
	if err != nil || v.norm == 0 {
		return 0, err
	}
	return p.Radius + v.farkas(p.upper(), mass)/v.norm, nil
}

func (p Problem) evaluateDual(z []float64) (dualPoint, error) {
	if err := p.check(); err != nil {
		return dualPoint{}, err
	}
	if len(z) != len(p.Y) {
		return dualPoint{}, fmt.Errorf("%w: %d dual values for %d sensors", ErrInvalid, len(z), len(p.Y))
	}
	if err := checkFinite("dual value", z); err != nil {
		return dualPoint{}, err
	}
	_, n := p.A.Dims()
	c := make([]float64, n)
	along := multiplyAlong(p.A, c, z)
	return p.dualPoint(z, c, 0, along), nil
}

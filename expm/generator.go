// SPDX-License-Identifier: Apache-2.0

package expm

import "errors"

// unit is the unit roundoff of float64, 2⁻⁵³.
const unit = 1.0 / (1 << 53)

// ErrAccuracy reports that no method reaches a useful error bound in float64:
// τ·λ_max is too large, or the weights span too many magnitudes.
var ErrAccuracy = errors.New("expm: out of reach of double precision")

// Generator is a matrix L = diag(1/s) S diag(s), known through its symmetric
// positive semidefinite form S. [laplacian.Laplacian] is one.
type Generator interface {
	// Order returns n.
	Order() int
	// Bound returns a certified upper bound on ‖|S|‖₂, hence on λ_max.
	Bound() float64
	// Nullity returns the exact multiplicity of the eigenvalue 0.
	Nullity() int
	// Similarity returns s > 0, or nil where all s are 1.
	Similarity() []float64
	// Recur sets dst ← a·Sx + b·x + c·dst and then acc ← acc + d·dst (unless acc is
	// nil) for k row-major columns.
	Recur(dst, acc, x []float64, k int, a, b, c, d float64)
	// Permutation returns the row of each node in Recur, or nil where row i is node i.
	Permutation() []int32
	// Rounding returns γ: Recur is off by at most γ(|a|·Bound·‖x‖₂ + |b|·‖x‖₂ + |c|·‖dst‖₂).
	Rounding() float64
	// Work returns the number of entries that a product reads.
	Work() int64
}

// rowOf returns the row of node i.
func rowOf(place []int32, i int) int {
	if place == nil {
		return i
	}
	return int(place[i])
}

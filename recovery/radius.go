// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"math"
)

// DefaultBeta is the probability that the noise lies outside the ball; medianBeta is that of the
// smaller ball that Auto and NormalEquations try first.
const (
	DefaultBeta = 0.05
	medianBeta  = 0.5
)

// RuleKind names a way to choose the radius η.
type RuleKind int

// The rules. Only Auto, Projected and NormalEquations change the measurements.
const (
	// Auto is Projected where the singular vectors or the entries of the operator are at
	// hand, and NormalEquations where it is known by products; with β = ½, and again with
	// β = 0.05 where that is infeasible.
	Auto RuleKind = iota
	// Paper is σ√m, which the noise exceeds almost half the time.
	Paper
	// Projected keeps the singular directions whose singular value is beyond twice
	// the noise, then takes the χ² radius of their number; Chi2 where there is none.
	Projected
	// NormalEquations takes Aᵀ(Af − y) for the residual, which weighs each singular
	// direction by its singular value, and the radius of ‖Aᵀν‖. It needs no singular
	// vectors: two dozen products in all.
	NormalEquations
	// Chi2 is the least radius that holds the noise with probability 1 − β.
	Chi2
	// Number is a radius given as a number.
	Number
)

// String returns auto, paper, projected, normal, chi2 or number.
func (k RuleKind) String() string {
	return [...]string{"auto", "paper", "projected", "normal", "chi2", "number"}[k]
}

// Rule is a radius rule; its zero value is Auto.
type Rule struct {
	Kind  RuleKind
	Value float64 // Number only: the radius in units of the whitened y
}

// PaperRadius returns σ√m. With ν ~ N(0, σ²I_m), P(‖ν‖₂ ≤ σ√m) = P(χ²_m ≤ m),
// which is 0.508 at m = 500.
func PaperRadius(sigma float64, m int) float64 { return sigma * math.Sqrt(float64(m)) }

// SPDX-License-Identifier: Apache-2.0

package recovery

// DefaultBeta is the probability that the noise lies outside the ball; medianBeta is that of the
// smaller ball that Auto and NormalEquations try first.
const (
	DefaultBeta = 0.05
	medianBeta  = 0.5
)

// Rule is a way to choose the radius η.
type Rule int

// The rules. Only Auto, Projected and NormalEquations change the measurements.
const (
	// Auto is Projected where the singular vectors or the entries of the operator are at
	// hand, and NormalEquations where it is known by products; with β = ½, and again with
	// β = 0.05 where that is infeasible.
	Auto Rule = iota
	// Projected keeps the singular directions whose singular value is beyond twice
	// the noise, then takes the χ² radius of their number; Chi2 where there is none.
	Projected
	// NormalEquations takes Aᵀ(Af − y) for the residual, which weighs each singular
	// direction by its singular value, and the radius of ‖Aᵀν‖. It needs no singular
	// vectors: two dozen products in all.
	NormalEquations
	// Chi2 is the least radius that holds the noise with probability 1 − β.
	Chi2
)

// String returns auto, projected, normal or chi2.
func (r Rule) String() string { return [...]string{"auto", "projected", "normal", "chi2"}[r] }

// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"fmt"
	"math"
)

// PureCost returns what an ε-private answer costs a person in an account of [PerPerson]: ε
// in units of 2⁻⁴⁰, rounded down, and the coin is that of the ε which this is. So costs add
// without rounding, and a cap of kε has room for k answers.
//
// Proof: docs/proofs/answers.md.
func PureCost(epsilon float64) (Cost, error) {
	if !(epsilon >= MinEpsilon && epsilon <= MaxEpsilon) {
		return 0, fmt.Errorf("privacy: epsilon is %v, want a number from %v to %v", epsilon, MinEpsilon, MaxEpsilon)
	}
	return Cost(math.Floor(epsilon / costUnit)), nil // the division changes the exponent only
}

// PureEpsilon returns the ε of a cost of answers, exactly below 2¹³ and rounded up above.
func (c Cost) PureEpsilon() float64 {
	if c <= 1<<53 {
		return float64(c) * costUnit
	}
	return up(float64(c), 1) * costUnit
}

// pure reports whether costs under the guarantee are ε, at any δ; those of the others are ρ.
func (g Guarantee) pure() bool { return g == PerPerson }

// eachPays reports whether charges under the guarantee list a cost for every sensor or person.
func (g Guarantee) eachPays() bool { return g != Joint }

// epsilon returns the ε at which releases of total cost c are (ε, delta)-private.
func (g Guarantee) epsilon(c Cost, delta float64) (float64, error) {
	if g.pure() {
		return c.PureEpsilon(), nil
	}
	return c.Epsilon(delta)
}

// capCost returns the largest cost that a cap allows.
func (g Guarantee) capCost(b Budget) (Cost, error) {
	if g.pure() {
		return Cost(math.Floor(b.Epsilon / costUnit)), b.Validate()
	}
	return capCost(b)
}

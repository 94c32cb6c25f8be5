// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"fmt"
	"math"
)

// Cost is what a release costs: ρ of zero-concentrated differential privacy, in
// units of 2⁻⁴⁰. Costs of releases add exactly.
type Cost int64

const costUnit = 0x1p-40

// CostOf returns ρ = μ²/2, rounded up.
//
// Proof: docs/proofs/accounting.md.
func CostOf(mu float64) (Cost, error) {
	units := math.Ceil(up(mu*mu/2, 2) / costUnit)
	if !(mu > 0 && units < 1<<62) {
		return 0, fmt.Errorf("privacy: a release with μ = %v cannot be charged, want 0 < μ < 2896", mu)
	}
	return Cost(max(1, units)), nil
}

// Rho returns ρ, rounded up.
func (c Cost) Rho() float64 { return up(float64(c), 1) * costUnit }

// Mu returns μ = √(2ρ) of Gaussian differential privacy, rounded up.
func (c Cost) Mu() float64 { return up(math.Sqrt(2*c.Rho()), 2) }

// Epsilon returns an ε at which releases of total cost c are (ε, delta)-private:
// the exact conversion of Gaussian differential privacy, rounded up.
//
// Proof: docs/proofs/accounting.md.
func (c Cost) Epsilon(delta float64) (float64, error) {
	if c == 0 {
		return 0, nil
	}
	return GDPEpsilon(c.Mu(), delta)
}

// GDPEpsilon returns the least ε ≥ 0 at which a μ-GDP mechanism is
// (ε, delta)-private, rounded up (Dong, Roth and Su 2022).
//
// Proof: docs/proofs/accounting.md.
func GDPEpsilon(mu, delta float64) (float64, error) {
	if !(mu > 0 && mu <= 1000) {
		return 0, fmt.Errorf("privacy: μ is %v, want a number above 0 and at most 1000", mu)
	}
	if !(delta >= MinDelta && delta < 1) {
		return 0, fmt.Errorf("privacy: delta is %v, want a number from %v to below 1", delta, MinDelta)
	}
	// Φ(−ε/μ + μ/2) ≤ δ at hi, because Φ(−x) ≤ e^{−x²/2}/2.
	lo, hi := 0.0, mu*(mu/2+math.Sqrt(-2*math.Log(delta))+1)
	if private(Budget{lo, delta}, mu) {
		return 0, nil
	}
	for range 200 {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		if private(Budget{mid, delta}, mu) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi, nil
}

// capCost returns the largest cost whose releases are (ε, δ)-private.
func capCost(b Budget) (Cost, error) {
	r, err := Analytic{}.Sigma(b, 1)
	if err != nil {
		return 0, err
	}
	return Cost(math.Floor(0.5 / (r * r) * (1 - 0x1p-50) / costUnit)), nil
}

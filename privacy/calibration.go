// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"fmt"
	"math"
)

// Calibration chooses the noise for a budget.
type Calibration interface {
	// Sigma returns a σ, rounded up, at which noise N(0, σ²I) on a map of
	// sensitivity l2 is (ε, δ)-private. ErrNotPrivate where the rule gives none.
	Sigma(b Budget, l2 float64) (float64, error)
	// String returns the name that [ParseCalibration] reads.
	String() string
}

// Calibrations of conventions: the least σ (Balle and Wang 2018), the textbook's
// √(2 ln(1.25/δ))·Δ/ε (Dwork and Roth 2014, theorem A.1, proved for ε < 1 only),
// and the paper's 2 ln(1.25/δ)·Δ/ε as printed. The last two are refused where
// their true δ exceeds the δ that is asked for.
type (
	Analytic  struct{}
	Classical struct{}
	Paper     struct{}
)

// ParseCalibration reads analytic, classical or paper; "" is analytic.
func ParseCalibration(s string) (Calibration, error) {
	for _, c := range []Calibration{Analytic{}, Classical{}, Paper{}} {
		if s == c.String() || s == "" {
			return c, nil
		}
	}
	return nil, fmt.Errorf("privacy: calibration is %q, want analytic, classical or paper", s)
}

func (Analytic) String() string  { return "analytic" }
func (Classical) String() string { return "classical" }
func (Paper) String() string     { return "paper" }

// Sigma returns the least σ with δ(σ) ≤ δ, up to a relative 2⁻³⁰, rounded up.
//
// Proof: docs/proofs/analytic.md.
func (Analytic) Sigma(b Budget, l2 float64) (float64, error) {
	if err := checkScale(b, l2); err != nil {
		return 0, err
	}
	// δ falls as r = σ/Δ = 1/μ grows. Every step keeps private(1/hi).
	lo, hi := 1.0, 1.0
	for !private(b, 1/hi) {
		lo, hi = hi, 2*hi
	}
	for lo == hi || private(b, 1/lo) {
		hi, lo = lo, lo/2
	}
	for range 64 {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		if private(b, 1/mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return up(hi*l2, 1), nil
}

// Sigma returns √(2 ln(1.25/δ))·l2/ε, rounded up, or [ErrNotPrivate] where that is not
// (ε, δ)-private.
//
// Proof: docs/proofs/closed-form-calibrations.md.
func (Classical) Sigma(b Budget, l2 float64) (float64, error) {
	return closedForm(b, l2, math.Sqrt(2*math.Log(1.25/b.Delta)), "classical")
}

// Sigma returns 2 ln(1.25/δ)·l2/ε, rounded up, or [ErrNotPrivate] where that is not
// (ε, δ)-private.
//
// Proof: docs/proofs/closed-form-calibrations.md.
func (Paper) Sigma(b Budget, l2 float64) (float64, error) {
	return closedForm(b, l2, 2*math.Log(1.25/b.Delta), "paper")
}

// closedForm returns factor·l2/ε if the true δ of that σ is at most δ.
func closedForm(b Budget, l2, factor float64, name string) (float64, error) {
	if err := checkScale(b, l2); err != nil {
		return 0, err
	}
	r := up(factor/b.Epsilon, 16)
	if !private(b, 1/r) {
		return 0, fmt.Errorf("%w: the %s σ at ε = %v achieves δ = %.4g, not %v; use the analytic calibration",
			ErrNotPrivate, name, b.Epsilon, deltaBound(b.Epsilon, 1/r), b.Delta)
	}
	return up(r*l2, 1), nil
}

func checkScale(b Budget, l2 float64) error {
	if err := b.Validate(); err != nil {
		return err
	}
	if !(l2 >= 0x1p-900 && l2 <= 0x1p900) {
		return fmt.Errorf("privacy: sensitivity is %v, want a number from 2^-900 to 2^900", l2)
	}
	return nil
}

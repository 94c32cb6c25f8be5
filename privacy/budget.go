// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"errors"
	"fmt"
	"math"
)

// Errors that a caller acts on.
var (
	ErrInput      = errors.New("privacy: input refused")
	ErrNotPrivate = errors.New("privacy: the calibration is not private there")
	ErrImprecise  = errors.New("privacy: numerical error exceeds the sensitivity")
	ErrExhausted  = errors.New("privacy: the budget would be exceeded")
	ErrUncertain  = errors.New("privacy: the answer was lost, and with it whether anything was stored")
	ErrGuarantee  = error(inputError{errors.New("privacy: the scope is of another guarantee")}) // and [ErrInput]
	ErrReplay     = errors.New("privacy: the release id was used before")
	ErrChain      = errors.New("privacy: the ledger's hash chain is broken")
	ErrRollback   = errors.New("privacy: the ledger went back")
	ErrJoin       = errors.New("privacy: the accounts do not add up")
	ErrMismatch   = errors.New("privacy: it belongs to another plan")
	ErrReveal     = errors.New("privacy: wrong key or tampered release")
)

// ErrOverBudget is the [ErrExhausted] of a release that costs more than its whole cap: no
// waiting helps.
var ErrOverBudget = fmt.Errorf("%w by one release alone", ErrExhausted)

// inputError is an error that says enough by itself, and is [ErrInput].
type inputError struct{ error }

func (inputError) Is(target error) bool { return target == ErrInput }

func (e inputError) Unwrap() error { return e.error }

// Budget is the (ε, δ) of differential privacy.
type Budget struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

// Ranges in which δ(σ) was checked against 30-digit values.
const (
	MinEpsilon = 1e-6
	MaxEpsilon = 1e3
	MinDelta   = 1e-300
)

// Validate refuses an ε outside [MinEpsilon, MaxEpsilon] and a δ outside
// [MinDelta, 1).
func (b Budget) Validate() error {
	if !(b.Epsilon >= MinEpsilon && b.Epsilon <= MaxEpsilon) {
		return fmt.Errorf("privacy: epsilon is %v, want a number from %v to %v", b.Epsilon, MinEpsilon, MaxEpsilon)
	}
	if !(b.Delta >= MinDelta && b.Delta < 1) {
		return fmt.Errorf("privacy: delta is %v, want a number from %v to below 1", b.Delta, MinDelta)
	}
	return nil
}

// up returns a number that is at least the exact value that x approximates with
// a relative error of at most ulps·2⁻⁵³, for x ≥ 0.
func up(x float64, ulps int) float64 {
	return math.Nextafter(x*(1+float64(ulps)*0x1p-52), math.Inf(1))
}

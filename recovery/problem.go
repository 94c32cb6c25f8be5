// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

var (
	// ErrInvalid marks an input that is not well defined: the caller must change it.
	ErrInvalid = measurement.ErrInvalid
	// ErrStalled comes with the best iterate and the gap that it reached.
	ErrStalled = errors.New("recovery: stopped without a certificate")
)

// unit is the unit roundoff of float64, and few bounds a small number of roundings.
const (
	unit = 0x1p-53
	few  = 16
)

// Problem is min 1ᵀf subject to 0 ≤ f ≤ 1 and ‖A f − Y‖₂ ≤ Radius. Where A
// declares an error d ([linop.Err]), the problem is the one of the exact operator:
// the answer is feasible and its bound is valid for every A' with ‖A' − A‖₂ ≤ d.
type Problem struct {
	A      linop.Operator
	Y      []float64
	Radius float64 // η > 0, in the units of Y
}

// Status says how a solver stopped.
type Status int

// The outcomes.
const (
	Stalled    Status = iota // the best iterate, with the gap that was reached
	Optimal                  // the gap is within the tolerance: see Result.Gap
	Zero                     // ‖y‖₂ ≤ η: f = 0 is optimal
	Infeasible               // no f fits: see Result.Margin
)

// String returns optimal, zero, infeasible or stalled.
func (s Status) String() string {
	switch s {
	case Optimal:
		return "optimal"
	case Zero:
		return "zero"
	case Infeasible:
		return "infeasible"
	}
	return "stalled"
}

// Result is the best f found, with its proof.
type Result struct {
	Status     Status
	F          []float64 // n values; where infeasible, the f of the least residual found
	Objective  float64   // 1ᵀF
	LowerBound float64   // ≤ p*; proved by Dual: docs/proofs/recovery.md
	Gap        float64   // (Objective − LowerBound)/max of both; +Inf where F is not feasible
	Residual   float64   // ‖A F − y‖₂
	Margin     float64   // where infeasible: ‖A f − y‖₂ ≥ Radius + Margin for every f allowed
	Dual       []float64 // m values: the vector z of the proof
	Support    int       // entries of F above zero
	Iterations int
	Products   int // products with A or Aᵀ, a block of k columns counting k
}

// Options steer a solver; the zero value is the recommended default.
type Options struct {
	// Tol is the relative gap at which an answer counts as optimal; 0 means 1e-10.
	// Rounding limits the gap to about 100·2⁻⁵²·‖y‖₂/η; where that is larger, up to
	// 1e-5, it is accepted instead. Result.Gap is what was reached.
	Tol float64
	// Neighbors returns the nodes next to node i, to several callers at the same time, or is nil. Columns of neighbours
	// are almost parallel under a smooth operator, so only the best of them is tried first.
	Neighbors func(i int) []int32
	// Progress receives the gap and the support after each outer step.
	Progress func(stage string, done, total int64)
}

func (o Options) withDefaults() Options {
	if o.Tol == 0 {
		o.Tol = 1e-10
	}
	return o
}

func (o Options) report(res *Result) {
	if o.Progress != nil {
		o.Progress(fmt.Sprintf("recover: gap %.1e, support %d", res.Gap, res.Support), int64(res.Iterations), 0)
	}
}

// check returns ErrInvalid for a problem that is not well defined.
func (p Problem) check() error {
	if p.A == nil {
		return fmt.Errorf("%w: no operator", ErrInvalid)
	}
	m, n := p.A.Dims()
	switch {
	case m == 0 || n == 0:
		return fmt.Errorf("%w: the operator is %d × %d, want at least 1 × 1", ErrInvalid, m, n)
	case len(p.Y) != m:
		return fmt.Errorf("%w: %d measurements for %d sensors", ErrInvalid, len(p.Y), m)
	case !(p.Radius > 0) || math.IsInf(p.Radius, 1):
		return fmt.Errorf("%w: radius is %v, want > 0 and finite", ErrInvalid, p.Radius)
	}
	return checkMeasurements(p.Y)
}

func checkMeasurements(y []float64) error {
	if err := checkFinite("measurement", y); err != nil {
		return err
	}
	if norm := floats.Norm(y, 2); norm > measurement.MaxLength {
		return fmt.Errorf("%w: the measurements have length %.3g, want at most %v", ErrInvalid, norm, measurement.MaxLength)
	}
	return nil
}

func checkFinite(what string, v []float64) error {
	for i, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%w: %s %d is %v", ErrInvalid, what, i, x)
		}
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/privacy"
)

// ErrTau says that M is so smooth at the chosen τ that double precision cannot tell
// neighbours apart.
var ErrTau = errors.New("graphcloak: tau is too large")

// probeRatio bounds the ratio of the largest τ that a message names to the true one. The search halves ln(τ‖L‖), so that it takes
// at most 11 brackets of Δ₂ where τ‖L‖ ≤ 1e12, each at a smaller τ and a looser tolerance than the plan's own.
const probeRatio = 1.05

// negligibleSensitivity is a sensitivity that only a τ far too large explains.
const negligibleSensitivity = 1e-200

// explainTau adds to an error of planning, where a smaller τ would avoid it, the largest τ
// for which double precision suffices. Other errors it returns unchanged.
func (m *Model) explainTau(ctx context.Context, spec privacy.Spec, opts Options, err error) error {
	least := spec.Sensitivity.Upper
	if opts.Guarantee == privacy.PerSensor {
		least = slices.Min(spec.PerSensor)
	}
	if ctx.Err() != nil || !errors.Is(err, privacy.ErrImprecise) && least > negligibleSensitivity {
		return err
	}
	most := m.largestTau(ctx, spec, opts)
	if most == 0 {
		return err
	}
	return &tauError{fmt.Sprintf("%v: neighbours differ less at tau = %v than double precision can tell on this graph; it carries tau "+
		"up to about %v", ErrTau, m.Tau, most), err}
}

// tauError is [ErrTau], and what planning said.
type tauError struct {
	text string
	err  error
}

func (e *tauError) Error() string        { return e.text }
func (e *tauError) Unwrap() error        { return e.err }
func (e *tauError) Is(target error) bool { return target == ErrTau }

// largestTau searches below the model's τ for the largest that a plan can be made for; 0
// where it finds none.
func (m *Model) largestTau(ctx context.Context, spec privacy.Spec, opts Options) float64 {
	low, high := 1/m.Operator.Laplacian.Bound(), m.Tau
	if !(low < high) || !m.feasibleAt(ctx, low, spec, opts) {
		return 0
	}
	for high > probeRatio*low {
		if mid := math.Sqrt(low) * math.Sqrt(high); m.feasibleAt(ctx, mid, spec, opts) {
			low = mid
		} else {
			high = mid
		}
	}
	if ctx.Err() != nil {
		return 0
	}
	return roundedDown(low)
}

// roundedDown rounds down to two significant digits.
func roundedDown(x float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(x))-1)
	r, err := strconv.ParseFloat(strconv.FormatFloat(math.Floor(x/unit)*unit, 'g', 2, 64), 64)
	if err != nil || r > x {
		return x
	}
	return r
}

// feasibleAt reports whether a plan with uniform noise can be made for another τ.
func (m *Model) feasibleAt(ctx context.Context, tau float64, spec privacy.Spec, opts Options) bool {
	d, err := m.Operator.Diffusion.WithTau(tau)
	if err != nil {
		return false
	}
	other := m.at(tau, d)
	opts.SensitivityTolerance = 0.5
	spec.Tau, spec.Weights, spec.PerSensor = tau, nil, nil
	opts.Uncertainty, spec.Uncertainty = privacy.Uncertainty{}, privacy.Uncertainty{}
	if !opts.Measured {
		spec.NormError = other.ComputingError()
	}
	if err := other.addSensitivity(ctx, &spec, opts, [32]byte{1}); err != nil {
		return false
	}
	_, err = privacy.NewPlan(spec)
	return err == nil
}

// at returns the model with another operator, silent.
func (m *Model) at(tau float64, d *expm.Diffusion) *Model {
	other := *m
	other.Tau, other.Operator = tau, &analyst.Operator{Graph: m.Graph, Laplacian: m.Operator.Laplacian, Diffusion: d}
	other.opts.Progress = nil
	return &other
}

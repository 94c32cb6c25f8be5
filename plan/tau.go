// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/privacy"
)

// ErrTau says that M is so smooth at the chosen τ that double precision cannot tell
// neighbours apart.
var ErrTau = errors.New("graphcloak: tau is too large")

// negligibleSensitivity is a sensitivity that only a τ far too large explains.
const negligibleSensitivity = 1e-200

// explainTau adds [ErrTau] to an error of planning that a smaller τ would avoid. Other errors it returns unchanged.
func (m *Model) explainTau(spec privacy.Spec, err error) error {
	least := spec.Sensitivity.Upper
	if spec.Guarantee == privacy.PerSensor {
		least = slices.Min(spec.PerSensor)
	}
	if !errors.Is(err, privacy.ErrImprecise) && least > negligibleSensitivity {
		return err
	}
	return fmt.Errorf("%w: neighbours differ less at tau = %v than double precision can tell on this graph: %w", ErrTau, m.Tau, err)
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

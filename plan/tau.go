// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/expm/tau"
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
	return fmt.Errorf("%w: neighbours differ less at tau = %v than double precision can tell on this graph: %w", ErrTau, m.Tau.Value(), err)
}

// feasibleAt reports whether a plan with uniform noise can be made for another τ.
func (m *Model) feasibleAt(ctx context.Context, t float64, spec privacy.Spec, opts Options) bool {
	d, err := m.Operator.Diffusion.WithTau(t)
	if err != nil {
		return false
	}
	other := m.at(t, d)
	opts.SensitivityTolerance = 0.5
	spec.Tau, spec.Weights, spec.PerSensor = t, nil, nil
	spec.Uncertainty = privacy.Uncertainty{}
	if !opts.Measured {
		spec.NormError = other.ComputingError()
	}
	if err := other.addSensitivity(ctx, &spec, opts, [32]byte{1}); err != nil {
		return false
	}
	_, err = privacy.NewPlan(spec)
	return err == nil
}

// at returns the model with another operator and no other graph, silent.
func (m *Model) at(t float64, d *expm.Diffusion) *Model {
	other := *m
	other.listed, other.Alternatives = new(listed), nil
	other.Tau, other.Operator = tau.At(t), &analyst.Operator{Graph: m.Graph, Laplacian: m.Operator.Laplacian, Diffusion: d}
	other.opts.Progress = nil
	return &other
}

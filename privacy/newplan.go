// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"errors"
	"fmt"
)

// NewPlan chooses lattice and noise for each sensor such that
//
//	Δ_w·max_s 1/(σ_s√u_s) + √Σ_s (g_s + 2η)²/σ_s² ≤ μ(ε, δ − β)
//
// (Joint; an error η₂ enters as 2η₂·max 1/σ_s), or (Δ_s + g_s + 2η)/σ_s ≤ μ(ε, δ − β)
// for each sensor (PerSensor). ErrImprecise where the numerical error exceeds the
// sensitivity, ErrNotPrivate where the calibration has no answer, ErrInput for what
// else no plan can be made from.
//
// Proof: docs/proofs/plan.md.
func NewPlan(spec Spec) (*Plan, error) {
	p, err := newPlan(spec)
	if err != nil && !errors.Is(err, ErrNotPrivate) && !errors.Is(err, ErrImprecise) {
		err = inputError{err}
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

func newPlan(spec Spec) (*Plan, error) {
	p := &Plan{
		Public: spec.Public, Budget: spec.Budget, Calibration: spec.Calibration,
		Guarantee: spec.Guarantee, Randomness: spec.Randomness, Sensitivity: spec.Sensitivity,
		EntryError: spec.EntryError, NormError: spec.NormError, Uncertainty: spec.Uncertainty, Clip: spec.Clip,
	}
	if p.Calibration == nil {
		p.Calibration = Analytic{}
	}
	if p.Clip == (Interval{}) {
		p.Clip = Interval{Lo: 0, Hi: 1}
	}
	if err := p.addSensors(spec); err != nil {
		return nil, err
	}
	if err := p.validateInputs(); err != nil {
		return nil, err
	}
	r, err := p.ratio()
	if err != nil {
		return nil, err
	}
	if p.Guarantee == Joint {
		err = p.allocate(r)
	} else {
		err = p.allocatePerSensor(r)
	}
	if err != nil {
		return nil, err
	}
	p.Mu, p.JointMu = p.charge()
	return p, p.validate()
}

// Spec returns what [NewPlan] makes the plan from again.
func (p *Plan) Spec() Spec {
	spec := Spec{
		Public: p.Public, Budget: p.Budget, Calibration: p.Calibration, Guarantee: p.Guarantee, Randomness: p.Randomness,
		Sensitivity: p.Sensitivity, EntryError: p.EntryError, NormError: p.NormError, Uncertainty: p.Uncertainty, Clip: p.Clip,
	}
	for _, s := range p.Sensors {
		spec.Sensors, spec.Weights = append(spec.Sensors, s.Sensor), append(spec.Weights, s.Weight)
		if p.Guarantee == PerSensor {
			spec.PerSensor = append(spec.PerSensor, s.Bound)
		}
	}
	return spec
}

// addSensors takes over the sensors that report.
func (p *Plan) addSensors(spec Spec) error {
	m := len(spec.Sensors)
	if spec.Weights != nil && len(spec.Weights) != m {
		return fmt.Errorf("privacy: %d weights for %d sensors", len(spec.Weights), m)
	}
	if p.Guarantee == PerSensor && len(spec.PerSensor) != m {
		return fmt.Errorf("privacy: %d bounds for %d sensors", len(spec.PerSensor), m)
	}
	var largest float64
	for _, b := range spec.PerSensor {
		largest = max(largest, b)
	}
	reporting := m
	for _, w := range spec.Weights {
		if w == 0 {
			reporting--
		}
	}
	p.Sensors = make([]SensorNoise, 0, reporting)
	for i, s := range spec.Sensors {
		n := SensorNoise{Sensor: s, Weight: 1}
		if spec.Weights != nil {
			n.Weight = spec.Weights[i]
		}
		if n.Weight == 0 {
			continue
		}
		if p.Guarantee == PerSensor {
			// A sensor that no edge reaches hides nothing by the definition; it reports
			// with the noise of the most sensitive one all the same.
			if n.Bound = spec.PerSensor[i]; n.Bound == 0 {
				n.Bound = largest
			}
		}
		p.Sensors = append(p.Sensors, n)
	}
	return nil
}

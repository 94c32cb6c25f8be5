// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

// This file computes what a plan charges: the certified sensitivity, the range of the
// readings, and the error of a computed diffusion.

// certificateMargin is charged on top of the certified upper end, so that a certificate
// that is computed on another machine, and differs in its last bits, is not above it.
const certificateMargin = 1 + 0x1p-30

// sensitivityModel is the model in the terms of package sensitivity.
func (m *Model) sensitivityModel(alpha float64) sensitivity.Model {
	if given := m.Given(); given != nil {
		return sensitivity.Model{Graph: m.Graph, Alpha: alpha, Given: given, Nodes: m.Operator.SensorNodes(m.Sensors)}
	}
	s := sensitivity.Model{
		Graph: m.Graph, Laplacian: m.Operator.Laplacian, Diffusion: m.Operator.Diffusion, Tau: m.Tau.Value(), Alpha: alpha,
	}
	if len(m.Sensors) < m.Graph.Order() {
		s.Sensors = m.Sensors
	}
	return s
}

func (m *Model) sensitivityOptions(opts Options, seed [32]byte) sensitivity.Options {
	return sensitivity.Options{
		Tolerance: opts.SensitivityTolerance, Seed: seed,
		Failure: min(1e-12, opts.Delta/100), Progress: m.opts.Progress,
	}
}

// addSensitivity certifies the sensitivity, joint and where asked for of each sensor, and
// adds it to the specification.
func (m *Model) addSensitivity(ctx context.Context, spec *privacy.Spec, opts Options, seed [32]byte) error {
	options := m.sensitivityOptions(opts, seed)
	bracket, err := m.bound(ctx, opts.Alpha, nil, m.uncertainty(), options)
	if err != nil {
		return err
	}
	spec.Sensitivity = m.toSensitivity(bracket, seed)
	if opts.Guarantee == privacy.PerSensor {
		brackets, err := sensitivity.PerSensor(ctx, m.sensitivityModel(opts.Alpha), options)
		if err != nil {
			return err
		}
		for _, b := range brackets {
			spec.PerSensor = append(spec.PerSensor, b.Upper*certificateMargin)
			if b.Failure > 0 {
				spec.Sensitivity.Failure, spec.Sensitivity.Seed = max(spec.Sensitivity.Failure, b.Failure), seed
			}
		}
		chargeUnreached(spec.PerSensor, m.ComputingError())
	}
	return nil
}

// unreached is the number of computing errors up to which a sensitivity is not told from none.
const unreached = 1024

// chargeUnreached charges sensors that no relationship reaches, as far as computing tells, with the
// sensitivity of the most sensitive one: that of a component of one node is rounding alone,
// and noise of its size would be below that of the products.
func chargeUnreached(charged []float64, computingError float64) {
	largest := slices.Max(charged)
	for k, v := range charged {
		if v <= unreached*computingError {
			charged[k] = largest
		}
	}
}

// toSensitivity converts a bracket: nodes to ids, the margin added.
func (m *Model) toSensitivity(b sensitivity.Bracket, seed [32]byte) privacy.Sensitivity {
	s := privacy.Sensitivity{Lower: b.Lower, Upper: b.Upper * certificateMargin, Failure: b.Failure}
	if b.Failure > 0 {
		s.Seed = seed
	}
	if b.Edge[0] >= 0 {
		s.Edge = [2]graph.ID{m.Graph.ID(b.Edge[0]), m.Graph.ID(b.Edge[1])}
	}
	return s
}

// readingRange returns the values that y takes for sources in [0, 1]: [0, 1] where M is
// row-stochastic, and [0, √(max d/min d)] for the normalised Laplacian, whose
// M = D^½ R D^{-½} with R stochastic.
func (m *Model) readingRange() privacy.Interval {
	if given := m.Given(); given != nil {
		return givenRange(given)
	}
	hi := 1.0
	if s := m.Operator.Laplacian.Similarity(); m.Settings.Laplacian == laplacian.Normalized {
		if s == nil {
			s = sqrtDegrees(m.Operator.Laplacian.Degrees())
		}
		hi = math.Nextafter(slices.Max(s)/slices.Min(s), math.Inf(1))
	}
	return privacy.Interval{Lo: 0, Hi: hi}
}

// sqrtDegrees returns √d, 1 for nodes without neighbours.
func sqrtDegrees(d []float64) []float64 {
	s := make([]float64, len(d))
	for i, v := range d {
		s[i] = 1
		if v > 0 {
			s[i] = math.Sqrt(v)
		}
	}
	return s
}

// ComputingError returns η₂ ≥ ‖M̃f − Mf‖₂ for every f in [0, 1]ⁿ, whose norm is at
// most √n.
func (m *Model) ComputingError() float64 {
	return math.Nextafter(m.Operator.M().Err()*math.Sqrt(float64(m.Graph.Order()))*(1+0x1p-50), math.Inf(1))
}

// bound certifies the sensitivity under weights u, over all that is uncertain.
func (m *Model) bound(ctx context.Context, alpha float64, u []float64, un privacy.Uncertainty,
	options sensitivity.Options,
) (sensitivity.Bracket, error) {
	model := m.sensitivityModel(alpha)
	if !un.Any() || model.Given != nil {
		return sensitivity.Bound(ctx, model, u, options)
	}
	e, err := sensitivity.WorstCase(ctx, model, u, m.uncertain(un), options)
	return e.Bracket, err
}

// uncertainty is how far the process that sensors measure may be from the model.
func (m *Model) uncertainty() (u privacy.Uncertainty) {
	if u.Alternatives, u.AlternativesDigest = m.listed.count(), m.listed.digest; m.Tau.IsWide() {
		u.TauFrom, u.TauTo = m.Tau.From, m.Tau.To
	}
	return u
}

// uncertain lists the operators that are declared possible.
func (m *Model) uncertain(un privacy.Uncertainty) sensitivity.Uncertainty {
	set := sensitivity.Uncertainty{Tau: un.Tau()}
	if un.Alternatives > 0 {
		for _, g := range m.listed.graphs {
			set.Alternatives = append(set.Alternatives, laplacian.New(g, m.Settings.Laplacian))
		}
	}
	return set
}

// newSpec describes what a plan is to give, without the sensitivity and the error of a
// computed diffusion.
func (m *Model) newSpec(opts Options) privacy.Spec {
	spec := privacy.Spec{
		Public:      m.publicPart(opts.Alpha),
		Budget:      opts.Budget,
		Calibration: opts.Calibration,
		Guarantee:   opts.Guarantee,
		Randomness:  opts.Randomness,
		Uncertainty: m.uncertainty(),
		Clip:        m.readingRange(),
	}
	for _, i := range m.Sensors {
		spec.Sensors = append(spec.Sensors, privacy.Sensor{Node: i, ID: m.Operator.SensorID(i)})
	}
	if opts.Clip != nil {
		spec.Clip = *opts.Clip
	}
	return spec
}

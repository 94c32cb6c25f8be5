// SPDX-License-Identifier: Apache-2.0

package graphcloak

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/graphcloak/graphcloak/allocation"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/sensitivity"
)

// PlanOptions say which guarantee a release shall have. Epsilon, Delta and Alpha
// are required; zero means the default elsewhere.
type PlanOptions struct {
	privacy.Budget
	Alpha       float64
	Calibration privacy.Calibration // nil: analytic
	Guarantee   privacy.Guarantee
	Randomness  privacy.Randomness

	// Measured says that sensors measure y themselves. Otherwise the error of the
	// computed e^{-τL}f is charged.
	Measured bool
	// Clip is the public range of readings; nil: what sources in [0, 1] can reach.
	Clip *privacy.Interval

	Allocation Allocation

	SensitivityTolerance float64       // relative width of the bracket; 0: 0.001 up to 10,000 nodes, else 0.05
	SensitivityTime      time.Duration // 0: until the tolerance is met
}

// Allocation says how noise is shared among the sensors. The zero value shares it
// so that communities are told apart best.
type Allocation struct {
	Uniform                bool                 // the same σ everywhere, as in the paper
	Objective              allocation.Objective // of the optimal allocation; Auto is uniform above 10,000 nodes
	MaxSensors, MinSensors int                  // that report; 0: no limit
	Time                   time.Duration        // 0: until the gap is small
	Communities            CommunityOptions     // that are told apart
	PriorProperty          string               // public node property proportional to the prior of a source; "": flat
}

// Plan is all that is public about a release before it is made. Its JSON form is
// a plan file, which rebuilds the model.
type Plan struct {
	*privacy.Plan
	Model    Settings
	Seed     [32]byte // of the certificate's random screen
	Accuracy *Accuracy
	// Allocated says how the noise was allocated; nil: uniformly.
	Allocated *Allocated
	// PublicProperties are read without noise, by the model, the plan or its expected
	// accuracy: none of them can be the signal. Ascending.
	PublicProperties []string

	certified privacy.Digest // of the plan whose sensitivity this process has certified
}

// Allocated describes an allocation of noise beside the uniform one that gives the
// same guarantee.
type Allocated struct {
	Objective allocation.Objective `json:"objective"`
	Gap       *float64             `json:"gap,omitempty"`           // to what is proven to be the best, relative; an estimate for the objective information; nil: unknown
	CutShort  bool                 `json:"cutShort,omitempty"`      // the time ended the search
	Prior     string               `json:"priorProperty,omitempty"` // public property that shaped the noise; "": flat
	Uniform   Uniform              `json:"uniform"`
}

// Uniform is the paper's noise at the same guarantee.
type Uniform struct {
	Sigma       float64             `json:"sigma"`
	SensorCount int                 `json:"sensorCount"`
	Sensitivity privacy.Sensitivity `json:"sensitivity"` // of M itself, without weights
	Accuracy    *Accuracy           `json:"expectedAccuracy,omitempty"`

	plan *privacy.Plan
}

// Noise describes the σ of the sensors.
func (p *Plan) Noise() report.Noise { return noise(p.Plan, p.Allocated) }

func noise(p *privacy.Plan, a *Allocated) report.Noise {
	sigmas, uniform := make([]float64, len(p.Sensors)), 0.0
	for k, s := range p.Sensors {
		sigmas[k] = s.Sigma()
	}
	if a != nil {
		uniform = a.Uniform.Sigma
	}
	return report.NewNoise(sigmas, uniform)
}

// UniformSigma returns σ, or that of uniform noise with the same guarantee where
// sensors differ.
func (p *Plan) UniformSigma() float64 {
	if p.Allocated != nil {
		return p.Allocated.Uniform.Sigma
	}
	return p.Sigma()
}

// Plan certifies the sensitivity and chooses noise and lattice for each sensor.
// Only the public graph enters.
func (m *Model) Plan(ctx context.Context, opts PlanOptions) (*Plan, error) {
	p := &Plan{Model: m.Settings, PublicProperties: public(m.Settings, opts.Allocation.Communities.Property, opts.Allocation.PriorProperty)}
	if _, err := rand.Read(p.Seed[:]); err != nil {
		return nil, err
	}
	spec := privacy.Spec{
		Public:      m.public(opts.Alpha),
		Budget:      opts.Budget,
		Calibration: opts.Calibration,
		Guarantee:   opts.Guarantee,
		Randomness:  opts.Randomness,
		Clip:        m.reach(),
	}
	for _, i := range m.Sensors {
		spec.Sensors = append(spec.Sensors, privacy.Sensor{Node: i, ID: m.Graph.ID(i)})
	}
	if opts.Clip != nil {
		spec.Clip = *opts.Clip
	}
	if !opts.Measured {
		spec.NormError = m.computingError()
	}
	if err := m.bound(ctx, &spec, opts, p.Seed); err != nil {
		return nil, fmt.Errorf("certify sensitivity: %w", err)
	}
	var err error
	if p.Plan, err = privacy.NewPlan(spec); err != nil {
		return nil, m.tooLarge(ctx, spec, opts, err)
	}
	if opts.Guarantee != privacy.PerSensor && !m.uniform(opts.Allocation) {
		if err := m.allocate(ctx, p, spec, opts); err != nil {
			return nil, err
		}
	}
	p.certified, err = p.Digest()
	return p, err
}

// autoLimit is the order up to which noise is allocated unless an objective is
// named: beyond it the search takes many minutes.
const autoLimit = 10_000

// uniform reports whether every sensor gets the same σ.
func (m *Model) uniform(a Allocation) bool {
	return a.Uniform || a.Objective == allocation.Auto && m.Graph.Order() > autoLimit
}

// allocate replaces the plan's uniform noise by a better one with the same
// guarantee, where there is one.
func (m *Model) allocate(ctx context.Context, p *Plan, spec privacy.Spec, opts PlanOptions) error {
	part, err := m.Communities(ctx, opts.Allocation.Communities)
	if err != nil {
		return err
	}
	calibration := opts.Calibration
	if calibration == nil {
		calibration = privacy.Analytic{}
	}
	noise, err := calibration.Sigma(opts.Budget, 1)
	if err != nil {
		return err
	}
	a := opts.Allocation
	prior, err := m.prior(ctx, RecoverOptions{PriorProperty: a.PriorProperty})
	if err != nil {
		return err
	}
	best, err := allocation.Optimize(ctx, m.sensitivityModel(opts.Alpha), m.diffusion, part.Labels, allocation.Options{
		Objective: a.Objective, Noise: noise, MaxSensors: a.MaxSensors, MinSensors: a.MinSensors, Prior: prior, Time: a.Time, Progress: m.opts.Progress,
	})
	if errors.Is(err, allocation.ErrNothing) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("allocate noise: %w", err)
	}
	uniform := p.Plan
	spec.Weights = best.Weights
	bracket, err := sensitivity.Bound(ctx, m.sensitivityModel(opts.Alpha), spec.Weights, m.sensitivityOptions(opts, p.Seed))
	if err != nil {
		return fmt.Errorf("certify sensitivity: %w", err)
	}
	spec.Sensitivity = m.named(bracket, p.Seed)
	if p.Plan, err = privacy.NewPlan(spec); err != nil {
		return err
	}
	p.Allocated = &Allocated{
		Objective: best.Objective, Gap: finite(best.Gap), CutShort: best.CutShort, Prior: a.PriorProperty,
		Uniform: Uniform{Sigma: uniform.Sigma(), SensorCount: len(uniform.Sensors), Sensitivity: uniform.Sensitivity, plan: uniform},
	}
	return nil
}

func (m *Model) sensitivityOptions(opts PlanOptions, seed [32]byte) sensitivity.Options {
	return sensitivity.Options{
		Tolerance: opts.SensitivityTolerance, Time: opts.SensitivityTime, Seed: seed,
		Failure: min(1e-12, opts.Delta/100), Progress: m.opts.Progress,
	}
}

// Expect simulates how often the right community would be named under the plan,
// and under uniform noise beside it, on graphs of up to 6,000 nodes.
func (m *Model) Expect(ctx context.Context, p *Plan, opts RecoverOptions, trials int) error {
	s, err := m.expectation(ctx, opts, trials)
	if s == nil || err != nil {
		return err
	}
	p.PublicProperties = public(m.Settings, append(opts.public(), p.PublicProperties...)...)
	if p.Accuracy, err = s.accuracy(ctx, p.Plan); err != nil {
		return err
	}
	if p.Allocated != nil && p.Allocated.Uniform.plan != nil {
		p.Allocated.Uniform.Accuracy, err = s.accuracy(ctx, p.Allocated.Uniform.plan)
	}
	return err
}

// public describes the model for the plan.
func (m *Model) public(alpha float64) privacy.Public {
	_, sizes := m.Graph.Components()
	return privacy.Public{
		GraphDigest: m.Graph.Digest(), NodeCount: m.Graph.Order(), RelationshipCount: m.Graph.Size(),
		ComponentCount: len(sizes), Tau: m.Tau, Laplacian: m.Settings.Laplacian.String(), Metric: m.metric(), Alpha: alpha,
	}
}

// bound fills in the certified sensitivity.
func (m *Model) bound(ctx context.Context, spec *privacy.Spec, opts PlanOptions, seed [32]byte) error {
	model := m.sensitivityModel(opts.Alpha)
	options := m.sensitivityOptions(opts, seed)
	bracket, err := sensitivity.Bound(ctx, model, nil, options)
	if err != nil {
		return err
	}
	spec.Sensitivity = m.named(bracket, seed)
	if opts.Guarantee == privacy.PerSensor {
		brackets, err := sensitivity.PerSensor(ctx, model, options)
		if err != nil {
			return err
		}
		for _, b := range brackets {
			spec.PerSensor = append(spec.PerSensor, b.Upper*certificateMargin)
			if b.Failure > 0 {
				spec.Sensitivity.Failure, spec.Sensitivity.Seed = max(spec.Sensitivity.Failure, b.Failure), seed
			}
		}
	}
	return nil
}

// named gives the attaining edge its ids.
func (m *Model) named(b sensitivity.Bracket, seed [32]byte) privacy.Sensitivity {
	s := privacy.Sensitivity{Lower: b.Lower, Upper: b.Upper * certificateMargin, Failure: b.Failure}
	if b.Failure > 0 {
		s.Seed = seed
	}
	if b.Edge[0] >= 0 {
		s.Edge = [2]graph.ID{m.Graph.ID(b.Edge[0]), m.Graph.ID(b.Edge[1])}
	}
	return s
}

// reach returns the values that y takes for sources in [0, 1]: [0, 1] where M is
// row-stochastic, and [0, √(max d/min d)] for the normalised Laplacian, whose
// M = D^½ R D^{-½} with R stochastic.
func (m *Model) reach() privacy.Interval {
	hi := 1.0
	if s := m.laplacian.Similarity(); m.Settings.Laplacian == laplacian.Normalized {
		if s == nil {
			s = roots(m.laplacian.Degrees())
		}
		hi = math.Nextafter(slices.Max(s)/slices.Min(s), math.Inf(1))
	}
	return privacy.Interval{Lo: 0, Hi: hi}
}

// roots returns √d, 1 for nodes without neighbours.
func roots(d []float64) []float64 {
	s := make([]float64, len(d))
	for i, v := range d {
		s[i] = 1
		if v > 0 {
			s[i] = math.Sqrt(v)
		}
	}
	return s
}

// computingError returns η₂ ≥ ‖M̃f − Mf‖₂ for every f in [0, 1]ⁿ, whose norm is at
// most √n.
func (m *Model) computingError() float64 {
	return math.Nextafter(m.diffusion.Err()*math.Sqrt(float64(m.Graph.Order()))*(1+0x1p-50), math.Inf(1))
}

// planExtra is what a plan file holds beside the fields of a privacy plan. Where
// noise is allocated, sensitivity is that of the uniform noise with the same guarantee,
// and whitenedSensitivity is what is charged.
type planExtra struct {
	Model     Settings             `json:"model"`
	Seed      string               `json:"sensitivitySeed"`
	Accuracy  *Accuracy            `json:"expectedAccuracy,omitempty"`
	Allocated *Allocated           `json:"allocation,omitempty"`
	Whitened  *privacy.Sensitivity `json:"whitenedSensitivity,omitempty"`
	Public    []string             `json:"publicProperties"`
	Exposed   []string             `json:"notProtected"` // for the reader
}

// MarshalJSON writes the plan file: one object with the fields of the privacy plan
// and the model that it belongs to.
func (p *Plan) MarshalJSON() ([]byte, error) {
	extra := planExtra{Model: p.Model, Seed: hex.EncodeToString(p.Seed[:]), Accuracy: p.Accuracy, Allocated: p.Allocated, Public: p.PublicProperties, Exposed: report.Exposed(p.ComponentCount)}
	shown := struct {
		Sensitivity privacy.Sensitivity `json:"sensitivity"`
		report.Noise
	}{p.Sensitivity, p.Noise()}
	if p.Allocated != nil {
		extra.Whitened = &p.Sensitivity
		shown.Sensitivity = p.Allocated.Uniform.Sensitivity
	}
	fields, err := merge(p.Plan, extra, shown)
	if err != nil {
		return nil, err
	}
	return seal(fields)
}

// UnmarshalJSON reads a plan file and repeats every check of [privacy.NewPlan]. What
// follows from other parts of the file is computed again and compared; whether it fits
// a graph, [Model.Matches] and [Model.Certify] say.
func (p *Plan) UnmarshalJSON(data []byte) error {
	if err := p.unmarshal(data); err != nil {
		return fmt.Errorf("read plan: %w", err)
	}
	return nil
}

func (p *Plan) unmarshal(data []byte) error {
	var fields map[string]json.RawMessage
	if err := strictjson.Unmarshal(data, &fields); err != nil {
		return err
	}
	if err := checkVersion(fields, "plan file"); err != nil {
		return err
	}
	delete(fields, sealKey)
	own := make(map[string]json.RawMessage)
	for _, name := range []string{"model", "sensitivitySeed", "expectedAccuracy", "allocation", "whitenedSensitivity", "publicProperties", "notProtected"} {
		if v, ok := fields[name]; ok {
			own[name] = v
			delete(fields, name)
		}
	}
	if own["model"] == nil {
		return fmt.Errorf("%w: there is no model in it; is this a plan file?", strictjson.ErrInvalid)
	}
	var extra planExtra
	if err := remarshal(own, &extra); err != nil {
		return err
	}
	if whitened, ok := own["whitenedSensitivity"]; ok {
		fields["sensitivity"] = whitened
	}
	for _, name := range []string{"sigmaMin", "sigmaMax", "uniformSigma"} {
		delete(fields, name) // they follow from the sensors, and are compared below
	}
	seed, err := hex.DecodeString(extra.Seed)
	if err != nil || len(seed) != len(p.Seed) {
		return fmt.Errorf("%w: sensitivitySeed is not 64 hexadecimal digits", strictjson.ErrInvalid)
	}
	inner := new(privacy.Plan)
	if err := remarshal(fields, inner); err != nil {
		return err
	}
	q := Plan{Plan: inner, Model: extra.Model, Seed: [32]byte(seed), Accuracy: extra.Accuracy, Allocated: extra.Allocated, PublicProperties: extra.Public}
	if err := q.consistent(); err != nil {
		return err
	}
	if err := restates(data, &q); err != nil {
		return err
	}
	*p = q
	return nil
}

// remarshal decodes fields into v.
func remarshal(fields map[string]json.RawMessage, v any) error {
	data, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	return strictjson.Unmarshal(data, v)
}

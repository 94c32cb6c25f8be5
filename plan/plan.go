// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/internal/parallel"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/allocation"
	"github.com/graphcloak/graphcloak/report"
)

// ErrComputed says that an uncertainty of the process is declared where no sensor measures it.
var ErrComputed = errors.New("graphcloak: a process that GraphCloak computes is certain")

// Plan certifies the sensitivity and chooses noise and lattice for each sensor.
// Only the public graph enters. Communities are detected beside it where it asks for them. It returns [ErrEmpty] where there is no
// relationship, [ErrIsolated], [ErrComputed], [ErrEachSensor], the errors of [privacy.NewPlan], [ErrTau]
// where a smaller τ would help, [expm.ErrAccuracy] where double precision certifies no
// sensitivity, [sensitivity.ErrUncertainty] for a declared one that cannot be certified,
// [allocation.ErrInvalid], [measurement.ErrInvalid], and those of [Model.Partition] and [Model.ChooseTau].
func (m *Model) Plan(ctx context.Context, opts Options) (*Plan, error) {
	opts.Alpha = cmp.Or(opts.Alpha, 1)
	if err := m.checkComputed(opts); err != nil {
		return nil, err
	}
	if opts.Guarantee == privacy.PerSensor && m.isUncertain() {
		return nil, fmt.Errorf("%w, not for a range of tau, listed graphs or operators", ErrEachSensor)
	}
	if err := m.checkTimes(opts.Guarantee); err != nil {
		return nil, err
	}
	if m.Graph.Size() == 0 {
		return nil, fmt.Errorf("%w: the graph has no relationship, so nothing spreads on it", ErrEmpty)
	}
	if err := m.checkIsolated(); err != nil {
		return nil, err
	}
	if most := opts.Allocation.MaxSensors; most > 0 && most < len(m.Sensors) && !opts.Allocates(m.Settings, m.Graph.Order()) {
		return nil, fmt.Errorf("%w: at most %d of %d sensors are to report, and noise that is not allocated is the same at all of them: "+
			"leave --max-sensors out, or have the noise allocated (--allocation optimal, --guarantee joint)",
			allocation.ErrInvalid, most, len(m.Sensors))
	}
	if m.Tau.IsWide() { // recovery sums over it, after the spend
		if _, err := m.Operator.Diffusion.WithTau(m.Tau.To); err != nil {
			return nil, err
		}
	}
	if m.Open || opts.Allocates(m.Settings, m.Graph.Order()) {
		defer m.BeginPartition(ctx)()
	}
	return m.plan(ctx, opts)
}

// plan makes the plan for options that fit together and to the model.
func (m *Model) plan(ctx context.Context, opts Options) (*Plan, error) {
	choice, err := m.chooseTau(ctx, opts)
	if err != nil {
		return nil, fmt.Errorf("choose tau: %w", err)
	}
	p := &Plan{Model: m.Settings, TauChoice: choice, PublicProperties: m.PublicProperties()}
	p.Model.Tau = tau.At(m.Tau.Value())
	if _, err := rand.Read(p.Seed[:]); err != nil {
		return nil, err
	}
	spec, err := m.certifiedSpec(ctx, opts, p.Seed)
	if err != nil {
		return nil, fmt.Errorf("certify sensitivity: %w", err)
	}
	if p.Plan, err = privacy.NewPlan(spec); err != nil {
		return nil, m.explainTau(spec, err)
	}
	p.UniformReason = opts.equalReason(m.Settings, m.Graph.Order())
	if opts.Allocates(m.Settings, m.Graph.Order()) {
		if err := m.allocate(ctx, p, spec, opts); err != nil {
			return nil, err
		}
		if most := opts.Allocation.MaxSensors; p.Allocated == nil && most > 0 && most < len(p.Sensors) {
			p.UniformReason += fmt.Sprintf("; so all %d sensors report, not at most %d", len(p.Sensors), most)
		}
	}
	if choice != nil || p.Allocated != nil {
		if p.Communities, err = m.PlannedCommunities(ctx); err != nil {
			return nil, err
		}
	}
	p.certified, err = p.Digest()
	return p, err
}

// certifiedSpec is what a plan is made from. The digest of the graph is computed beside the sensitivity.
func (m *Model) certifiedSpec(ctx context.Context, opts Options, seed [32]byte) (spec privacy.Spec, err error) {
	var certified privacy.Spec
	parallel.Each(2, func(part int) {
		if part == 0 {
			spec = m.newSpec(opts)
			return
		}
		err = m.addSensitivity(ctx, &certified, opts, seed)
	})
	spec.Sensitivity, spec.PerSensor = certified.Sensitivity, certified.PerSensor
	if !opts.Measured {
		spec.NormError = m.ComputingError()
	}
	return spec, err
}

// checkComputed refuses an uncertainty of a process that GraphCloak computes.
func (m *Model) checkComputed(opts Options) error {
	if opts.Measured || !m.isUncertain() {
		return nil
	}
	if m.Tau.IsWide() {
		return fmt.Errorf("%w: tau may be anything from %v to %v, but GraphCloak diffuses the sources itself and knows tau: a range is "+
			"for readings that sensors measure; give one number or auto", ErrComputed, m.Tau.From, m.Tau.To)
	}
	return fmt.Errorf("%w: an uncertainty is one of readings that sensors measure", ErrComputed)
}

// allocate replaces the plan's uniform noise by a better one with the same
// guarantee, where there is one.
func (m *Model) allocate(ctx context.Context, p *Plan, spec privacy.Spec, opts Options) error {
	part, err := m.Partition(ctx)
	if err != nil {
		return err
	}
	noise, err := opts.unitNoise()
	if err != nil {
		return err
	}
	best, bracket, err := m.optimize(ctx, part.Labels, noise, opts, p.Seed)
	var none *allocation.NoGain
	switch {
	case errors.As(err, &none):
		p.Simulated, p.UniformReason = &none.Simulated, noGain(&none.Simulated)
		return nil
	case errors.Is(err, allocation.ErrNothing):
		p.UniformReason = "an allocation was searched for, and none was found under which more can be told of the community"
		return nil
	case errors.Is(err, allocation.ErrWork):
		p.UniformReason = fmt.Sprintf("an allocation for %d nodes and %d relationships at this τ would take minutes", m.Graph.Order(),
			m.Graph.Size())
		return nil
	}
	if err != nil {
		return err
	}
	uniform := p.Plan
	spec.Weights = best.Weights
	spec.Sensitivity = m.toSensitivity(bracket, p.Seed)
	allocated, err := privacy.NewPlan(spec)
	if err != nil {
		return err
	}
	if m.isUncertain() && louder(allocated, uniform.Sigma()) {
		p.UniformReason = "certified for all that is declared, an allocation has at least as much noise at every sensor"
		return nil
	}
	p.Plan = allocated
	p.Allocated = &Allocated{
		Objective: best.Objective, Simulated: best.Simulated, CutShort: best.CutShort, Prior: m.PriorProperty,
		Uniform: Uniform{Sigma: uniform.Sigma(), SensorCount: len(uniform.Sensors), Sensitivity: uniform.Sensitivity},
	}
	return nil
}

// noGain says why an allocation that was found is not taken.
func noGain(s *allocation.Simulated) string {
	return fmt.Sprintf("an allocation was found that tells no more: in %s it was right in %s with a log loss of %.3f nats, uniform "+
		"noise in %s with %.3f",
		report.Count(s.Trials, "simulated run"), report.Percent(s.Right), s.Loss, report.Percent(s.Equal), s.EqualLoss)
}

// UniformPlan returns uniform noise with the guarantee of a plan whose noise is
// allocated, nil for a plan whose noise is uniform. The errors are those of
// [privacy.NewPlan].
func (m *Model) UniformPlan(p *Plan) (*privacy.Plan, error) {
	if p.Allocated == nil {
		return nil, nil
	}
	return m.uniformPlan(p.Plan, p.Allocated)
}

func (m *Model) uniformPlan(p *privacy.Plan, a *Allocated) (*privacy.Plan, error) {
	spec := p.Spec()
	spec.Sensitivity, spec.Sensors, spec.Weights = a.Uniform.Sensitivity, nil, nil
	for _, i := range m.Sensors {
		spec.Sensors = append(spec.Sensors, privacy.Sensor{Node: i, ID: m.Operator.SensorID(i)})
	}
	return privacy.NewPlan(spec)
}

// WithBudget returns the plan with another budget: the same weights, and the sensitivity
// that was certified for them, which does not depend on the budget. It returns
// [privacy.ErrNotPrivate] beyond the range of the calibration, and the other errors of
// [privacy.NewPlan].
func (m *Model) WithBudget(p *Plan, b privacy.Budget) (*Plan, error) {
	spec := p.Spec()
	spec.Budget = b
	inner, err := privacy.NewPlan(spec)
	if err != nil {
		return nil, err
	}
	q := &Plan{Plan: inner, Model: p.Model, Seed: p.Seed, TauChoice: p.TauChoice, PublicProperties: p.PublicProperties}
	if p.certified != (privacy.Digest{}) {
		if q.certified, err = inner.Digest(); err != nil {
			return nil, err
		}
	}
	if p.Allocated == nil {
		return q, nil
	}
	allocated := *p.Allocated
	q.Allocated = &allocated
	uniform, err := m.UniformPlan(q)
	if err != nil {
		return nil, err
	}
	allocated.Uniform.Accuracy, allocated.Uniform.Sigma, allocated.Simulated = nil, uniform.Sigma(), nil
	return q, nil
}

// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

// This file checks a plan that comes from outside against the graph. The sensors and the
// sensitivity that it states decide how much noise there is, and a file can state
// anything.

// ErrPlan says that the program could not have made such a plan for this graph.
var ErrPlan = errors.New("graphcloak: the plan does not hold on this graph")

// Matches reports whether a plan was made for this model's graph and operator, and
// whether its sensors and the edge of its sensitivity are in it. It costs one product
// with M, and returns [ErrGraphChanged] or [ErrPlan]. Whether the upper end of the
// sensitivity is a bound, [Model.Certify] says.
func (m *Model) Matches(p *privacy.Plan) error {
	want := m.publicPart(p.Alpha)
	switch {
	case p.GraphDigest != want.GraphDigest:
		return fmt.Errorf("%w: the plan is for a graph with the digest %.12s… (nodes: %d, relationships: %d), the store has %.12s… "+
			"(nodes: %d, relationships: %d)",
			ErrGraphChanged, p.GraphDigest, p.NodeCount, p.RelationshipCount, want.GraphDigest, want.NodeCount, want.RelationshipCount)
	case p.Public != want:
		return fmt.Errorf("%w: the plan is for %s and distance in %s; the model has %s and %s",
			ErrGraphChanged, matrixOf(p.Public), p.Metric, matrixOf(want), want.Metric)
	}
	if err := m.checkTimes(p.Guarantee); err != nil {
		return fmt.Errorf("%w: %w", ErrPlan, err)
	}
	if p.EntryError != 0 {
		return fmt.Errorf("%w: it charges an error of each reading, and errors are those of the whole vector here", ErrPlan)
	}
	if u := p.Uncertainty; u.Alternatives != m.listed.count() || u.AlternativesDigest != m.listed.digest {
		return fmt.Errorf("%w: it says that it is certified for %d alternatives of digest %.12s…, its model lists %d of "+
			"digest %.12s…",
			ErrPlan, u.Alternatives, u.AlternativesDigest, m.listed.count(), m.listed.digest)
	}
	if err := m.matchSensors(p); err != nil {
		return err
	}
	return m.matchEdge(p)
}

// matchSensors checks the sensors of a plan against the selected ones: distinct nodes in
// ascending order, under their own ids.
func (m *Model) matchSensors(p *privacy.Plan) error {
	last, next := -1, 0
	rows, _ := m.Operator.M().Dims()
	for k, s := range p.Sensors {
		for next < len(m.Sensors) && m.Sensors[next] < s.Node {
			next++
		}
		switch selected := next < len(m.Sensors) && m.Sensors[next] == s.Node; {
		case s.Node <= last:
			return fmt.Errorf("%w: sensor %d is row %d after row %d, want distinct ones in ascending order", ErrPlan, k, s.Node, last)
		case s.Node >= rows:
			return fmt.Errorf("%w: sensor %d is row %d, the model has %d", ErrPlan, k, s.Node, rows)
		case s.ID != m.Operator.SensorID(s.Node):
			return fmt.Errorf("%w: sensor %d has row %d under the id %q, the model has %q there", ErrPlan, k, s.Node, s.ID,
				m.Operator.SensorID(s.Node))
		case !selected:
			return fmt.Errorf("%w: node %q is not among the %d selected sensors", ErrPlan, s.ID, len(m.Sensors))
		}
		last = s.Node
	}
	if p.Guarantee == privacy.PerSensor && len(p.Sensors) != len(m.Sensors) {
		return fmt.Errorf("%w: it has %d sensors, %d are selected", ErrPlan, len(p.Sensors), len(m.Sensors))
	}
	return nil
}

// matchEdge checks the bracket of the sensitivity against the value at the edge that it
// names: the lower end is attained there and the upper end is not below it.
func (m *Model) matchEdge(p *privacy.Plan) error {
	b := p.Sensitivity
	if b.Edge == [2]graph.ID{} && b.Lower == 0 {
		return nil
	}
	u, known := m.Graph.Index(b.Edge[0])
	v, known2 := m.Graph.Index(b.Edge[1])
	if !known || !known2 {
		return fmt.Errorf("%w: the edge of its sensitivity is not in the graph", ErrPlan)
	}
	edge, adjacent := m.Graph.Edge(u, v)
	if !adjacent {
		return fmt.Errorf("%w: no relationship joins %q and %q, the edge of its sensitivity", ErrPlan, b.Edge[0], b.Edge[1])
	}
	scale := m.sensitivityModel(p.Alpha).Scale(edge)
	difference := make([]float64, m.Graph.Order())
	matrix := m.Operator.M()
	rows, _ := matrix.Dims()
	y := make([]float64, rows)
	difference[u], difference[v] = 1, -1
	matrix.MulVecTo(y, false, difference)
	var sum, heaviest float64
	for _, s := range p.Sensors {
		sum += s.Weight * y[s.Node] * y[s.Node]
		heaviest = max(heaviest, s.Weight)
		off := scale * (math.Abs(y[s.Node]) - math.Sqrt2*matrix.Err())
		if p.Guarantee == privacy.PerSensor && off > s.Bound*(1+1e-9) {
			return fmt.Errorf("%w: sensor %q is charged a sensitivity of %.6g, and it is at least %.6g", ErrPlan, s.ID, s.Bound, off)
		}
	}
	value, off := scale*math.Sqrt(sum), scale*math.Sqrt(2*heaviest)*matrix.Err()
	if low := (value - off) * (1 - 1e-9); b.Upper < low {
		return fmt.Errorf("%w: its sensitivity is charged as %.6g, and it is at least %.6g", ErrPlan, b.Upper, low)
	}
	if high := (value + off) * (1 + 1e-9); b.Lower > high && !p.Uncertainty.Any() { // else it is attained elsewhere
		return fmt.Errorf("%w: the lower end of its sensitivity is %.6g, and its edge gives at most %.6g", ErrPlan, b.Lower, high)
	}
	return nil
}

// Certify repeats the certificate that a plan's noise rests on, from a random seed of its
// own: the sensitivity under the plan's weights is no larger than what is charged, and so
// is that of each sensor where the guarantee is perSensor. It takes about as long as the
// plan took; below some hundred nodes the value is exact and takes less than a second.
// Call [Model.Matches] first. It returns [ErrPlan], [expm.ErrAccuracy] where double
// precision certifies nothing, and [sensitivity.ErrUncertainty] for a declared one that
// cannot be certified.
func (m *Model) Certify(ctx context.Context, p *privacy.Plan) error {
	if err := m.confirm(ctx, p, m.weights(p), p.Sensitivity); err != nil {
		return err
	}
	if p.NormError > 0 && m.ComputingError() > 4*p.NormError { // it differs between machines
		return fmt.Errorf("%w: a computed diffusion may be off by %.3g, the plan charges %.3g", ErrPlan, m.ComputingError(), p.NormError)
	}
	if p.Guarantee != privacy.PerSensor {
		return nil
	}
	options := m.sensitivityOptions(Options{Budget: p.Budget}, p.Sensitivity.Seed)
	fresh, err := sensitivity.PerSensor(ctx, m.sensitivityModel(p.Alpha), options)
	if err != nil {
		return fmt.Errorf("certify sensitivity: %w", err)
	}
	var largest float64
	for _, b := range fresh {
		largest = max(largest, b.Upper)
	}
	for k, s := range p.Sensors {
		b := fresh[k]
		if b.Upper == 0 { // no edge reaches it: it has the noise of the most sensitive one
			b.Upper = largest
		}
		if b.Upper > s.Bound || b.Failure > p.Sensitivity.Failure {
			return fmt.Errorf("%w: sensor %q is charged a sensitivity of %.6g, and only %.6g can be certified", ErrPlan, s.ID,
				s.Bound, b.Upper)
		}
	}
	return nil
}

// weights returns u for each selected sensor, 0 for one that does not report; nil: all
// report with weight 1.
func (m *Model) weights(p *privacy.Plan) []float64 {
	u := make([]float64, len(m.Sensors))
	uniform := len(p.Sensors) == len(m.Sensors)
	k := 0
	for _, s := range p.Sensors {
		for m.Sensors[k] < s.Node {
			k++
		}
		u[k] = s.Weight
		uniform = uniform && s.Weight == 1
	}
	if uniform {
		return nil
	}
	return u
}

// confirm certifies one bracket again, from a seed of its own.
func (m *Model) confirm(ctx context.Context, p *privacy.Plan, u []float64, b privacy.Sensitivity) error {
	if p.Guarantee == privacy.PerSensor && b.Upper == 0 {
		return nil
	}
	options := sensitivity.Options{Progress: m.opts.Progress}
	if _, err := rand.Read(options.Seed[:]); err != nil {
		return err
	}
	var fresh sensitivity.Bracket
	var err error
	if p.Uncertainty.Any() {
		options.Threshold = b.Upper
		fresh, err = m.bound(ctx, p.Alpha, u, p.Uncertainty, options)
	} else {
		stated := sensitivity.Bracket{Lower: b.Lower, Upper: b.Upper, Failure: b.Failure}
		fresh, err = sensitivity.Confirm(ctx, m.sensitivityModel(p.Alpha), u, stated, options)
	}
	if err != nil {
		return fmt.Errorf("certify sensitivity: %w", err)
	}
	if fresh.Upper > b.Upper {
		return fmt.Errorf("%w: its sensitivity is charged as %.9g, and here it is certified to be from %.9g to %.9g", ErrPlan, b.Upper,
			fresh.Lower, fresh.Upper)
	}
	return nil
}

// VerifyPlan checks a plan against the graph before anything is released under it. A plan
// that this process made is not certified again.
func (m *Model) VerifyPlan(ctx context.Context, p *Plan) error {
	if err := m.Matches(p.Plan); err != nil {
		return err
	}
	if err := m.checkIsolated(); err != nil {
		return err
	}
	digest, err := p.Digest()
	if err != nil || digest == p.certified {
		return err
	}
	switch {
	case p.Sensitivity.Failure > 0 && p.Sensitivity.Seed != privacy.Digest(p.Seed):
		return fmt.Errorf("%w: its sensitivity is of another seed than sensitivitySeed", ErrPlan)
	case !slices.Equal(p.PublicProperties, p.Model.PublicProperties(p.PublicProperties...)):
		return fmt.Errorf("%w: publicProperties leaves out what the model reads", ErrPlan)
	}
	if err := m.CertifyAll(ctx, p.Plan, p.Allocated); err != nil {
		return err
	}
	p.certified = digest
	return nil
}

// CertifyAll certifies a plan with what is said of the allocation of its noise, after [Model.Matches]. The errors are those of
// [Model.Certify].
func (m *Model) CertifyAll(ctx context.Context, p *privacy.Plan, a *Allocated) error {
	if err := m.MatchAllocated(p, a); err != nil {
		return err
	}
	if a != nil {
		if err := m.confirm(ctx, p, nil, a.Uniform.Sensitivity); err != nil {
			return fmt.Errorf("uniform noise beside the allocation: %w", err)
		}
	}
	return m.Certify(ctx, p)
}

// MatchAllocated computes again, from its stated sensitivity, the uniform noise that an
// allocation is compared with. A plan without an allocation must have every selected
// sensor report with one weight.
func (m *Model) MatchAllocated(p *privacy.Plan, a *Allocated) error {
	if a == nil {
		if m.weights(p) != nil {
			return fmt.Errorf("%w: its noise is not uniform at the %d selected sensors, and it names no allocation", ErrPlan,
				len(m.Sensors))
		}
		return nil
	}
	uniform, err := m.uniformPlan(p, a)
	if err != nil {
		return fmt.Errorf("%w: the uniform noise that its allocation is compared with: %w", ErrPlan, err)
	}
	if sigma := a.Uniform.Sigma; a.Uniform.SensorCount != len(m.Sensors) || !(math.Abs(sigma-uniform.Sigma()) <= 1e-9*sigma) {
		return fmt.Errorf("%w: uniform noise has σ = %.9g at %d sensors, its allocation is compared with %.9g at %d",
			ErrPlan, uniform.Sigma(), len(m.Sensors), sigma, a.Uniform.SensorCount)
	}
	return m.matchEdge(uniform)
}

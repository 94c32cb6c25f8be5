// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
)

// ErrBadSignal says that a property holds values that no source or sensor can have.
// The error counts them, and names neither nodes nor values.
var ErrBadSignal = errors.New("graphcloak: bad signal")

// ErrSignalKind says that the plan does not charge the error of a computed diffusion, or
// that the diffusion is computed by a method whose time depends on the sources.
var ErrSignalKind = errors.New("graphcloak: the plan does not serve a source property")

// ErrMissingSignal says that no selected node has the property of the sources.
var ErrMissingSignal = errors.New("graphcloak: nothing to hide")

// readings returns y at the sensors of the plan, and refuses bad input before
// anything is spent.
func (m *Model) readings(ctx context.Context, p *plan.Plan, s plan.Signal) ([]float64, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if err := s.CheckPrivate(m.PublicProperties(p.PublicProperties...)); err != nil {
		return nil, err
	}
	switch {
	case s.SourceProperty != "":
		return m.diffused(ctx, p, s)
	case s.MeasurementProperty != "":
		return m.measured(ctx, p, s)
	}
	return nil, fmt.Errorf("%w: sensors that add their noise themselves have no property to read", plan.ErrNoSignal)
}

// diffused reads the sources f₀ and returns M f₀.
func (m *Model) diffused(ctx context.Context, p *plan.Plan, s plan.Signal) ([]float64, error) {
	if p.NormError == 0 {
		return nil, fmt.Errorf("%w: it is for measured values and does not charge the error of a computed diffusion", ErrSignalKind)
	}
	if e := m.ComputingError(); e > p.NormError || p.EntryError > 0 && e > p.EntryError {
		return nil, fmt.Errorf("%w: the computed diffusion may be off by %v, the plan charges %v", plan.ErrGraphChanged, e, p.NormError)
	}
	f, err := m.sources(ctx, s)
	if err != nil {
		return nil, err
	}
	rows, _ := m.Operator.M().Dims()
	y := make([]float64, rows)
	if m.Operator.Given != nil {
		m.Operator.Given.MulPrivateTo(y, f)
	} else if err := m.Operator.Diffusion.MulPrivateTo(ctx, y, f); err != nil {
		return nil, err
	}
	out := make([]float64, len(p.Sensors))
	for k, s := range p.Sensors {
		out[k] = y[s.Node]
	}
	return out, ctx.Err()
}

// sources reads f₀, and refuses what no sources are. It needs no plan, so that a long search
// for one need not end in a refusal.
func (m *Model) sources(ctx context.Context, s plan.Signal) ([]float64, error) {
	f, err := m.values(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("read sources: %w", err)
	}
	outside, missing := 0, 0
	for i, v := range f {
		switch {
		case math.IsNaN(v):
			f[i] = 0 // a node without the property is no source
			missing++
		case v < 0 || v > 1:
			outside++
		}
	}
	if outside > 0 {
		return nil, badSignal(s.SourceProperty, "is outside [0, 1]", outside)
	}
	if missing == len(f) { // no neighbour has a source either: total mass is public
		return nil, fmt.Errorf("%w: no selected node has %q", ErrMissingSignal, s.SourceProperty)
	}
	return f, nil
}

// measured returns the readings of a property. Every reporting sensor needs one.
func (m *Model) measured(ctx context.Context, p *plan.Plan, s plan.Signal) ([]float64, error) {
	y, err := m.read(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("read measurements: %w", err)
	}
	var missing []int
	out := make([]float64, len(p.Sensors))
	nodes := m.SensorNodes(p.Plan)
	for k, s := range p.Sensors {
		if out[k] = y[s.Node]; math.IsNaN(out[k]) {
			missing = append(missing, nodes[k])
		}
	}
	if count := len(slices.Compact(missing)); count > 0 {
		return nil, fmt.Errorf("%w; choose the sensors that have it by a sensor property",
			badSignal(s.MeasurementProperty, "is missing", count))
	}
	return out, nil
}

// read returns what a measurement property holds for each row of M: of sensors that read several times, a list in the order of
// the times.
func (m *Model) read(ctx context.Context, s plan.Signal) ([]float64, error) {
	given := m.Operator.Given
	if given == nil {
		return m.values(ctx, s)
	}
	times := given.Times()
	if s.Values != nil {
		if want := len(given.Readings); len(s.Values) != want {
			return nil, fmt.Errorf("%w: %d values for %d readings of the given operator", ErrBadSignal, len(s.Values), want)
		}
		return slices.Clone(s.Values), nil
	}
	all, err := m.Source.Series(ctx, m.Graph, s.Property(), len(times))
	if err != nil {
		return nil, err
	}
	y := make([]float64, len(given.Readings))
	for k, r := range given.Readings {
		y[k] = all[r.Node*len(times)+slices.Index(times, r.Time)]
	}
	return y, nil
}

// values returns those of the signal's property, one for each node of the graph.
func (m *Model) values(ctx context.Context, s plan.Signal) ([]float64, error) {
	if s.Values == nil {
		return m.Source.Signal(ctx, m.Graph, s.Property())
	}
	if len(s.Values) != m.Graph.Order() {
		return nil, fmt.Errorf("%w: %d values for %d nodes", ErrBadSignal, len(s.Values), m.Graph.Order())
	}
	return slices.Clone(s.Values), nil
}

func badSignal(property, wrong string, count int) error {
	return fmt.Errorf("%w: %w", ErrBadSignal, &privacy.ReadingsError{Property: property, Wrong: wrong, Count: count})
}

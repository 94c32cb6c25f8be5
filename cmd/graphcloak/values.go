// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/report"
)

// recoverValues recovers from a property with private values.
func (a *app) recoverValues(ctx context.Context, s graphStore, sigma float64) error {
	property := a.config.Signal.MeasurementProperty
	switch {
	case property == "":
		return fail(exitUsage, "nothing to recover from").
			hint("give --release FILE, or --measurement-property with the private values")
	case a.config.Write.Mode == "write":
		return fail(exitUsage, "without a release file nothing can be written back").hint("use --mode stream or stats")
	}
	job, err := a.job()
	if err != nil {
		return err
	}
	m, err := a.load(ctx, s, job, property)
	if err != nil {
		return err
	}
	in, err := a.measurements(ctx, s, m, property, sigma)
	if err != nil {
		return err
	}
	if err := a.preparePage(ctx, s, m.Graph, job.Signal, job.RunID); err != nil {
		return err
	}
	rep, err := m.RecoverFrom(ctx, in, job.Recover)
	return a.conclude(ctx, s, job, rep, err)
}

// measurements reads private values and the σ of each.
func (a *app) measurements(ctx context.Context, s graphStore, m *graphcloak.Model, property string, sigma float64) (
	in analyst.Measurements, err error,
) {
	values, err := s.Signal(ctx, m.Graph, property)
	if err != nil {
		return in, err
	}
	for _, i := range m.Sensors {
		if !math.IsNaN(values[i]) {
			in.Nodes, in.Values = append(in.Nodes, i), append(in.Values, values[i])
		}
	}
	if len(in.Nodes) == 0 {
		return in, fail(exitValidation, "no sensor has a value in %q", property).hint("check --measurement-property and the sensors")
	}
	in.Sigmas, err = a.sigmas(ctx, s, m, report.SigmaOf(property), in.Nodes, sigma)
	return in, err
}

// sigmas returns the σ of the values at some nodes: what stands beside them, or,
// where nothing does, one that is given. One σ for values that have others each would be a
// posterior of another noise.
func (a *app) sigmas(ctx context.Context, s graphStore, m *graphcloak.Model, property string, nodes []int, given float64) (
	[]float64, error,
) {
	beside, err := s.Signal(ctx, m.Graph, property)
	if err != nil && !errors.Is(err, connector.ErrNotFound) {
		return nil, fmt.Errorf("read the σ of each value: %w", err)
	}
	missing, sigmas := 0, make([]float64, len(nodes))
	for k, i := range nodes {
		if beside == nil || math.IsNaN(beside[i]) {
			missing++
		} else {
			sigmas[k] = beside[i]
		}
	}
	switch {
	case missing == len(nodes) && given == 0:
		return nil, fail(exitUsage, "there is no %s with the σ of each value, and no --sigma", property).
			hint("give --release FILE, or the --sigma of the noise")
	case missing == len(nodes):
		return slices.Repeat([]float64{given}, len(nodes)), nil
	case missing > 0:
		return nil, fail(exitValidation, "%s is missing on %d of %d nodes with a value", property, missing, len(nodes)).
			hint("the values are not of one release: give --release FILE, or write them again")
	case slices.Min(sigmas) <= 0:
		return nil, fail(exitValidation, "%s is not above 0 on every node with a value", property).hint("give --release FILE")
	case given != 0 && slices.ContainsFunc(sigmas, func(x float64) bool { return x != given }):
		return nil, fail(exitUsage, "--sigma %v is not the σ of every value: %s has from %v to %v", given, property, slices.Min(sigmas),
			slices.Max(sigmas)).
			hint("leave --sigma out: each value is taken with its own σ")
	}
	return sigmas, nil
}

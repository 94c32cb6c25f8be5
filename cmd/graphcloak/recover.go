// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/report"
)

func newRecoverCommand(app *app) *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "recover",
		Short: "The likely source community, from a private measurement",
		Long: "recover computes the posterior, ranks the communities, and solves Basis Pursuit Denoising with a certificate. It costs\n" +
			"no privacy. It takes a release file, or a node property with the private values; the σ of each is read from the\n" +
			"property of the same name with Sigma at its end.",
		Example: "  graphcloak recover --from example:karate --release release.json --community-property club\n" +
			"  graphcloak recover --from folder:mygraph --measurement-property gcPrivateHeat --tau 2",
		GroupID: groupPipeline,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			err := app.settledBy("release", path, config.GroupProjection, config.GroupDiffusion, config.GroupSensors, config.GroupSignal)
			if err != nil {
				return err
			}
			open := app.openReading
			if app.config.Write.Mode == "write" {
				open = app.openStore
			}
			return with(ctx, open, func(s graphStore) error {
				if path != "" {
					return app.recoverRelease(ctx, s, path)
				}
				return app.recoverValues(ctx, s)
			})
		},
	}
	cmd = app.withSettings(cmd, map[string]string{"mode": "stats"}, modelGroups, config.GroupSignal, config.GroupRecovery,
		config.GroupCommunity, config.GroupWrite, config.GroupReport)
	cmd.Flags().StringVar(&path, "release", "", "release `FILE`; it settles projection, diffusion and sensors")
	return cmd
}

// recoverRelease recovers from a release file; in write mode the results go to
// the store under a run of their own.
func (a *app) recoverRelease(ctx context.Context, s graphStore, path string) error {
	if holdsAnswers(path) {
		return a.recoverAnswers(ctx, s, path)
	}
	var r graphcloak.Release
	if err := a.readUnder(path, "release", &r, &r.Model); err != nil {
		return err
	}
	return a.recoverFile(ctx, s, r.Model, r.Signal,
		func(m *graphcloak.Model, job graphcloak.Job) report.Table {
			return report.Outline(job.RunID, job.Write.Prefix, m.SensorNodes(r.Plan()))
		},
		func(m *graphcloak.Model, job graphcloak.Job) (*report.Report, error) {
			rep, err := m.Complete(ctx, &r, job)
			if err == nil {
				err = a.noteCommunities(ctx, m, r.Communities)
			}
			return rep, err
		})
}

// recoverValues recovers from a property with private values.
func (a *app) recoverValues(ctx context.Context, s graphStore) error {
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
	in, err := a.measurements(ctx, s, m, property)
	if err != nil {
		return err
	}
	if err := a.preparePage(ctx, s, m.Graph, job.Signal, job.RunID); err != nil {
		return err
	}
	rep, err := m.RecoverFrom(ctx, in, job.Recover)
	return a.conclude(ctx, s, job, rep, err)
}

// measurements reads private values and the σ of each, from the nodes of the operator's rows.
func (a *app) measurements(ctx context.Context, s graphStore, m *graphcloak.Model, property string) (
	in analyst.Measurements, err error,
) {
	if given := m.Operator.Given; given != nil && len(given.Times()) > 1 {
		return in, fail(exitValidation, "sensors read at %d times, and %q holds the last value of each", len(given.Times()), property).
			hint("give --release FILE")
	}
	values, err := s.Signal(ctx, m.Graph, property)
	if err != nil {
		return in, err
	}
	var nodes []int
	for k, i := range m.Operator.SensorNodes(m.Sensors) {
		if !math.IsNaN(values[i]) {
			nodes, in.Nodes, in.Values = append(nodes, i), append(in.Nodes, m.Sensors[k]), append(in.Values, values[i])
		}
	}
	if len(in.Nodes) == 0 {
		return in, fail(exitValidation, "no sensor has a value in %q", property).hint("check --measurement-property and the sensors")
	}
	in.Sigmas, err = a.sigmas(ctx, s, m, report.SigmaOf(property), nodes)
	return in, err
}

// sigmas returns the σ of the values at some nodes, which stand beside them.
func (a *app) sigmas(ctx context.Context, s graphStore, m *graphcloak.Model, property string, nodes []int) ([]float64, error) {
	beside, err := s.Signal(ctx, m.Graph, property)
	if errors.Is(err, connector.ErrNotFound) {
		return nil, fail(exitUsage, "there is no %s with the σ of each value", property).
			hint("give --release FILE, or write it beside them")
	}
	if err != nil {
		return nil, fmt.Errorf("read the σ of each value: %w", err)
	}
	missing, sigmas := 0, make([]float64, len(nodes))
	for k, i := range nodes {
		if sigmas[k] = beside[i]; math.IsNaN(beside[i]) {
			missing++
		}
	}
	switch {
	case missing > 0:
		return nil, fail(exitValidation, "%s is missing on %d of %d nodes with a value", property, missing, len(nodes)).
			hint("the values are not of one release: give --release FILE, or write them again")
	case slices.Min(sigmas) <= 0:
		return nil, fail(exitValidation, "%s is not above 0 on every node with a value", property).hint("give --release FILE")
	}
	return sigmas, nil
}

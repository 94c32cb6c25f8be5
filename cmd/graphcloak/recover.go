// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/run"
)

func newRecoverCommand(app *app) *cobra.Command {
	var path string
	var sigma float64
	cmd := &cobra.Command{
		Use:   "recover",
		Short: "The likely source community, from a private measurement",
		Long: "recover computes the posterior, ranks the communities, and solves Basis Pursuit Denoising with a certificate.\n" +
			"It costs no privacy. It takes a release file, or, where no record of the release is at hand, a node property\n" +
			"with the private values. The σ of each value's noise is read beside it, from the property of the same name\n" +
			"with Sigma at its end, as a run writes it; where there is none, --sigma gives one σ for all.",
		Example: "  graphcloak recover --from example:karate --release release.json --community-property club\n" +
			"  graphcloak recover --from folder:mygraph --measurement-property gcPrivateHeat --tau 2",
		GroupID: groupPipeline,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			if name := app.settled(config.GroupProjection, config.GroupDiffusion, config.GroupSensors,
				config.GroupSignal); path != "" && name != "" {
				return fail(exitUsage, "--%s and --release contradict each other: the release file settles projection, "+
					"diffusion and sensors", name).
					hint("leave out --%s", name)
			}
			if cmd.Flags().Changed("sigma") && (!(sigma > 0 && sigma <= math.MaxFloat64) || path != "") {
				return fail(exitUsage, "--sigma is %v, want a number > 0, and no --release beside it", sigma)
			}
			s, err := app.openFor(ctx, app.config.Write.Mode == "write")
			if err != nil {
				return err
			}
			defer s.Close(context.WithoutCancel(ctx))
			if app.config.Write.Mode == "estimate" {
				return app.estimateRecovery(ctx, s, path)
			}
			if path != "" {
				return app.recoverRelease(ctx, s, path)
			}
			return app.recoverValues(ctx, s, sigma)
		},
	}
	cmd = app.withSettings(cmd, map[string]string{"mode": "stats"},
		config.GroupConnection, config.GroupSource, config.GroupProjection, config.GroupQueries, config.GroupDiffusion, config.GroupSensors,
		config.GroupSignal, config.GroupRecovery, config.GroupCommunity, config.GroupWrite, config.GroupReport,
		config.GroupOutput, config.GroupExecution)
	cmd.Flags().Float64Var(&sigma, "sigma", 0, "standard deviation of the noise of every value, a `NUMBER`, where neither a release file "+
		"nor a property with one σ a value is at hand")
	cmd.Flags().StringVar(&path, "release", "", "release `FILE`; it settles projection, diffusion and sensors")
	return cmd
}

// estimateRecovery takes settings from the release, where there is one.
func (a *app) estimateRecovery(ctx context.Context, s graphStore, path string) error {
	job, err := a.job()
	if err != nil {
		return err
	}
	if path != "" {
		var r graphcloak.Release
		if err := a.readRelease(path, &r); err != nil {
			return err
		}
		p := r.Plan()
		job.Settings, job.Plan = r.Model,
			graphcloak.PlanOptions{Budget: p.Budget, Alpha: p.Alpha, Calibration: p.Calibration, Measured: p.Measured()}
	}
	return a.estimate(ctx, s, job, "recover")
}

// recoverRelease recovers from a release file; in write mode the results go to
// the store under a run of their own.
func (a *app) recoverRelease(ctx context.Context, s graphStore, path string) error {
	var r graphcloak.Release
	if err := a.readRelease(path, &r); err != nil {
		return err
	}
	job, err := a.job()
	if err != nil {
		return err
	}
	job.Settings, job.Signal = chosen(r.Model, a.config.Recovery, a.config.Community), r.Signal
	if err := job.CheckSignal(); err != nil {
		return err
	}
	if job.RunID, err = run.NewRunID(); err != nil {
		return err
	}
	m, err := a.load(ctx, s, job)
	if err != nil {
		return err
	}
	if job.Write.Enabled {
		if err := s.Check(ctx, m.Graph, report.Outline(job.RunID, job.Write.Prefix, r.Nodes()), job.Write.Force); err != nil {
			return err
		}
	}
	if err := a.preparePage(ctx, s, m.Graph, r.Signal, job.RunID); err != nil {
		return err
	}
	a.simulate = a.curveOf(m, r.Plan(), job.Recover)
	defer saveMemory(m.Graph.Order())()
	rep, err := m.Complete(ctx, &r, job)
	if err == nil {
		if err := a.noteReleased(ctx, m, &r); err != nil {
			return err
		}
	}
	return a.conclude(ctx, s, job, rep, err)
}

// settled returns a flag of the groups that was given although a file settles it,
// or "".
func (a *app) settled(groups ...config.Group) string {
	for _, s := range config.Settings() {
		if slices.Contains(groups, s.Group) && a.config.Origin(s.Key).Layer == config.LayerFlag {
			return s.Flag
		}
	}
	return ""
}

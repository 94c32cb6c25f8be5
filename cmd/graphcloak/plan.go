// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
)

func newPlanCommand(app *app) *cobra.Command {
	var packages sensorPackages
	var choice epsilonFlags
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Sensitivity, noise and expected accuracy; spends nothing",
		Long: "plan reads the public graph only. It certifies the sensitivity, chooses each sensor's noise and, unless --tau is\n" +
			"given, the diffusion time, and simulates how often the right community would be named. Its JSON is a plan file for\n" +
			"`graphcloak release`, or with --sensor-package-dir for sensors that add their noise themselves.",
		Example: "  graphcloak plan --from example:karate --epsilon 4 --delta 0.01\n" +
			"  graphcloak plan --uri neo4j://localhost:7687 --node-key id -o plan.json",
		GroupID: groupPipeline,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return app.plan(cmd, packages, choice)
		},
	}
	cmd = app.withSettings(cmd, nil, modelGroups, config.GroupSignal, config.GroupPrivacy, config.GroupScenario, config.GroupEscrow,
		config.GroupRecovery, config.GroupCommunity)
	packages.flags(cmd.Flags())
	choice.flags(cmd.Flags())
	return cmd
}

// plan makes a plan and shows it.
func (a *app) plan(cmd *cobra.Command, packages sensorPackages, choice epsilonFlags) error {
	job, err := a.jobToPlan(&packages, choice)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	if job.Asking.Rumour != "" {
		return a.planAnswers(ctx, job, packages, choice)
	}
	return a.onModel(ctx, job, func(m *graphcloak.Model) error {
		p, err := choice.plan(ctx, m, job)
		if err != nil {
			return err
		}
		if err := packages.write(a, p); err != nil {
			return err
		}
		if most := packages.most; most > 0 && most < len(p.Sensors) {
			a.warn("--max-sensors %d is not kept: %s; leave it out, or name the sensors by --sensor-property", most, p.UniformReason)
		}
		return a.tellPlan(ctx, m, p, job, choice.trials)
	})
}

// jobToPlan checks the flags, and returns what is to be planned.
func (a *app) jobToPlan(packages *sensorPackages, choice epsilonFlags) (job graphcloak.Job, err error) {
	if err := a.needKey("a plan file"); err != nil {
		return job, err
	}
	if err := a.needJSON("a plan file"); err != nil {
		return job, err
	}
	if err := choice.check(a); err != nil {
		return job, err
	}
	if job, err = a.job(); err != nil {
		return job, err
	}
	if err := packages.check(a.config); err != nil {
		return job, err
	}
	job.Plan.Allocation.MaxSensors = packages.most
	if packages.dir != "" {
		job.Plan.Measured = true
		job.Tau, err = tauOf(a.config, true)
	}
	return job, err
}

// tellPlan shows a plan with what speaks against it. Where its accuracy was not simulated for the file, it is by few trials
// of those that are asked for, for the reader.
func (a *app) tellPlan(ctx context.Context, m *graphcloak.Model, p *graphcloak.Plan, job graphcloak.Job, trials int) error {
	accuracy, err := a.largeAccuracy(ctx, m, p, job.Recover, trials)
	if err != nil {
		return err
	}
	if err := a.advise(ctx, m, p, accuracy); err != nil {
		return err
	}
	p.Warnings = slices.Clone(a.warnings)
	a.noteTau(p)
	a.noteEpsilon(p)
	if a.outputFormat() != "table" && p.UniformReason != "" {
		a.note("Note: %s", uniformReason(p))
	}
	return a.showPlan(p, accuracy)
}

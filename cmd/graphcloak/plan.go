// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/privacy"
)

func newPlanCommand(app *app) *cobra.Command {
	var packages sensorPackages
	var choice epsilonFlags
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Sensitivity, noise and expected accuracy; spends nothing",
		Long: "plan reads the public graph only. It certifies the sensitivity, chooses each sensor's noise, and simulates\n" +
			"how often the right community would be named. Its JSON is a plan file for `graphcloak release`, or with\n" +
			"--sensor-package-dir for sensors that add their noise themselves. Where GraphCloak diffuses, it chooses the diffusion time " +
			"too: --tau auto.",
		Example: "  graphcloak plan --from example:karate --epsilon 4 --delta 0.01\n" +
			"  graphcloak plan --uri neo4j://localhost:7687 --node-key id -o plan.json\n" +
			"  graphcloak plan --from folder:g --sensor-package-dir packages -o plan.json\n" +
			"  graphcloak plan --from example:karate --delta 0.01 --target-accuracy 0.9 --curve curve.csv",
		GroupID: groupPipeline,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return app.plan(cmd, packages, choice)
		},
	}
	cmd = app.withSettings(cmd, nil,
		config.GroupConnection, config.GroupSource, config.GroupProjection, config.GroupQueries, config.GroupDiffusion, config.GroupSensors,
		config.GroupSignal, config.GroupPrivacy, config.GroupScenario, config.GroupEscrow, config.GroupRecovery, config.GroupCommunity,
		config.GroupOutput, config.GroupExecution)
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
	return a.onModel(ctx, job, func(m *graphcloak.Model) error {
		a.noteRange(m, job)
		p, err := choice.plan(ctx, a, m, job)
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
	a.noteBracket(p)
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
	a.noteUnused()
	if a.outputFormat() != "table" && p.UniformReason != "" {
		a.note("Note: %s", uniformReason(p))
	}
	return a.showPlan(p, accuracy)
}

// noteUnused tells of flags that were given and change nothing in this plan.
func (a *app) noteUnused() {
	if a.config.Origin("sources").Layer == config.LayerFlag || a.config.Origin("falseAlarm").Layer == config.LayerFlag {
		a.note("Note: the simulation is of releases with one source, and of whether it is found; --sources and --false-alarm are for " +
			"the answer of a run.")
	}
}

// noteBracket tells of a joint sensitivity that is certified roughly only.
func (a *app) noteBracket(p *graphcloak.Plan) {
	b := p.Sensitivity
	if p.Guarantee == privacy.PerSensor || b.Upper <= 2*b.Lower {
		return
	}
	how := "from above only"
	if b.Lower > 0 {
		how = fmt.Sprintf("within a factor of %.2g only", b.Upper/b.Lower)
	}
	a.note("Note: the sensitivity is certified %s, and noise follows its upper end. Rounding of the products with M keeps it open: "+
		"a smaller --tau leaves larger differences, which are certified closely.", how)
}

// maxFile bounds a file of ours in bytes: a plan or a release has a few hundred for
// each sensor.
const maxFile = 1 << 30

// readPlan reads a plan file. Its queries are agreed to where the settings hold them.
func (a *app) readPlan(path string, p *graphcloak.Plan) error {
	if err := readJSON(path, "plan", p); err != nil {
		return err
	}
	a.agreeQueries(&p.Model)
	return nil
}

// readRelease reads a release file as readPlan does.
func (a *app) readRelease(path string, r *graphcloak.Release) error {
	if err := readJSON(path, "release", r); err != nil {
		return err
	}
	a.agreeQueries(&r.Model)
	return nil
}

// agreeQueries lets the queries of a file run that the user gives as well. The file settles what is read.
func (a *app) agreeQueries(s *graphcloak.Settings) {
	a.chosenByFile.Store(true)
	s.Agree(a.config.Projection.NodeQuery, a.config.Projection.RelationshipQuery)
}

// readJSON reads a file of ours.
func readJSON(path, what string, v any) error {
	data, err := disk.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return fail(exitNotFound, "%s: %w", what, err).hint("`graphcloak %s -o FILE` makes one", what)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if err := strictjson.Unmarshal(data, v); err != nil {
		return fail(exitValidation, "%s %s: %w", what, path, err)
	}
	return nil
}

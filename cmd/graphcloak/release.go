// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/run"
)

func newReleaseCommand(app *app) *cobra.Command {
	var path string
	var sensors fromSensors
	cmd := &cobra.Command{
		Use:   "release",
		Short: "Spend the budget of a plan and release the private measurement",
		Long: "release reads the signal, records the spend in the ledger of the store, and only then adds each sensor's own noise. It\n" +
			"refuses a graph that is not the plan's. With --from-sensors it takes what sensors sent that ran `graphcloak cloak`.\n" +
			"The JSON output is a release file for `graphcloak recover`; --mode write also writes the private values into the store.",
		Example: "  graphcloak release --from example:karate --plan plan.json --source-property source -o release.json\n" +
			"  graphcloak release --from folder:mygraph --plan plan.json --from-sensors private.ndjson --release-id 7 -o release.json",
		GroupID: groupPipeline,
		RunE: func(cmd *cobra.Command, _ []string) error {
			app.pays = true
			if err := app.needJSON("a release file"); err != nil {
				return err
			}
			if path == "" {
				return fail(exitUsage, "no plan is named").hint("give --plan FILE, made by `graphcloak plan -o FILE`")
			}
			if app.aboutWhisper(path) {
				return app.releaseAnswers(cmd.Context(), path, sensors)
			}
			var p graphcloak.Plan
			if err := app.readUnder(path, "plan", &p, &p.Model); err != nil {
				return err
			}
			return app.release(cmd.Context(), &p, sensors)
		},
	}
	cmd = app.withSettings(cmd, map[string]string{"mode": "stats"}, storeGroups, config.GroupQueries, config.GroupSignal,
		config.GroupBudget, config.GroupEscrow, config.GroupWrite)
	cmd.Flags().StringVar(&path, "plan", "", "plan `FILE`")
	cmd.Flags().StringVar(&app.signal, "signal", "", signalFlag)
	cmd.Flags().StringVar(&sensors.path, "from-sensors", "", "`FILE` of NDJSON that sensors sent; - is standard input")
	cmd.Flags().StringVar(&sensors.releaseID, "release-id", "", "with --from-sensors: the release, where the file has several, an `ID`")
	return cmd
}

// release makes one release, from the store's signal or from what sensors sent.
func (a *app) release(ctx context.Context, p *graphcloak.Plan, sensors fromSensors) error {
	job, err := a.releaseJob(p, sensors)
	if err != nil {
		return err
	}
	digest, err := p.Digest()
	if err != nil {
		return err
	}
	return a.onReleaseModel(ctx, job, p.GraphDigest, []any{digest, job.Signal.Sent},
		func(s graphStore, m *graphcloak.Model, identity string) (err error) {
			if job.Signal.Values, err = a.readSignal(m, job.Signal); err != nil {
				return err
			}
			return a.releaseFrom(ctx, s, m, p, job, identity)
		})
}

// releaseFrom makes a release that nothing stands in the way of, or the part of it that a dry run may.
func (a *app) releaseFrom(ctx context.Context, s graphStore, m *graphcloak.Model, p *graphcloak.Plan, job graphcloak.Job,
	identity string,
) error {
	if !job.Signal.Cloaked && !a.config.Privacy.SpendAtChance { // what sensors sent is drawn already, and nothing stops who asks for that
		accuracy, err := a.outlook(ctx, m, p, job.Recover)
		if err == nil {
			err = a.refuseAtChance(ctx, m, p, accuracy)
		}
		if err != nil {
			return err
		}
	}
	if job.DryRun {
		if err := m.Check(ctx, p, job); err != nil {
			return explain(job, err)
		}
		if err := a.noteNewScope(ctx, s.Ledger(), run.Scope(job.Signal)); err != nil {
			return err
		}
		return a.wouldSpend(m, p, job, report.ReleaseOutline(job.RunID, job.Write.Prefix, nil))
	}
	if err := a.journal(ctx, s.Ledger(), &job, outputSize(m.Graph), identity); err != nil {
		return err
	}
	r, err := m.Release(ctx, p, job)
	if err != nil {
		return a.unspent(job.RunID, explain(job, err))
	}
	return a.finishRelease(ctx, m, r, job)
}

// releaseJob reads what the command was given, before a store is opened.
func (a *app) releaseJob(p *graphcloak.Plan, sensors fromSensors) (graphcloak.Job, error) {
	job, err := a.jobOfFile(p.Model, signalOf(a.config), sensors)
	if err == nil {
		err = p.CheckSignal(job.Signal)
	}
	if err != nil {
		return job, err
	}
	if sensors.path == "" {
		job.Noise, err = a.noise(p.Randomness)
		return job, err
	}
	if !job.Signal.IsZero() {
		return job, fail(exitUsage, "values come from sensors or from a property, not from both").
			hint("leave --source-property and --measurement-property out")
	}
	job.Signal.Cloaked = true
	if job.Signal.Sent, err = readSent(a, sensors, sentValues,
		func(v privacy.SensorValue) string { return v.ReleaseID }); err == nil {
		_, err = p.FromSensors(job.Signal.Sent)
	}
	return job, asRefusal(err)
}

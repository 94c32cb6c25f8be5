// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/run"
)

func newReleaseCommand(app *app) *cobra.Command {
	var path string
	var sensors fromSensors
	cmd := &cobra.Command{
		Use:   "release",
		Short: "Spend the budget of a plan and release the private measurement",
		Long: "release reads the signal, records the spend in the ledger of the store, and only then adds each sensor's own\n" +
			"noise. It refuses a graph that is not the plan's. With --from-sensors it takes what sensors sent that ran\n" +
			"`graphcloak cloak`, and no raw reading is seen. An interrupted one is completed as that of `graphcloak run` is. The JSON " +
			"output is a release file for `graphcloak recover`;\n" +
			"--mode write also writes the private values into the store.",
		Example: "  graphcloak release --from example:karate --plan plan.json --source-property source -o release.json\n" +
			"  graphcloak release --uri neo4j://localhost:7687 -u neo4j --plan plan.json --measurement-property heat --mode write -o " +
			"release.json\n" +
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
			var p graphcloak.Plan
			if err := app.readPlan(path, &p); err != nil {
				return err
			}
			return app.release(cmd.Context(), &p, sensors)
		},
	}
	cmd = app.withSettings(cmd, map[string]string{"mode": "stats"}, config.GroupConnection, config.GroupSource, config.GroupQueries,
		config.GroupSignal,
		config.GroupBudget, config.GroupEscrow, config.GroupWrite, config.GroupOutput, config.GroupExecution)
	cmd.Flags().StringVar(&path, "plan", "", "plan `FILE`")
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
	if _, err := checkState(); err != nil {
		return err
	}
	s, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer s.Close(context.WithoutCancel(ctx))
	if a.config.Write.Mode == "estimate" {
		job.Plan = graphcloak.PlanOptions{Budget: p.Budget, Alpha: p.Alpha, Calibration: p.Calibration}
		return a.estimate(ctx, s, job, "release")
	}
	m, err := a.model(ctx, s, p.Model)
	if err != nil {
		return err
	}
	digest, err := p.Digest()
	if err != nil {
		return err
	}
	identity, err := jobIdentity(job, a.config, []any{digest, job.Signal.Sent})
	if err != nil {
		return err
	}
	if done, err := a.resolveInterrupted(ctx, s,
		interruption{run.Scope(job.Signal), identity, p.GraphDigest, false, a.config.Write.DryRun}); done || err != nil {
		return err
	}
	if !job.Signal.Cloaked { // what sensors sent is drawn already
		accuracy, err := a.outlook(ctx, m, p, job.Recover)
		if err == nil {
			err = a.refuseAtChance(ctx, m, p, accuracy)
		}
		if err != nil {
			return err
		}
	}
	if a.config.Write.DryRun {
		if err := m.Check(ctx, p, job); err != nil {
			return explain(job, err)
		}
		if err := a.noteNewScope(ctx, s.Ledger(), run.Scope(job.Signal)); err != nil {
			return err
		}
		return a.wouldSpend(p, job, report.ReleaseOutline(job.RunID, job.Write.Prefix, nil))
	}
	again := ""
	if job.Signal.Cloaked { // the same values cost nothing again
		again = job.Signal.Sent[0].ReleaseID
	}
	if err := a.journal(&job, outputSize(m.Graph), identity); err != nil {
		return err
	}
	a.announceFirst(ctx, s, &job, again)
	r, err := m.Release(ctx, p, job)
	if err != nil {
		return a.unspent(job.RunID, explain(job, err))
	}
	return a.finishRelease(ctx, m, r, job)
}

// releaseJob reads what the command was given, before a store is opened.
func (a *app) releaseJob(p *graphcloak.Plan, sensors fromSensors) (graphcloak.Job, error) {
	job := graphcloak.Job{
		Settings: p.Model, Signal: signalOf(a.config), RequireCap: a.config.Execution.Strict, Version: readBuild().Version,
		Write: graphcloak.WriteOptions{
			Enabled: a.config.Write.Mode == "write", Prefix: a.config.Write.PropertyPrefix,
			Force: a.config.Output.Force,
		},
	}
	if err := p.CheckSignal(job.Signal); err != nil {
		return job, err
	}
	var err error
	if job.RunID, err = run.NewRunID(); err != nil {
		return job, err
	}
	if sensors.path == "" {
		if sensors.releaseID != "" {
			return job, fail(exitUsage, "--release-id chooses among what sensors sent").hint("give --from-sensors FILE")
		}
		job.Noise, err = a.noise(p.Randomness)
		return job, err
	}
	if !job.Signal.IsZero() {
		return job, fail(exitUsage, "values come from sensors or from a property, not from both").
			hint("leave --source-property and --measurement-property out")
	}
	job.Signal.Cloaked = true
	if job.Signal.Sent, err = sensors.read(a); err == nil {
		_, err = p.FromSensors(job.Signal.Sent)
	}
	return job, asRefusal(err)
}

// finishRelease writes a release, prints it, and forgets what was kept of it.
// The ledger holds the digest of its values before they are shown: anyone who drew others for
// the same payment is refused.
func (a *app) finishRelease(ctx context.Context, m *graphcloak.Model, r *graphcloak.Release, job graphcloak.Job) error {
	written, err := m.Publish(ctx, r, job)
	if err != nil {
		return a.outdated(err, job.RunID)
	}
	if err := a.showRelease(r); err != nil {
		return a.paidFor(job.RunID, err)
	}
	if err := a.forget(); err != nil {
		a.warn("the staged release could not be removed: %v", err)
	}
	if job.Write.Enabled {
		a.note("Wrote %d node properties as run %s", written, job.RunID)
	}
	if path := a.outputPath(); path != "" && a.tty.err {
		a.note("Spent ε = %v at δ = %v from scope %s; next: `graphcloak recover --release %s` with the same --from or --uri",
			r.Plan().Epsilon, r.Plan().Delta, run.Scope(job.Signal), path)
	}
	return nil
}

// wouldSpend says what a release would cost and write.
func (a *app) wouldSpend(p *graphcloak.Plan, job graphcloak.Job, table report.Table) error {
	names := []string{}
	if job.Write.Enabled {
		for _, c := range table.Columns() {
			names = append(names, c.Name)
		}
	}
	noise := p.Noise()
	result := struct {
		DryRun            bool    `json:"dryRun"`
		EpsilonWouldSpend float64 `json:"epsilonWouldSpend"`
		DeltaWouldSpend   float64 `json:"deltaWouldSpend"`
		RhoWouldSpend     float64 `json:"rhoWouldSpend"`
		report.Noise
		NodeCount           int      `json:"nodeCount"`
		SensorCount         int      `json:"sensorCount"`
		PropertiesWouldGain []string `json:"nodeProperties"`
		Guarantee           string   `json:"guarantee"`
		NotProtected        []string `json:"notProtected"`
	}{
		true, p.Epsilon, p.Delta, p.Cost().Rho(), noise, p.NodeCount, len(p.Sensors), names,
		p.Sentence(), report.ExposedBy(p.Plan),
	}
	rows := [][]any{
		{"epsilonWouldSpend", term.Cell(p.Epsilon, -1)},
		{"deltaWouldSpend", term.Cell(p.Delta, -1)},
		{"sigmaMin", term.Cell(noise.SigmaMin, term.Digits)},
		{"sigmaMax", term.Cell(noise.SigmaMax, term.Digits)},
	}
	if noise.UniformSigma > 0 {
		rows = append(rows, []any{"uniformSigma", term.Cell(noise.UniformSigma, term.Digits)})
	}
	rows = append(rows,
		[]any{"nodeCount", term.Cell(p.NodeCount, -1)},
		[]any{"sensorCount", term.Cell(len(p.Sensors), -1)},
		[]any{"nodeProperties", spaceJoined(names)})
	return a.render(result, term.Section{
		Title: "Dry run: nothing was written or spent", Columns: []string{"name", "value"},
		Rows: slices.Values(rows),
	}, term.Section{Title: "Guarantee", Text: p.Sentence()})
}

func (a *app) showRelease(r *graphcloak.Release) error {
	type row struct {
		id    string
		value float64
		sigma float64
	}
	var values []row
	y := r.Values()
	for k, s := range r.Plan().Sensors {
		values = append(values, row{string(s.ID), y[k], s.Sigma()})
	}
	shown := values
	if a.outputFormat() == "table" {
		shown = values[:min(shownRows, len(values))]
	}
	p := r.Plan()
	return a.render(r,
		term.Section{Text: fmt.Sprintf("Release %s: ε = %v, δ = %v spent. ", r.ID(), p.Epsilon, p.Delta) + p.Sentence()},
		term.Section{
			Title: "Private measurement" + moreText(len(values)), Columns: []string{"nodeId", "privateHeat", "privateHeatSigma"},
			Rows: term.Rows(shown, func(v row) []any { return []any{v.id, v.value, v.sigma} }),
		})
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
	stores "github.com/graphcloak/graphcloak/connector/store"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/report"
)

func newRunCommand(app *app) *cobra.Command {
	var resume, undo string
	cmd := &cobra.Command{
		Use:   "run",
		Short: "The main job: plan, release, recover and write back",
		Long: "run reads the graph, certifies the sensitivity, spends the budget, releases each sensor's private value,\n" +
			"recovers the likely source community, and writes the results back as node properties with one\n" +
			"(:GraphCloakRun) node. Input and conflicts are checked before anything is spent. What is spent stays spent:\n" +
			"an interrupted run is completed with --resume, or its properties are removed with --undo.",
		Example: "  graphcloak run --uri neo4j://localhost:7687 -u neo4j --node-labels Person --relationship-types KNOWS \\\n" +
			"    --source-property risk --epsilon 4 --delta 0.1\n" +
			"  graphcloak run --from folder:mygraph --source-property source --mode stats --dry-run\n" +
			"  graphcloak run --uri neo4j://localhost:7687 -u neo4j --undo 0195f6a0-6a3e-7c1e-9d52-1f2b7c1b8e11",
		GroupID: groupPipeline,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if resume != "" && undo != "" {
				return fail(exitUsage, "--resume and --undo cannot go together").hint("give one of them")
			}
			ctx := cmd.Context()
			s, err := app.openStore(ctx)
			if err != nil {
				return err
			}
			defer s.Close(context.WithoutCancel(ctx))
			switch {
			case resume != "":
				return app.resume(ctx, s, resume)
			case undo != "":
				return app.undo(ctx, s, undo)
			}
			return app.run(ctx, s)
		},
	}
	cmd = app.withSettings(cmd, map[string]string{"mode": "write"},
		config.GroupConnection, config.GroupSource, config.GroupProjection, config.GroupQueries, config.GroupDiffusion, config.GroupSensors,
		config.GroupSignal, config.GroupPrivacy, config.GroupBudget, config.GroupEscrow, config.GroupRecovery, config.GroupCommunity, config.GroupWrite,
		config.GroupOutput, config.GroupExecution)
	cmd.Flags().StringVar(&resume, "resume", "", "complete the interrupted run with this `RUNID`; nothing is spent again")
	cmd.Flags().StringVar(&undo, "undo", "", "remove the properties of the run with this `RUNID`; its spend stays spent")
	return cmd
}

// run is the whole job in the mode that is asked for.
func (a *app) run(ctx context.Context, s graphStore) error {
	job, err := a.job()
	if err != nil {
		return err
	}
	if a.config.Write.Mode == "estimate" {
		return a.estimate(ctx, s, job, "run")
	}
	if job.Signal == (graphcloak.Signal{}) {
		return fail(exitUsage, "nothing to release").
			hint("name the node property of the sources with --source-property, or that of the readings with --measurement-property")
	}
	if job.Noise, err = a.noise(job.Plan.Randomness); err != nil {
		return err
	}
	if job.RunID, err = graphcloak.NewRunID(); err != nil {
		return err
	}
	job.Scope = cmp.Or(job.Scope, graphcloak.Scope(job.Signal))
	if err := a.announce(ctx, s.Ledger(), job.Scope); err != nil {
		return err
	}
	m, err := graphcloak.Load(ctx, s, job.Settings, loadOptions(a))
	if err != nil {
		return err
	}
	a.notices(s)
	p, err := m.Plan(ctx, job.Plan)
	if err != nil {
		return err
	}
	a.noteBracket(p, job.Plan.SensitivityTime)
	if a.config.Write.DryRun {
		return a.dryRun(ctx, s, m, p, job)
	}
	job.Stage = a.stage(job, a.config)
	rep, err := m.Execute(ctx, p, job)
	return a.conclude(job, rep, err)
}

// conclude prints the report of a run and forgets what was staged for it. An
// error before the release is the error; one after it says how to go on.
func (a *app) conclude(job graphcloak.Job, rep *report.Report, err error, extra ...section) error {
	stalled := errors.Is(err, recovery.ErrStalled)
	if err != nil && !stalled {
		return a.kept(job.RunID, err)
	}
	if shown := a.show(rep, a.config.Write.Mode, extra...); shown != nil {
		return a.kept(job.RunID, shown)
	}
	if job.RunID != "" {
		if err := forget(job.RunID); err != nil {
			a.warn("the staged release could not be removed: %v", err)
		}
	}
	if stalled {
		return fail(exitNotCertified, "%w", err).hint("the posterior stands all the same; try another --residual-bound")
	}
	if rep.BPDN.Status == recovery.Infeasible.String() && a.config.Execution.Strict {
		return fail(exitNotCertified, "Basis Pursuit Denoising is infeasible within the radius").hint("try --residual-bound chi2 or hsu")
	}
	return nil
}

// kept adds how to go on after an error, where a release is spent and staged.
func (a *app) kept(runID string, err error) error {
	if runID == "" || !hasStaged(runID) {
		return err
	}
	return fail(exitCode(err), "%w", err).
		hint("the release is spent and kept: `graphcloak run --resume %s` with the same --from completes it, at no further cost", runID).
		about("run", runID)
}

// notices passes on what a store left out.
func (a *app) notices(s graphStore) {
	for _, n := range s.Notices() {
		a.note("Note: %s", n)
	}
}

// dryRun says what would be written and spent.
func (a *app) dryRun(ctx context.Context, s graphStore, m *graphcloak.Model, p *graphcloak.Plan, job graphcloak.Job) error {
	if err := m.Check(ctx, p, job); err != nil {
		return err
	}
	account, _, err := graphcloak.Account(ctx, s.Ledger(), job.Scope)
	if err != nil {
		return err
	}
	if left, capped := account.Remaining(); capped && p.Cost() > left && account.Releases > 0 {
		return fail(exitBudget, "the release would cost ρ = %.4g, and ρ = %.4g of scope %q is left", p.Cost().Rho(), left.Rho(), job.Scope)
	}
	return a.wouldSpend(p, job, report.Outline(job.RunID, job.Write.Prefix, nil))
}

// undo removes what a run wrote.
func (a *app) undo(ctx context.Context, s graphStore, runID string) error {
	nodes, err := s.Undo(ctx, runID)
	if err != nil && !(errors.Is(err, stores.ErrNotFound) && hasStaged(runID)) { // a staged run may have written nothing
		return err
	}
	if err := forget(runID); err != nil {
		return err
	}
	return a.render(map[string]any{"runId": runID, "nodesCleared": nodes}, section{
		text: fmt.Sprintf("Removed the properties of run %s from %d nodes. Its record stays, and what it spent stays spent.", runID, nodes),
	})
}

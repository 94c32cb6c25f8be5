// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/run"
)

func newRunCommand(app *app) *cobra.Command {
	var resume, undo string
	cmd := &cobra.Command{
		Use:   "run",
		Short: "The main job: plan, release, recover and write back",
		Long: "run reads the graph, certifies the sensitivity, spends the budget, releases each sensor's private value, recovers the\n" +
			"likely source community, and writes the results back as node properties with one (:GraphCloakRun) node. What is spent\n" +
			"stays spent: an interrupted run is completed by the same command or by --resume, at no further cost, or given up by\n" +
			"--undo.",
		Example: "  graphcloak run --uri neo4j://localhost:7687 -u neo4j --node-labels Person --relationship-types KNOWS \\\n" +
			"    --source-property risk --epsilon 4\n" +
			"  graphcloak run --from folder:mygraph --source-property source --mode stats --dry-run\n" +
			"  graphcloak run --uri neo4j://localhost:7687 -u neo4j --undo 0195f6a0-6a3e-7c1e-9d52-1f2b7c1b8e11",
		GroupID: groupPipeline,
		RunE: func(cmd *cobra.Command, _ []string) error {
			app.pays, app.resumes = true, resume != "" || undo != ""
			if resume != "" && undo != "" {
				return fail(exitUsage, "--resume and --undo cannot go together").hint("give one of them")
			}
			ctx := cmd.Context()
			return with(ctx, app.openStore, func(s graphStore) error {
				if resume == "" && undo == "" {
					return app.run(ctx, s)
				}
				id, err := wholeRunID(ctx, s, cmp.Or(resume, undo))
				if err != nil {
					return err
				}
				if resume != "" {
					return app.resume(ctx, s, id)
				}
				return app.undo(ctx, s, id)
			})
		},
	}
	cmd = app.withSettings(cmd, map[string]string{"mode": "write"}, modelGroups, config.GroupSignal, config.GroupPrivacy,
		config.GroupScenario, config.GroupBudget, config.GroupEscrow, config.GroupRecovery, config.GroupCommunity, config.GroupWrite,
		config.GroupReport, config.GroupSchedule)
	cmd.Flags().StringVar(&resume, "resume", "", "complete the interrupted run with this `RUNID`; nothing is spent again; flags of "+
		"recovery and community, where there are any, replace all of its own")
	cmd.Flags().Func("release-id", "`ID` of this run and its release; a second run with it goes on with "+
		"the first, and never spends again", app.nameRelease)
	cmd.Flags().StringVar(&app.signal, "signal", "", signalFlag)
	cmd.Flags().StringVar(&undo, "undo", "", "remove what the run with this `RUNID` wrote; its spend stays spent")
	return cmd
}

// run is the whole job in the mode that is asked for.
func (a *app) run(ctx context.Context, s graphStore) error {
	job, err := a.job()
	if err != nil {
		return err
	}
	if job.Signal.IsZero() {
		return fail(exitUsage, "nothing to release").
			hint("name the node property of the sources with --source-property, that of the readings with --measurement-property, or " +
				"that of who has heard a whisper with --answer-property")
	}
	if err := a.needSignal(job.Signal); err != nil {
		return err
	}
	if job.Noise, err = a.noise(job.Plan.Randomness); err != nil {
		return err
	}
	if a.releaseID != "" {
		if err := needDrawnID(job.Plan.Randomness, "--release-id names"); err != nil {
			return err
		}
	}
	if _, err := checkState(); err != nil {
		return err
	}
	if job.RunID = a.releaseID; job.RunID == "" {
		if job.RunID, err = run.NewRunID(); err != nil {
			return err
		}
	}
	if done, err := a.nothingToDo(ctx, s, &job); done || err != nil {
		return err
	}
	if err := a.checkSignal(ctx, s, job.Signal); err != nil {
		return err
	}
	m, err := a.load(ctx, s, job)
	if err != nil {
		return err
	}
	identity, err := jobIdentity(job, a.config, []any{m.Graph.Digest(), m.Settings.Operators})
	if err != nil {
		return err
	}
	job.DryRun = a.config.Write.DryRun
	if done, err := a.resolveInterrupted(ctx, s,
		interruption{run.Scope(job.Signal), identity, m.Graph.Digest(), false, job.DryRun}); done || err != nil {
		return err
	}
	if job.RequireCap { // asked again before the payment, but a search for τ would come first
		if account, err := privacy.ReplayLedger(ctx, s.Ledger(), run.Scope(job.Signal)); err == nil && account.Cap == nil {
			return explain(job, fmt.Errorf("%w: %q", run.ErrNoCap, account.Scope))
		}
	}
	if job.Signal.Values, err = a.readSignal(m, job.Signal); err != nil {
		return err
	}
	return a.perform(ctx, s, m, job, identity)
}

// perform does a run of which nothing stands in the way, or the part of it that a dry
// run may.
func (a *app) perform(ctx context.Context, s graphStore, m *graphcloak.Model, job graphcloak.Job, identity string) error {
	var plan *graphcloak.Plan
	var asking *graphcloak.Whisper
	job.PlannedWhisper = func(p *graphcloak.Whisper) error {
		asking = p
		return nil
	}
	job.Planned = func(p *graphcloak.Plan) error {
		plan = p
		a.noteTau(p)
		return a.adviseBeforeSpending(ctx, m, p, job.Recover)
	}
	if err := a.preparePage(ctx, s, m.Graph, job.Signal, job.RunID); err != nil {
		return err
	}
	if err := a.journal(ctx, s.Ledger(), &job, outputSize(m.Graph), identity); err != nil {
		return err
	}
	start := time.Now()
	rep, err := m.Run(ctx, job)
	took := time.Since(start)
	if lost, why := a.lostRace(ctx, s, job, err); lost {
		return why
	}
	if err != nil || !job.DryRun {
		err = a.chronicle(ctx, s, job, a.config.Write.Mode, took, rep, explain(job, err))
		return a.conclude(ctx, s, job, rep, a.unspent(job.RunID, err))
	}
	if err := a.noteNewScope(ctx, s.Ledger(), run.Scope(job.Signal)); err != nil {
		return err
	}
	if asking != nil {
		return a.wouldAsk(asking, job)
	}
	return a.wouldSpend(m, plan, job, report.Outline(job.RunID, job.Write.Prefix, nil))
}

// undo gives a run up and removes what it wrote.
func (a *app) undo(ctx context.Context, s graphStore, runID string) error {
	kept, err := a.lockAndRead(runID)
	if errors.Is(err, run.ErrUnderWay) {
		return fail(exitConflict, "run %s is under way", runID).hint("stop its process first").about("run", runID)
	}
	defer a.drop() // what was not undone is as it was
	unreadable := err
	switch {
	case errors.Is(err, run.ErrNotKept):
		unreadable = nil
	case err == nil:
		if err := mustBeOn(ctx, kept, s, runID); err != nil {
			return err
		}
	}
	nodes, err := a.giveUp(ctx, s, kept, runID)
	if errors.Is(err, connector.ErrNotFound) && unreadable != nil {
		f, _ := stateFolder()
		path, _ := f.Path(runID)
		return fail(exitConflict, "this store does not know run %s, and %w", runID, unreadable).
			hint("name its store by --from or --uri; if it is gone, delete %s", path).about("run", runID)
	}
	if err != nil {
		return err
	}
	return a.render(map[string]any{"runId": runID, "nodesCleared": nodes}, term.Section{
		Text: fmt.Sprintf("Removed the properties of run %s from %s. Its record stays, and what it spent stays spent.", runID,
			report.Count(nodes, "node")) + undoneAnswers(ctx, s, runID),
	})
}

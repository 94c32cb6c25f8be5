// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/study"
)

func newEstimateCommand(app *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "estimate",
		Short: "What each command would take and spend: bytes, seconds, ε",
		Long: "estimate reads the graph and says what plan, release, recover, run and evaluate would take with these\n" +
			"settings. Nothing is run, nothing of the signal is read and nothing is spent. Seconds are those of one core;\n" +
			"where noise is allocated, the larger number holds a search for a better allocation, which is given a minute of one core.",
		Example: "  graphcloak estimate --uri neo4j://localhost:7687 -u neo4j --node-labels Person\n" +
			"  graphcloak estimate --from generate:sbm,n=100000,k=10,in=0.0009,out=0.00001,seed=1 --allocation uniform",
		GroupID: groupPipeline,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			job, err := app.job()
			if err != nil {
				return err
			}
			if len(job.Operators) > 0 {
				return fail(exitUsage, "estimate counts products with a graph Laplacian, and --operator takes its place").
					hint("a given operator takes 12 bytes an entry, and 28 while it is read; a plan reads each twice")
			}
			if app.aboutWhisper("") {
				return fail(exitUsage, "estimate counts products with a graph Laplacian, and --answer-property needs none").
					hint("`graphcloak plan` tries it and spends nothing: it reads no answer")
			}
			s, err := app.openReading(ctx)
			if err != nil {
				return err
			}
			defer s.Close(context.WithoutCancel(ctx))
			all, err := study.EstimateCommands(ctx, s, job)
			if err != nil {
				return err
			}
			app.notices(s)
			first := all[0]
			return app.render(map[string]any{"commands": all}, term.Section{
				Title: "Estimate: nothing was run", Columns: []string{"command", "memory", "seconds", "epsilon"},
				Rows: term.Rows(all, func(e study.Estimate) []any {
					return []any{e.Command, e.RequiredMemory, fmt.Sprintf("%.2g to %.2g", e.SecondsMin, e.SecondsMax), e.EpsilonWouldSpend}
				}),
				Text: fmt.Sprintf("%s and %s, by the method %s. %s The seconds of evaluate are those of 1,000 trials. --format json gives "+
					"all.",
					report.Count(first.NodeCount, "node"), report.Count(first.RelationshipCount, "relationship"), first.KernelMethod,
					supposedTau(first, job)),
			})
		},
	}
	return app.withSettings(cmd, nil, modelGroups, config.GroupSignal, config.GroupPrivacy, config.GroupRecovery, config.GroupCommunity)
}

// supposedTau says at which τ the work is estimated. What is tried ends on the graph, which
// is not computed with here.
func supposedTau(e study.Estimate, job graphcloak.Job) string {
	if !job.Tau.IsSearched() {
		return fmt.Sprintf("At τ = %s.", term.Cell(e.Tau, term.FewDigits))
	}
	return fmt.Sprintf("At τ = %s, in the middle of what --tau auto tries: plan and run choose their own.",
		term.Cell(e.Tau, term.FewDigits))
}

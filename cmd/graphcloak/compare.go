// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/internal/page"
	"github.com/graphcloak/graphcloak/report"
)

func newReportCompareCommand(app *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "compare [RUNID...]",
		Short: "What changed from run to run, and what all of them cost together",
		Long: "compare sets runs of a store beside each other in the order of their start: the likeliest community of each, how\n" +
			"sure it was, what it cost, and what all releases of the same data cost together. Without RUNID it takes every\n" +
			"finished run that recovered. It reads the records of the runs, no node; --report FILE leaves a page too.",
		Example: "  graphcloak report compare --from folder:graphcloak-demo\n" +
			"  graphcloak report compare --uri neo4j://localhost:7687 -u neo4j --report nights.html",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return app.compareRuns(cmd.Context(), args)
		},
	}
	return app.withSettings(cmd, nil, config.GroupConnection, config.GroupSource, config.GroupReport, config.GroupOutput, config.GroupExecution)
}

func (a *app) compareRuns(ctx context.Context, ids []string) error {
	if path := a.config.Report.File; path != "" {
		if err := a.checkFile(path); err != nil {
			return err
		}
	}
	s, err := a.openUnwatched(ctx)
	if err != nil {
		return err
	}
	defer s.Close(context.WithoutCancel(ctx))
	runs, err := a.recoveredRuns(ctx, s, ids)
	if err != nil {
		return err
	}
	series := page.Series{Budgets: []page.Budget{}}
	for _, own := range runs {
		series.Add(recorded(own))
	}
	for _, scope := range series.Scopes() {
		b, err := spentSoFar(ctx, s, &report.Report{BudgetScope: scope, Delta: series.Runs[0].Delta})
		if err != nil {
			return err
		}
		if b != nil {
			series.Budgets = append(series.Budgets, *b)
		}
	}
	return a.showSeries(series)
}

// recoveredRuns are the named runs, or all that are finished, in the order of their start.
func (a *app) recoveredRuns(ctx context.Context, s graphStore, ids []string) (list []connector.Run, err error) {
	for _, id := range ids {
		own, err := a.finishedRun(ctx, s, id)
		if err != nil {
			return nil, err
		}
		list = append(list, own)
	}
	if len(ids) == 0 {
		all, err := s.Runs(ctx)
		if err != nil {
			return nil, err
		}
		for _, own := range all {
			if _, ok := own.Record["answer"].(string); ok && own.Status == connector.Finished {
				list = append(list, own)
			}
		}
	}
	if len(list) == 0 {
		return nil, fail(exitNotFound, "%s holds no finished run that recovered", s.Name()).hint("`graphcloak run` makes one")
	}
	slices.SortStableFunc(list, func(x, y connector.Run) int {
		return cmp.Or(recorded(x).StartedAt.Compare(recorded(y).StartedAt), cmp.Compare(x.ID, y.ID))
	})
	return slices.CompactFunc(list, func(x, y connector.Run) bool { return x.ID == y.ID }), nil
}

func (a *app) showSeries(series page.Series) error {
	text := ""
	if path := a.config.Report.File; path != "" {
		if err := a.create(path, func(w io.Writer) error { return page.WriteSeries(w, series) }); err != nil {
			return err
		}
		text = fmt.Sprintf("The page is %s.", path)
	}
	for _, b := range series.Budgets {
		text = fmt.Sprintf("All %d releases of %s together: ε = %.4g at δ = %v.\n", b.Releases, b.Scope, b.Epsilon, b.Delta) + text
	}
	return a.render(map[string]any{"runs": series.Runs, "budgets": series.Budgets}, section{
		title: "Runs", columns: []string{"startedAt", "runId", "community", "probability", "credibleSetSize", "epsilonSpent"},
		rows: rowsOf(series.Runs, func(r page.Night) []any {
			return []any{r.Started, r.RunID, r.Community, r.Probability, r.CredibleSetSize, r.EpsilonSpent}
		}),
	}, section{title: "Changes", text: listed(series.Changes())}, section{text: text})
}

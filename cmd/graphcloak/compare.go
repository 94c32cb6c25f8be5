// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/report/page"
)

func newRunsCompareCommand(app *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "compare [RUNID...]",
		Short: "What changed from run to run, and what all of them cost together",
		Long: "compare sets runs of a store beside each other in the order of their start: the likeliest community of each, how\n" +
			"sure it was, what it cost, what these runs and what all releases of the same data cost together. Without RUNID it " +
			"takes every\n" +
			"finished run that recovered, in every mode. It reads the history, no node; --report FILE leaves a page too.",
		Example: "  graphcloak runs compare --from folder:graphcloak-demo\n" +
			"  graphcloak runs compare --uri neo4j://localhost:7687 -u neo4j --report nights.html",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return app.compareRuns(cmd.Context(), args)
		},
	}
	return app.withSettings(cmd, nil, config.GroupConnection, config.GroupSource, config.GroupReport, config.GroupOutput,
		config.GroupExecution)
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
	for _, rep := range runs {
		series.Add(rep)
	}
	if err := judged(ctx, s, series.Runs); err != nil {
		return err
	}
	for _, scope := range series.Scopes() {
		b, err := spentSoFar(ctx, s, &report.Report{BudgetScope: scope, Delta: series.Runs[0].Delta})
		if err != nil {
			return err
		}
		if b != nil && !slices.ContainsFunc(series.Budgets, func(other page.Budget) bool { return other.Scope == b.Scope }) {
			series.Budgets = append(series.Budgets, *b)
		}
	}
	together, err := composed(ctx, s.Ledger(), runs)
	if err != nil {
		return err
	}
	return a.showSeries(series, together)
}

// judged gives runs the verdicts that the history has: a record alone lacks the prior,
// and cannot be judged again.
func judged(ctx context.Context, s graphStore, runs []page.SeriesRun) error {
	told, err := s.History().ListRuns(ctx, jobs.RunQuery{})
	if err != nil {
		return err
	}
	verdicts := make(map[string]string, len(told))
	for _, r := range told {
		verdicts[r.RunID] = r.Verdict
	}
	for k := range runs {
		runs[k].Verdict = verdicts[runs[k].RunID]
	}
	return nil
}

// recoveredRuns are the named runs, or all that are finished, in the order of their start:
// by the reports in the history, those that wrote without one by their records.
func (a *app) recoveredRuns(ctx context.Context, s graphStore, ids []string) (list []*report.Report, err error) {
	if len(ids) == 0 {
		if ids, err = finishedRuns(ctx, s); err != nil {
			return nil, err
		}
	}
	for _, id := range ids {
		if id, err = wholeRunID(ctx, s, id); err != nil {
			return nil, err
		}
		rep, err := a.recoveredRun(ctx, s, id)
		if err != nil {
			return nil, err
		}
		list = append(list, rep)
	}
	if len(list) == 0 {
		return nil, fail(exitNotFound, "%s holds no finished run that recovered", s.Name()).hint("`graphcloak run` makes one")
	}
	slices.SortStableFunc(list, func(x, y *report.Report) int {
		return cmp.Or(x.StartedAt.Compare(y.StartedAt), cmp.Compare(x.RunID, y.RunID))
	})
	return slices.CompactFunc(list, func(x, y *report.Report) bool { return x.RunID == y.RunID }), nil
}

func (a *app) recoveredRun(ctx context.Context, s graphStore, id string) (*report.Report, error) {
	own, err := a.finishedRun(ctx, s, id)
	if err != nil && !errors.Is(err, connector.ErrNotFound) {
		return nil, err
	}
	rep, told := toldReport(ctx, s, id)
	switch {
	case told == nil: // it has what a record lacks, such as the prior
		return rep, nil
	case err == nil:
		return recorded(own), nil
	case errors.Is(told, jobs.ErrNoJob):
		return nil, err
	}
	return nil, told
}

// finishedRuns lists the finished runs that recovered.
func finishedRuns(ctx context.Context, s graphStore) (ids []string, err error) {
	known, err := s.Runs(ctx)
	if err != nil {
		return nil, err
	}
	recorded := make(map[string]bool, len(known))
	for _, own := range known {
		recorded[own.ID] = true
		if _, ok := own.Record["answer"].(string); ok && own.Status == connector.Finished {
			ids = append(ids, own.ID)
		}
	}
	told, err := s.History().ListRuns(ctx, jobs.RunQuery{Status: jobs.Finished})
	for _, r := range told {
		if r.Answer != "" && !recorded[r.RunID] {
			ids = append(ids, r.RunID)
		}
	}
	return ids, err
}

// toldReport is the report of a run in the history, or a [jobs.ErrNoJob].
func toldReport(ctx context.Context, s graphStore, id string) (*report.Report, error) {
	r, err := s.History().GetRun(ctx, id)
	if err != nil {
		return nil, err
	}
	var rep report.Report
	if err := strictjson.Unmarshal(r.Report, &rep); err != nil {
		return nil, fail(exitConflict, "run %s left no report that can be read: %w", id, err).about("run", id)
	}
	return &rep, nil
}

func (a *app) showSeries(series page.Series, together []composition) error {
	text := ""
	if path := a.config.Report.File; path != "" {
		if err := a.create(path, func(w io.Writer) error { return page.WriteSeries(w, series) }); err != nil {
			return err
		}
		text = fmt.Sprintf("The page is %s.", path)
	}
	for _, b := range series.Budgets {
		all := fmt.Sprintf("All %d releases of %s together", b.Releases, b.Scope)
		if b.Releases == 1 {
			all = fmt.Sprintf("It is the only release of %s so far", b.Scope)
		}
		text = fmt.Sprintf("%s: ε = %.4g at δ = %v.\n", all, b.Epsilon, b.Delta) + text
	}
	for _, c := range slices.Backward(together) {
		text = c.String() + "\n" + text
	}
	return a.render(map[string]any{"runs": series.Runs, "changes": series.Changes(), "together": together, "budgets": series.Budgets},
		section{
			title:   "Runs",
			columns: []string{"startedAt", "runId", "community", "probability", "verdict", "credibleSetSize", "epsilonSpent"},
			rows: rowsOf(series.Runs, func(r page.SeriesRun) []any {
				return []any{
					r.Started, r.RunID, r.Community, likelihood(r.Verdict, r.Probability), r.Verdict, r.CredibleSetSize,
					r.EpsilonSpent,
				}
			}),
		}, section{title: "Changes", text: onePerLine(series.Changes())}, section{text: text})
}

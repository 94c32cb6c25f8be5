// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/internal/suggest"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/report"
)

func newRunsCommand(app *app) *cobra.Command {
	return newGroup("runs", "The history of runs: list, show and prune it",
		newRunsListCommand(app), newRunsShowCommand(app), newRunsPruneCommand(app))
}

var runColumns = []string{
	"startedAt", "runId", "jobName", "status", "mode", "community", "probability", "verdict", "epsilonSpent",
	"message", "faultySensorCount",
}

func runRow(r jobs.Run) []any {
	return []any{
		term.Time(r.StartedAt), r.RunID, r.JobName, term.State(r.Status), r.Mode, r.Answer, likelihood(r.Verdict, r.Probability),
		r.Verdict, r.EpsilonSpent, r.Message, r.FaultySensors,
	}
}

// likelihood is the probability of an answer, none where there is no sign of a source.
func likelihood(verdict string, p float64) any {
	if verdict == report.NoSource || verdict == report.Misfit {
		return nil
	}
	return p
}

// listed are the runs as a table: for people in short, with what there is to say of single runs below.
func (a *app) listed(runs []jobs.Run) []term.Section {
	if a.outputFormat() != "table" {
		return []term.Section{term.Table(runColumns, runs, runRow)}
	}
	table := term.Section{
		None:    "There is no such run.",
		Columns: []string{"started", "runId", "job", "mode", "community", "prob.", "outcome", "faulty", "ε"},
		Rows: term.Rows(runs, func(r jobs.Run) []any {
			var prob, epsilon any
			community := r.Answer
			if r.Verdict == report.NoSource {
				community = ""
			} else if community != "" && r.Verdict != report.Misfit {
				prob = report.Percent(r.Probability)
			}
			if r.EpsilonSpent > 0 {
				epsilon = r.EpsilonSpent
			}
			return []any{
				r.StartedAt.UTC().Format("01-02 15:04"), jobs.ShortID(r.RunID, runs), r.JobName, r.Mode, community, prob, outcome(r),
				r.FaultySensors, epsilon,
			}
		}),
	}.Without(map[int]string{2: "", 3: "write", 7: "0"})
	var notes []string
	if len(runs) > 0 {
		notes = append(notes, "Times are UTC. A runId is shortened here; commands take it as it stands.")
	}
	if notes = append(notes, doubts(runs)...); slices.ContainsFunc(runs, func(r jobs.Run) bool { return r.Warnings() != "" }) {
		notes = append(notes, "*: there were warnings before it spent; `graphcloak runs show RUNID` has them.")
	}
	return []term.Section{table, {Text: strings.Join(notes, "\n")}, {Items: remarks(runs)}}
}

// outcome is the verdict of a run that has one, else how it ended, in few letters.
func outcome(r jobs.Run) any {
	sign := ""
	if r.Warnings() != "" {
		sign = "*"
	}
	switch {
	case r.Status == jobs.WaitingForBudget:
		return term.Waits
	case r.Status == jobs.OverBudget:
		return term.OverBudget
	case r.Status != jobs.Finished || r.Verdict == "":
		return term.State(r.Status)
	case r.Verdict == report.NoSource:
		return "no source" + sign
	}
	return r.Verdict + sign
}

// remarks are what there is to say of single runs, the same of several once. The answer of a finished run stands in its row.
func remarks(runs []jobs.Run) (list []term.Item) {
	said := map[string]bool{}
	for _, r := range runs {
		if r.Status != jobs.Finished && r.Message != "" && !said[r.Message] {
			said[r.Message] = true
			list = append(list, term.Item{Mark: term.State(jobs.ShortID(r.RunID, runs)), Text: r.Message})
		}
	}
	return list
}

// doubts says what the verdicts in a list mean.
func doubts(runs []jobs.Run) (lines []string) {
	for _, v := range []string{report.Misfit, report.Perhaps, report.Undecided} {
		if slices.ContainsFunc(runs, func(r jobs.Run) bool { return r.Verdict == v }) {
			lines = append(lines, v+": "+report.Meaning(v)+".")
		}
	}
	if slices.ContainsFunc(runs, func(r jobs.Run) bool { return r.FaultySensors > 0 }) {
		lines = append(lines, "faulty: as many sensors are more likely faulty than sound.")
	}
	return lines
}

func newRunsListCommand(app *app) *cobra.Command {
	q, status, since := jobs.RunQuery{}, "", ""
	cmd := app.onStore(&cobra.Command{
		Use:   "list",
		Short: "Every run, the latest first, with its answer and its cost",
		Long: "list has every run on a store: of jobs and of the command, in every mode, finished, refused or interrupted, with\n" +
			"what to do. Times are UTC, by the store's clock.",
		Example: "  graphcloak runs list --from folder:mygraph --format table\n" +
			"  graphcloak runs list --uri neo4j://localhost:7687 -u neo4j --job nightly --since 30d --status FINISHED",
		Args: cobra.NoArgs,
	}, func(ctx context.Context, s graphStore, _ []string) error {
		var err error
		if q.Status = jobs.Status(strings.ToUpper(status)); status != "" && !slices.Contains(jobs.Statuses(), q.Status) {
			return fail(exitUsage, "--status %q is not a valid status of a run", status).hint("give one of %v", jobs.Statuses())
		}
		if q.Since, err = app.ago(ctx, s, "--since", since); err != nil {
			return err
		}
		runs, err := allRuns(ctx, s, q)
		if err != nil {
			return err
		}
		return app.render(map[string]any{"runs": append([]jobs.Run{}, runs...)}, app.listed(runs)...)
	})
	cmd.Flags().StringVar(&q.JobName, "job", "", "only runs of this `JOB`")
	cmd.Flags().StringVar(&status, "status", "", "only runs with this `STATUS`: RUNNING, FINISHED, FAILED, CANCELED, "+
		"WAITING_FOR_BUDGET, OVER_BUDGET")
	cmd.Flags().StringVar(&since, "since", "", "only runs that started within this `SPAN`, such as 30d, or after a time such as "+
		"2026-03-01T00:00:00Z")
	return cmd
}

// ago reads a span of time before now, by the store's clock, or a time; "" is the zero time.
func (a *app) ago(ctx context.Context, s graphStore, flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	span, err := config.ParseSpan(text)
	if err != nil {
		return time.Time{}, fail(exitUsage, "%s %q is neither a time such as 2026-03-01T00:00:00Z nor a span, want %w", flag, text, err)
	}
	now, err := s.Ledger().Now(ctx)
	return now.Add(-time.Duration(span)), err
}

func newRunsShowCommand(app *app) *cobra.Command {
	return app.onStore(&cobra.Command{
		Use:   "show RUNID",
		Short: "A run with its report",
		Long: "show prints what the history has of a run, with its report; `graphcloak report RUNID` makes a page of it. The\n" +
			"beginning of an id is enough where it names one run.",
		Example: "  graphcloak runs show 0195f6a0-6a3e-7c1e-9d52-1f2b7c1b8e11 --uri neo4j://localhost:7687 -u neo4j",
		Args:    cobra.ExactArgs(1),
	}, func(ctx context.Context, s graphStore, words []string) error {
		r, err := findRun(ctx, s, words[0])
		if err != nil {
			return err
		}
		var left json.RawMessage
		if json.Valid(r.Report) {
			left = r.Report
		}
		return app.render(struct {
			jobs.Run
			Report json.RawMessage `json:"report,omitempty"`
		}{r, left}, term.Table(runColumns, []jobs.Run{r}, runRow), term.Section{Text: strings.Join(doubts([]jobs.Run{r}), "\n")},
			term.Section{Text: answerOf(r)})
	})
}

// answerOf is the answer of a run that left a report.
func answerOf(r jobs.Run) string {
	var left struct{ Answer string }
	if json.Unmarshal(r.Report, &left) != nil {
		return ""
	}
	return term.Visible(left.Answer)
}

// Lengths of a run's id: the least part of it that is taken for it, and that of a UUID.
const (
	leastRunID = 4
	wholeID    = 36
)

// wholeRunID completes the beginning of a run's id by the history of a store. What begins
// no id stays as it is.
func wholeRunID(ctx context.Context, s graphStore, start string) (string, error) {
	if len(start) >= wholeID {
		return start, nil
	}
	all, err := allRuns(ctx, s, jobs.RunQuery{})
	if err != nil {
		return "", err
	}
	return idBegunBy(start, all)
}

// idBegunBy is wholeRunID among runs.
func idBegunBy(start string, among []jobs.Run) (string, error) {
	ids := jobs.BegunBy(start, among)
	switch {
	case slices.Contains(ids, start) || len(ids) == 0 || len(start) < leastRunID:
		return start, nil
	case len(ids) == 1:
		return ids[0], nil
	}
	return "", fail(exitUsage, "%d runs begin with %q", len(ids), start).hint("give more of the id: they are %s", term.FewNames(ids))
}

// findRun returns a run with its report, by its id or the beginning of one.
func findRun(ctx context.Context, s graphStore, id string) (jobs.Run, error) {
	all, err := allRuns(ctx, s, jobs.RunQuery{})
	if err != nil {
		return jobs.Run{}, err
	}
	if id, err = idBegunBy(id, all); err != nil {
		return jobs.Run{}, err
	}
	k := slices.IndexFunc(all, func(r jobs.Run) bool { return r.RunID == id })
	if k < 0 {
		f := fail(exitNotFound, "there is no run %q", id).about("run", id).hint("`graphcloak runs list` shows them all")
		if near := suggest.Nearest(id, jobs.BegunBy("", all)); near != "" {
			f = f.hint("did you mean %s?", near)
		}
		return jobs.Run{}, f
	}
	kept, err := s.History().GetRun(ctx, id)
	if errors.Is(err, jobs.ErrNoJob) { // it is of the ledger alone
		return all[k], nil
	}
	all[k].Report = kept.Report
	return all[k], err
}

func newRunsPruneCommand(app *app) *cobra.Command {
	older := ""
	cmd := app.onStore(&cobra.Command{
		Use:   "prune --older-than SPAN",
		Short: "Remove old runs from the history, never from the ledger",
		Long: "prune removes runs that have ended and started before a time: their history, reports, ticks, and values on nodes.\n" +
			"Runs that are not complete stay, and so does the newest tick of each job. The ledger keeps every entry.",
		Example: "  graphcloak runs prune --older-than 90d --uri neo4j://localhost:7687 -u neo4j",
		Args:    cobra.NoArgs,
	}, func(ctx context.Context, s graphStore, _ []string) error {
		if older == "" {
			return fail(exitUsage, "--older-than is missing").hint("say how long the history is kept, such as --older-than 90d")
		}
		before, err := app.ago(ctx, s, "--older-than", older)
		if err != nil {
			return err
		}
		n, err := s.History().PruneRuns(ctx, before)
		if err != nil {
			return err
		}
		return app.render(map[string]any{"pruned": n, "before": term.Time(before)},
			term.Section{Text: fmt.Sprintf("Removed %d runs; the ledger keeps every entry.", n)})
	})
	cmd.Flags().StringVar(&older, "older-than", "", "remove runs that ended longer ago than this `SPAN`, such as 90d, or before a time "+
		"such as 2026-03-01T00:00:00Z")
	return cmd
}

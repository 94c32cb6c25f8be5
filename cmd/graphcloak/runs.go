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

	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/internal/suggest"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/report"
)

func newRunsCommand(app *app) *cobra.Command {
	return newGroup("runs", "The history of runs: list, show, compare and prune it",
		newRunsListCommand(app), newRunsShowCommand(app), newRunsCompareCommand(app), newRunsPruneCommand(app))
}

// onStore gives a command about runs the store.
func (a *app) onStore(cmd *cobra.Command, do func(ctx context.Context, s graphStore, word string) error) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		s, err := a.openUnwatched(ctx)
		if err != nil {
			return err
		}
		defer s.Close(context.WithoutCancel(ctx))
		return do(ctx, s, append(args, "")[0])
	}
	return a.withSettings(cmd, nil, config.GroupConnection, config.GroupSource, config.GroupOutput, config.GroupExecution)
}

var runColumns = []string{
	"startedAt", "runId", "jobName", "status", "mode", "community", "probability", "verdict", "epsilonSpent",
	"message", "faultySensorCount",
}

func runRow(r jobs.Run) []any {
	return []any{
		timeText(r.StartedAt), r.RunID, r.JobName, state(r.Status), r.Mode, r.Answer, likelihood(r.Verdict, r.Probability),
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

// listed are the runs as a table: for people in short, without columns that go without saying,
// and with what there is to say of single runs below.
func (a *app) listed(runs []jobs.Run, q jobs.RunQuery) []section {
	if a.outputFormat() != "table" {
		return []section{{columns: runColumns, rows: rowsOf(runs, runRow)}}
	}
	none := "There was no run yet."
	if q.Status != "" || q.JobName != "" || !q.Since.IsZero() {
		none = "No run is like that: leave out --status, --job and --since for all."
	}
	table := section{
		none:    none,
		columns: []string{"started (UTC)", "runId", "jobName", "status", "mode", "community", "prob.", "verdict", "faulty", "ε"},
		rows: rowsOf(runs, func(r jobs.Run) []any {
			prob, epsilon := answered(r)
			return []any{
				r.StartedAt.UTC().Format("2006-01-02 15:04"), r.RunID, r.JobName, state(r.Status), r.Mode, r.Answer, prob,
				r.Verdict + warnedSign(r), r.FaultySensors, epsilon,
			}
		}),
	}.without(map[int]string{2: "", 3: string(jobs.Finished), 4: "write", 8: "0"})
	short := section{
		text:    "A runId is shortened here; commands take it as it stands.",
		columns: []string{"started", "runId", "job", "mode", "community", "prob.", "outcome", "faulty", "ε"},
		rows: rowsOf(runs, func(r jobs.Run) []any {
			prob, epsilon := answered(r)
			community := r.Answer
			if r.Verdict == report.NoSource {
				community = ""
			}
			return []any{
				r.StartedAt.UTC().Format("01-02 15:04"), shortID(r.RunID, runs), r.JobName, r.Mode, community, prob, outcome(r),
				r.FaultySensors, epsilon,
			}
		}),
	}.without(map[int]string{2: "", 3: "write", 7: "0"})
	table.narrow = &short
	notes := doubts(runs)
	if slices.ContainsFunc(runs, func(r jobs.Run) bool { return warnedSign(r) != "" }) {
		notes = strings.TrimLeft(notes+"\n*: there were warnings before it spent; `graphcloak runs show RUNID` has them.", "\n")
	}
	return []section{table, {text: notes}, {items: remarks(runs)}}
}

// answered are the probability of a run's answer and what it spent, nil where there is none.
func answered(r jobs.Run) (prob, epsilon any) {
	if _, ok := likelihood(r.Verdict, r.Probability).(float64); ok && r.Answer != "" {
		prob = report.Percent(r.Probability)
	}
	if r.EpsilonSpent > 0 {
		epsilon = r.EpsilonSpent
	}
	return prob, epsilon
}

// outcome is the verdict of a run that has one, else how it ended, in few letters.
func outcome(r jobs.Run) any {
	switch {
	case r.Status == jobs.WaitingForBudget:
		return waits
	case r.Status == jobs.OverBudget:
		return overBudget
	case r.Status != jobs.Finished || r.Verdict == "":
		return state(r.Status)
	case r.Verdict == report.NoSource:
		return "no source" + warnedSign(r)
	}
	return r.Verdict + warnedSign(r)
}

// remarks are what there is to say of single runs, the same of several once.
func remarks(runs []jobs.Run) (list []item) {
	more := map[string]int{}
	for _, r := range runs {
		text := r.Message
		if r.Status == jobs.Finished {
			text = briefMessage(r)
		}
		if text == "" {
			continue
		}
		if more[text]++; more[text] == 1 {
			list = append(list, item{mark: state(shortID(r.RunID, runs)), text: text})
		}
	}
	for k, i := range list {
		if n := more[i.text] - 1; n > 0 {
			list[k].text += fmt.Sprintf(" (and so of %s before)", report.Count(n, "run"))
		}
	}
	return list
}

// shortRunID is the length of the part of a UUIDv7 that is its time.
const shortRunID = 13

// shortID is the beginning of a run's id, where that names it alone. An id that the program
// cannot have written is shown as it is.
func shortID(id string, among []jobs.Run) string {
	if !isRunID(id) || len(id) <= shortRunID {
		return id
	}
	short := id[:shortRunID]
	if n := len(begunBy(short, among)); n != 1 {
		return id
	}
	return short
}

// begunBy are the ids that begin with a text.
func begunBy(start string, among []jobs.Run) (ids []string) {
	for _, r := range among {
		if strings.HasPrefix(r.RunID, start) {
			ids = append(ids, r.RunID)
		}
	}
	return ids
}

// briefMessage is that of a finished run in a list, which has the answer beside it.
func briefMessage(r jobs.Run) string {
	if end, _ := r.Told(); r.JobName == "" {
		return end
	}
	return ""
}

// warnedSign marks a run that was warned of.
func warnedSign(r jobs.Run) string {
	if r.Warnings() != "" {
		return "*"
	}
	return ""
}

// doubts says what the verdicts in a list mean.
func doubts(runs []jobs.Run) string {
	var lines []string
	for _, v := range []struct{ verdict, means string }{
		{report.Misfit, "the measurements do not fit the model, and the community is no answer"},
		{report.Perhaps, "the community stands out, and the source is more likely in another"},
		{report.Undecided, "no community stands out; the one here is only the likeliest"},
	} {
		if slices.ContainsFunc(runs, func(r jobs.Run) bool { return r.Verdict == v.verdict }) {
			lines = append(lines, v.verdict+": "+v.means+".")
		}
	}
	if slices.ContainsFunc(runs, func(r jobs.Run) bool { return r.FaultySensors > 0 }) {
		lines = append(lines, "faulty: as many sensors are more likely faulty than sound.")
	}
	return strings.Join(lines, "\n")
}

func newRunsListCommand(app *app) *cobra.Command {
	q, status, since := jobs.RunQuery{}, "", ""
	cmd := app.onStore(&cobra.Command{
		Use:   "list",
		Short: "Every run, the latest first, with its answer and its cost",
		Long: "list tells of every run on a store: those of jobs and of the command, in every mode, also those that were refused\n" +
			"once they had begun, and those that were paid for and interrupted, with what to do. Times are UTC, by the store's\n" +
			"clock.",
		Example: "  graphcloak runs list --from folder:mygraph --format table\n" +
			"  graphcloak runs list --uri neo4j://localhost:7687 -u neo4j --job nightly --since 30d --status FINISHED",
		Args: cobra.NoArgs,
	}, func(ctx context.Context, s graphStore, _ string) error {
		err := app.checkRunQuery(&q, status)
		if err != nil {
			return err
		}
		if q.Since, err = app.ago(ctx, s, "--since", since); err != nil {
			return err
		}
		runs, err := allRuns(ctx, s, q)
		if err != nil {
			return err
		}
		if runs == nil {
			runs = []jobs.Run{}
		}
		return app.render(map[string]any{"runs": runs}, app.listed(runs, q)...)
	})
	cmd.Flags().StringVar(&q.JobName, "job", "", "only runs of this `JOB`")
	cmd.Flags().StringVar(&status, "status", "", "only runs with this `STATUS`: RUNNING, FINISHED, FAILED, CANCELED, "+
		"WAITING_FOR_BUDGET, OVER_BUDGET")
	cmd.Flags().StringVar(&since, "since", "", "only runs that started within this `SPAN`, such as 30d, or after a time such as "+
		"2026-03-01T00:00:00Z")
	cmd.Flags().IntVar(&q.Limit, "limit", 0, "only the latest `N`; 0: all")
	return cmd
}

// checkRunQuery refuses what no run can match.
func (a *app) checkRunQuery(q *jobs.RunQuery, status string) error {
	q.Status = jobs.Status(strings.ToUpper(status))
	if status != "" && !slices.Contains(jobs.Statuses(), q.Status) {
		return fail(exitUsage, "--status %q is no status of a run", status).hint("give one of %s",
			strings.Join(words(jobs.Statuses()), ", "))
	}
	if q.Limit < 0 {
		return fail(exitUsage, "--limit is %d, want a number ≥ 0", q.Limit).hint("leave it out for all runs")
	}
	return nil
}

// words are the names of statuses.
func words(list []jobs.Status) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
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
		Long: "show prints what the history tells of a run, with the report that it left. It reads no node of the graph;\n" +
			"`graphcloak report RUNID` makes a page of it. Here as there the beginning of an id is enough where it names one run.",
		Example: "  graphcloak runs show 0195f6a0-6a3e-7c1e-9d52-1f2b7c1b8e11 --uri neo4j://localhost:7687 -u neo4j",
		Args:    cobra.ExactArgs(1),
	}, func(ctx context.Context, s graphStore, id string) error {
		r, err := findRun(ctx, s, id)
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
		}{r, left}, section{columns: runColumns, rows: rowsOf([]jobs.Run{r}, runRow)}, section{text: doubts([]jobs.Run{r})},
			section{text: answerOf(r)})
	})
}

// answerOf is the answer of a run that left a report.
func answerOf(r jobs.Run) string {
	var left struct{ Answer string }
	if json.Unmarshal(r.Report, &left) != nil {
		return ""
	}
	return visible(left.Answer)
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
	ids := begunBy(start, among)
	switch {
	case slices.Contains(ids, start) || len(ids) == 0 || len(start) < leastRunID:
		return start, nil
	case len(ids) == 1:
		return ids[0], nil
	}
	return "", fail(exitUsage, "%d runs begin with %q", len(ids), start).hint("give more of the id: they are %s", fewNames(ids))
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
	r, err := s.History().GetRun(ctx, id)
	if err == nil {
		one := []jobs.Run{r}
		err = sayHowToGoOn(ctx, s, one)
		return one[0], err
	}
	if !errors.Is(err, jobs.ErrNoJob) {
		return r, err
	}
	var ids []string
	for _, r := range all {
		if r.RunID == id { // of the ledger alone
			return r, nil
		}
		ids = append(ids, r.RunID)
	}
	f := fail(exitNotFound, "there is no run %q", id).about("run", id)
	if near := suggest.Nearest(id, ids); near != "" {
		return r, f.hint("did you mean %s?", near)
	}
	return r, f.hint("`graphcloak runs list` shows them all")
}

func newRunsPruneCommand(app *app) *cobra.Command {
	older, dry := "", false
	cmd := app.onStore(&cobra.Command{
		Use:   "prune --older-than SPAN",
		Short: "Remove old runs from the history, never from the ledger",
		Long: "prune removes runs that have ended and started before a time: what the history tells of them, their reports, the\n" +
			"records of their ticks, and their values on nodes, where those are still there. Runs that are not complete stay,\n" +
			"and so does the newest tick of each job. The ledger keeps every entry: what was spent stays spent.",
		Example: "  graphcloak runs prune --older-than 90d --uri neo4j://localhost:7687 -u neo4j\n" +
			"  graphcloak runs prune --older-than 2026-01-01T00:00:00Z --dry-run --from folder:mygraph",
		Args: cobra.NoArgs,
	}, func(ctx context.Context, s graphStore, _ string) error {
		if older == "" {
			return fail(exitUsage, "--older-than is missing").hint("say how long the history is kept, such as --older-than 90d")
		}
		before, err := app.ago(ctx, s, "--older-than", older)
		if err != nil {
			return err
		}
		return app.prune(ctx, s, before, dry)
	})
	cmd.Flags().StringVar(&older, "older-than", "", "remove runs that ended longer ago than this `SPAN`, such as 90d, or before a time "+
		"such as 2026-03-01T00:00:00Z")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say how many runs there are")
	return cmd
}

func (a *app) prune(ctx context.Context, s graphStore, before time.Time, dry bool) error {
	if dry {
		told, err := s.History().ListRuns(ctx, jobs.RunQuery{})
		if err != nil {
			return err
		}
		known, err := s.Runs(ctx)
		if err != nil {
			return err
		}
		n := len(connector.Prunable(told, known, before))
		return a.render(map[string]any{"wouldPrune": n, "before": timeText(before)},
			section{text: fmt.Sprintf("%d runs would be removed; the ledger keeps every entry.", n)})
	}
	n, err := s.History().PruneRuns(ctx, before)
	if err != nil {
		return err
	}
	return a.render(map[string]any{"pruned": n, "before": timeText(before)},
		section{text: fmt.Sprintf("Removed %d runs; the ledger keeps every entry.", n)})
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/report/page"
)

func newReportCommand(app *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "report RUNID|FILE.json",
		Short: "A run as one HTML page, with its map",
		Long: "report writes a page: the answer, a map, the ranking, what was promised, what is not protected and what it cost. It\n" +
			"costs no privacy. A run is taken from its store, with the flags that select its graph; a file is the JSON of run,\n" +
			"recover or demo, and has a map where its graph is named too. Without --report the page is RUNID.html.",
		Example: "  graphcloak report --from folder:graphcloak-demo graphcloak-demo/result.json\n" +
			"  graphcloak report --uri neo4j://localhost:7687 -u neo4j --node-labels Person --node-caption name " +
			"0195f6a0-6a3e-7c1e-9d52-1f2b7c1b8e11",
		GroupID: groupPipeline,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if info, err := os.Stat(args[0]); err == nil && info.Mode().IsRegular() && !strings.HasSuffix(args[0], ".json") {
				return fail(exitUsage, "%s is neither a run nor a report: a report's file ends in .json", args[0]).
					hint("give the JSON that run, recover or demo wrote, or the id of a run with --from or --uri")
			}
			if strings.HasSuffix(args[0], ".json") {
				return app.reportFile(cmd.Context(), args[0])
			}
			return app.reportRun(cmd.Context(), args[0])
		},
	}
	return app.withSettings(cmd, nil, config.GroupConnection, config.GroupSource, config.GroupProjection, config.GroupQueries,
		config.GroupReport, config.GroupOutput, config.GroupExecution)
}

// reportRun writes the page of a run that a store holds.
func (a *app) reportRun(ctx context.Context, runID string) error {
	s, err := a.openReading(ctx)
	if err != nil {
		return err
	}
	defer s.Close(context.WithoutCancel(ctx))
	if runID, err = wholeRunID(ctx, s, runID); err != nil {
		return err
	}
	own, err := a.finishedRun(ctx, s, runID)
	if errors.Is(err, connector.ErrNotFound) {
		return a.reportKept(ctx, s, runID, err,
			"The run wrote no values to the nodes, so there is no map: mode write does.")
	}
	if err != nil {
		return err
	}
	rep, err := keptReport(ctx, s, runID)
	if err != nil {
		return err
	}
	err = a.readBack(ctx, s, own, rep)
	if errors.Is(err, errReplaced) {
		return a.reportKept(ctx, s, runID, err, "There is no map: a later run wrote over the values on the nodes.")
	}
	if err != nil {
		return err
	}
	return a.leavePage(ctx, s, rep, strings.TrimSuffix(own.RunIDColumn, "RunId"))
}

// reportKept writes the page of a run that has no values on the nodes, from the report in the
// history; without one it returns missing, or what became of the run. noMap says why it has no map.
func (a *app) reportKept(ctx context.Context, s graphStore, runID string, missing error, noMap string) error {
	r, err := s.History().GetRun(ctx, runID)
	switch {
	case errors.Is(err, jobs.ErrNoJob):
		return missing
	case err != nil:
		return err
	case len(r.Report) == 0 && errors.Is(missing, errReplaced):
		return missing
	case len(r.Report) == 0:
		return fail(exitConflict, "run %s left no report (%s)", runID, r.Status).hint("`graphcloak runs show %s` says what became of it",
			runID).about("run", runID)
	}
	rep, err := keptReport(ctx, s, runID)
	if err != nil {
		return err
	}
	v := page.View{Report: rep, NoMap: noMap}
	if v.Budget, err = spentSoFar(ctx, s, rep); err != nil {
		return err
	}
	return a.leaveView(v, a.config.Write.PropertyPrefix)
}

// keptReport is the report of a run in the history, or a [jobs.ErrNoJob].
func keptReport(ctx context.Context, s graphStore, id string) (*report.Report, error) {
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

// reportFile writes the page of a report file. Where its graph is named too, and the
// values of its nodes are in the file or in the store, the page has a map.
func (a *app) reportFile(ctx context.Context, path string) error {
	rep, rows, err := readReport(path)
	if err != nil {
		return err
	}
	if _, unnamed := a.source(); unnamed != nil {
		a.note("Note: no graph is named, so the page has no map; --from or --uri with the flags of the run gives one")
		return a.leavePage(ctx, nil, rep, a.config.Write.PropertyPrefix)
	}
	s, err := a.openReading(ctx)
	if err != nil {
		return err
	}
	defer s.Close(context.WithoutCancel(ctx))
	if len(rows) > 0 {
		err = a.attach(ctx, s, rep, rows)
	} else {
		var own connector.Run
		if own, err = a.finishedRun(ctx, s, rep.RunID); err == nil {
			err = a.readBack(ctx, s, own, rep)
		}
	}
	if err != nil {
		return err
	}
	return a.leavePage(ctx, s, rep, a.config.Write.PropertyPrefix)
}

// leavePage writes the page and says where it is; s is nil where no store is at hand.
func (a *app) leavePage(ctx context.Context, s graphStore, rep *report.Report, prefix string) error {
	if err := a.checkFile(a.pagePath(rep)); err != nil {
		return err
	}
	if s == nil {
		return a.leaveView(page.View{Report: rep, NoMap: "No graph was named when this page was made, so it has no map: --from or --uri " +
			"with the flags of the run gives one."}, prefix)
	}
	v, err := a.scenery(ctx, s, rep.Nodes().Graph, graphcloak.Signal{SourceProperty: rep.Signal})
	if err != nil {
		return err
	}
	v.Report = rep
	if v.Budget, err = spentSoFar(ctx, s, rep); err != nil {
		return err
	}
	return a.leaveView(v, prefix)
}

// pagePath is where the page of a report goes.
func (a *app) pagePath(rep *report.Report) string {
	switch {
	case a.config.Report.File != "":
		return a.config.Report.File
	case rep.RunID == "" || strings.ContainsAny(rep.RunID, `/\`):
		return "report.html"
	}
	return rep.RunID + ".html"
}

// leaveView writes a page with what every one has, and says where it is.
func (a *app) leaveView(v page.View, prefix string) error {
	rep, path := v.Report, a.pagePath(v.Report)
	if err := a.checkFile(path); err != nil {
		return err
	}
	v.Queries, v.Command = memberQueries(rep, prefix), a.repeatedRun(rep)
	if err := a.create(path, func(w io.Writer) error { return page.Write(w, v) }); err != nil {
		return err
	}
	return a.render(map[string]any{"runId": rep.RunID, "report": path}, term.Section{Text: rep.Answer},
		term.Section{Text: fmt.Sprintf("The report is %s.", path)})
}

// reportJSON is the JSON of run, recover and demo.
type reportJSON struct {
	SchemaVersion int           `json:"schemaVersion"`
	Warnings      []string      `json:"warnings"`
	Rows          []report.Node `json:"nodes"`
	report.Report
}

// readReport reads a report file, with the rows of its nodes where it has them.
func readReport(path string) (*report.Report, []report.Node, error) {
	data, err := disk.Read(path, maxFile)
	if err != nil {
		return nil, nil, err
	}
	var f reportJSON
	if err := strictjson.Unmarshal(data, &f); err != nil {
		return nil, nil, fail(exitValidation, "%s is not a valid report: %w", path, err).hint("give the JSON of run, recover or demo")
	}
	if f.SchemaVersion != term.SchemaVersion || f.Answer == "" {
		return nil, nil, fail(exitValidation, "%s is not a report of this version", path).hint("give the JSON of run, recover or demo")
	}
	return &f.Report, f.Rows, nil
}

// finishedRun finds a run whose recovery a store holds.
func (a *app) finishedRun(ctx context.Context, s graphStore, runID string) (connector.Run, error) {
	runs, err := s.Runs(ctx)
	if err != nil {
		return connector.Run{}, err
	}
	own, err := connector.FindRun(runs, runID)
	if err != nil {
		return own, err
	}
	if own.Status != connector.Finished {
		return own, fail(exitConflict, "run %s is not finished (%s)", runID,
			own.Status).hint("complete it with `graphcloak run --resume %s`", runID).about("run", runID)
	}
	if _, ok := own.Record["answer"].(string); !ok {
		return own, fail(exitConflict, "run %s released private values and recovered nothing from them",
			runID).hint("`graphcloak recover` does").about("run", runID)
	}
	return own, nil
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/report/page"
)

func newReportCommand(app *app) *cobra.Command {
	return app.onStore(&cobra.Command{
		Use:   "report RUNID",
		Short: "A run as one HTML page, with its map",
		Long: "report writes a page: the answer, a map, the ranking, what was promised, what is not protected and what it cost. It\n" +
			"costs no privacy. The run is taken from its store, with the flags that select its graph. Without --report the page is\n" +
			"RUNID.html.",
		Example: "  graphcloak report --from folder:graphcloak-demo 0195f6a0\n" +
			"  graphcloak report --uri neo4j://localhost:7687 -u neo4j --node-labels Person --node-caption name " +
			"0195f6a0-6a3e-7c1e-9d52-1f2b7c1b8e11",
		GroupID: groupPipeline,
		Args:    cobra.ExactArgs(1),
	}, func(ctx context.Context, s graphStore, words []string) error {
		r, err := findRun(ctx, s, words[0])
		if err != nil {
			return err
		}
		return app.reportRun(ctx, s, r)
	}, config.GroupProjection, config.GroupQueries, config.GroupReport)
}

// reportRun writes the page of a run from what the history keeps of it: with a map where that has values of its nodes.
func (a *app) reportRun(ctx context.Context, s graphStore, r jobs.Run) error {
	if len(r.Report) == 0 {
		return fail(exitConflict, "run %s left no report (%s)", r.RunID, r.Status).
			hint("`graphcloak runs show %s` says what became of it", r.RunID).about("run", r.RunID)
	}
	rep, err := readReport(r.Report)
	if err != nil {
		return fail(exitConflict, "run %s: %w", r.RunID, err).about("run", r.RunID)
	}
	path := cmp.Or(a.config.Report.File, r.RunID+".html")
	if err := a.checkFile(path); err != nil {
		return err
	}
	var v page.View
	if rep.NodeValues != nil {
		v, err = a.restored(ctx, s, rep, r.Write)
	} else {
		v.NoMap = "The history keeps no values of nodes of this run, so there is no map: it keeps those of runs that write, on up to " +
			"4,000 nodes. --report draws a map at the time of the run."
	}
	if err != nil {
		return err
	}
	v.Command = repeatedRun(rep)
	write := func(w io.Writer) error { return writeView(ctx, w, s, v, rep, a.config.Write.PropertyPrefix) }
	if err := a.create(path, write); err != nil {
		return err
	}
	return a.render(map[string]any{"runId": rep.RunID, "report": path}, term.Section{Text: rep.Answer},
		term.Section{Text: fmt.Sprintf("The report is %s.", path)})
}

// readReport reads a report of the history.
func readReport(data []byte) (*report.Report, error) {
	rep := new(report.Report)
	if err := strictjson.Unmarshal(data, rep); err != nil {
		return nil, fmt.Errorf("the report in the history: %w", err)
	}
	return rep, nil
}

// restored gives a report the values of its nodes again, on the graph that the settings select, and a view its captions and places.
func (a *app) restored(ctx context.Context, s graphStore, rep *report.Report, w *jobs.Write) (page.View, error) {
	set, err := modelSettings(a.config)
	if err != nil {
		return page.View{}, err
	}
	g, err := s.Graph(ctx, set.Selection)
	if err != nil {
		return page.View{}, err
	}
	digest := g.Digest()
	if err = rep.Restore(g); err != nil || w == nil || hex.EncodeToString(digest[:]) != w.Graph {
		return page.View{}, fail(exitConflict, "run %s was on another graph than these flags select, or the graph changed since",
			rep.RunID).
			hint("give the flags of the run that select nodes and relationships, weights and lengths").about("run", rep.RunID)
	}
	return a.scenery(ctx, s, g, graphcloak.Signal{SourceProperty: rep.Signal})
}

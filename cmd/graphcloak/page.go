// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/spatial/r2"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/connector/neo4j"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/report/page"
)

// preparePage prepares the page that --report names, if any. It finds what could stop it
// before anything is spent: whether the file can be written, and whether the properties
// of nodes that it shows are public and present.
func (a *app) preparePage(ctx context.Context, s graphStore, g *graph.Graph, signal graphcloak.Signal, runID string) error {
	path := pagePath(a.config.Report.File, runID)
	if path == "" && a.config.Report.Caption == "" {
		return nil
	}
	view, err := a.scenery(ctx, s, g, signal)
	if err != nil {
		return err
	}
	a.captions = view.Captions
	if path == "" {
		return nil
	}
	a.page = func(rep *report.Report) (term.Section, error) { return a.writePage(ctx, s, path, view, rep) }
	return a.checkFile(path)
}

// pagePath puts the id of a run into a path that asks for it: so every night leaves a
// page of its own. Ids of runs are ours, and plain.
func pagePath(path, runID string) string {
	return strings.ReplaceAll(path, "{runId}", cmp.Or(runID, "recovery"))
}

// scenery reads the captions and places of the nodes.
func (a *app) scenery(ctx context.Context, s graphStore, g *graph.Graph, signal graphcloak.Signal) (page.View, error) {
	var v page.View
	private, err := privateNames(ctx, s, signal)
	if err != nil {
		return v, err
	}
	if caption := a.config.Report.Caption; caption != "" {
		if slices.Contains(private, caption) {
			return v, fail(exitUsage, "%w: %q is released with noise", plan.ErrSignalPublic, caption).
				hint("name a public property with --node-caption")
		}
		if v.Captions, err = s.Labels(ctx, g, caption); err != nil {
			return v, fmt.Errorf("read captions: %w", err)
		}
	}
	at, err := connector.ReadPlaces(ctx, unwatched(s), g, private)
	if err != nil || at == nil {
		return v, err
	}
	v.Geographic, v.Places = at.Geographic, make([]r2.Vec, len(at.X))
	for i := range v.Places {
		v.Places[i] = r2.Vec{X: at.X[i], Y: at.Y[i]}
	}
	return v, nil
}

// writePage writes the page of a report, and says where it is. The Command of v is what stands
// behind the settings in the command that repeats them.
func (a *app) writePage(ctx context.Context, s graphStore, path string, v page.View, rep *report.Report) (term.Section, error) {
	v.Command = repeated(a.command, configuration(a.config)) + v.Command
	if a.command == "recover" && rep.ReleaseID != "" {
		v.Command += " --release=FILE"
	}
	err := a.create(path, func(w io.Writer) error { return writeView(ctx, w, s, v, rep, a.config.Write.PropertyPrefix) })
	return term.Section{Text: fmt.Sprintf("The report with its map is %s.", path)}, err
}

// writeView writes a page with what a store says of the report: the members of the first community, and the budget.
func writeView(ctx context.Context, w io.Writer, s graphStore, v page.View, rep *report.Report, prefix string) (err error) {
	v.Report, v.Queries = rep, memberQueries(rep, prefix)
	if v.Budget, err = spentSoFar(ctx, s, rep); err != nil {
		return err
	}
	return page.Write(w, v)
}

// spentSoFar is what the account that pays for the data of a run has spent, nil where there is none.
func spentSoFar(ctx context.Context, s graphStore, rep *report.Report) (*page.Budget, error) {
	if rep.BudgetScope == "" {
		return nil, nil
	}
	list, err := privacy.Balances(ctx, s.Ledger(), []string{rep.BudgetScope}, rep.Delta)
	if err != nil || list[0].Epsilon == nil {
		return nil, err
	}
	x := list[0]
	b := page.NewBudget(x)
	if x.CapPerSeconds > 0 {
		b.Per = config.Span(time.Duration(x.CapPerSeconds) * time.Second).String()
	}
	return b, nil
}

// repeated is the command that repeats a run of these settings, without how the server was
// reached and where the results went.
func repeated(command string, chosen map[string]any) string {
	words := []string{"graphcloak", command}
	left := []config.Group{config.GroupConnection, config.GroupOutput, config.GroupReport, config.GroupExecution, config.GroupTerminal}
	for _, s := range config.Settings() {
		if v, ok := chosen[s.Key]; ok && !slices.Contains(left, s.Group) {
			words = append(words, "--"+s.Flag+"="+term.QuoteShell(flagText(v)))
		}
	}
	return strings.Join(words, " ")
}

// flagText is a value as a flag takes it: a list, from JSON too, is parted by commas.
func flagText(v any) string {
	switch list := v.(type) {
	case []string:
		return strings.Join(list, ",")
	case []any:
		texts := make([]string, len(list))
		for k, x := range list {
			texts[k] = flagText(x)
		}
		return strings.Join(texts, ",")
	}
	return settingText(v)
}

// repeatedRun repeats the run of a report.
func repeatedRun(rep *report.Report) string { return repeated("run", rep.Configuration) }

// memberQueries show the members of the first community in Neo4j, where they were
// written.
func memberQueries(rep *report.Report, prefix string) []page.Query {
	if rep.NodePropertiesWritten == 0 || len(rep.Communities) == 0 || !strings.HasPrefix(rep.Store, "neo4j") &&
		!strings.HasPrefix(rep.Store, "bolt") {
		return nil
	}
	first := "node"
	if rep.Whisper != nil {
		first = "person"
	}
	return []page.Query{{
		What: "The members of the likeliest community, the likeliest " + first + " first, in Cypher",
		Text: neo4j.Members(cmp.Or(prefix, report.DefaultPrefix), rep.RunID, rep.Communities[0].CommunityID),
	}}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/connector/neo4j"
	"github.com/graphcloak/graphcloak/report"
)

func newDoctorCommand(app *app) *cobra.Command {
	setup := false
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check connection, version, rights and constraints, and say what to do",
		Long: "doctor looks at everything that a run needs of the server, or of a folder, and where labels or types are named reads\n" +
			"the graph, and warns of what will disappoint. It changes nothing; --fix makes the constraints that are missing, and\n" +
			"that of --node-key. --print-setup prints the Cypher of the constraints and, where the server has roles, of the least\n" +
			"role.",
		Example: "  graphcloak doctor --uri neo4j://localhost:7687 -u neo4j --node-labels Person",
		GroupID: groupManage,
		RunE: func(cmd *cobra.Command, _ []string) error {
			names := report.WrittenNames(app.config.Write.PropertyPrefix)
			if setup {
				lines, err := app.setupCypher(cmd.Context(), names)
				if err != nil {
					return err
				}
				if app.outputFormat() == "table" { // to be piped into cypher-shell: no line is broken
					return app.toOutput(func(w io.Writer) error {
						_, err := fmt.Fprintln(w, strings.Join(lines, ";\n")+";")
						return err
					})
				}
				return app.render(map[string]any{"cypher": lines})
			}
			return app.examine(cmd.Context(), names)
		},
	}
	cmd = app.withSettings(cmd, nil, modelGroups, config.GroupSignal, config.GroupPrivacy, config.GroupRecovery, config.GroupCommunity,
		config.GroupReport, config.GroupWrite)
	cmd.Flags().BoolVar(&setup, "print-setup", false, "print the Cypher that prepares a database")
	return cmd
}

// setupCypher returns what prepares a server: the one that is named, whose edition is
// then asked for, or any of Enterprise.
func (a *app) setupCypher(ctx context.Context, properties []string) ([]string, error) {
	settings, err := modelSettings(a.config)
	if err != nil {
		return nil, err
	}
	lines := neo4j.SetupConstraints(settings.Selection)
	if a.config.Origin("neo4jUri").Layer == config.LayerDefault {
		a.note("Note: on Community, only the constraints apply; with --uri, what the server takes is printed")
		return append(lines, neo4j.SetupRole(cmp.Or(a.config.Connection.Database, "neo4j"), properties)...), nil
	}
	options, err := a.connectorOptions(ctx)
	if err != nil {
		return nil, err
	}
	s, err := neo4j.New(ctx, options)
	if err != nil {
		return nil, err
	}
	defer s.Close(context.WithoutCancel(ctx))
	if s.Community() {
		a.note("Note: Neo4j Community has no roles; the constraints are all that it needs")
		return lines, nil
	}
	return append(lines, neo4j.SetupRole(s.Database(), properties)...), nil
}

// examineState makes sure of the folder in which a run is kept until its end.
func examineState() neo4j.CheckResult {
	dir, err := checkState()
	c := neo4j.CheckResult{Name: "state", OK: err == nil, Detail: "there is room for a run that is interrupted, in " + dir}
	if err != nil {
		c.Detail, c.Err = err.Error(), err
		c.Fix = "set XDG_STATE_HOME to a folder on a disk with room that the user may write"
	}
	return c
}

// mostExamined bounds the nodes of a graph that doctor plans for.
const mostExamined = 100_000

// examineGraph reads the graph, where labels or types are named, and warns as a run would.
func (a *app) examineGraph(ctx context.Context) []neo4j.CheckResult {
	p, kind := a.config.Projection, a.config.From.Kind
	if (kind == "" || kind == config.FromNeo4j) && len(p.NodeLabels)+len(p.RelationshipTypes) == 0 {
		return nil
	}
	c := neo4j.CheckResult{Name: "graph", OK: true}
	job, err := a.job()
	if err == nil {
		err = a.onModel(ctx, job, func(m *graphcloak.Model) error {
			c.Detail = report.Count(m.Graph.Order(), "node") + " and " + report.Count(m.Graph.Size(), "relationship")
			if m.Graph.Order() > mostExamined {
				c.Detail += "; graphcloak plan warns of what will disappoint"
				return nil
			}
			_, err := a.adviseOf(ctx, m, job)
			return err
		})
	}
	if err != nil {
		d := describe(err)
		c = neo4j.CheckResult{
			Name: "graph", Detail: d.Message, Fix: cmp.Or(d.Suggestion, "graphcloak init proposes settings that fit"), Err: err,
		}
	}
	return []neo4j.CheckResult{c}
}

// examine runs the checks; the first that fails decides the exit code and the hint.
func (a *app) examine(ctx context.Context, names []string) error {
	settings, err := modelSettings(a.config)
	if err != nil {
		return err
	}
	checks := []neo4j.CheckResult{}
	if kind := a.config.From.Kind; kind == "" || kind == config.FromNeo4j {
		options, err := a.connectorOptions(ctx)
		if err != nil {
			return err
		}
		checks = neo4j.Doctor(ctx, options, settings.Selection, names)
	}
	checks = append(checks, examineState())
	unread := func(c neo4j.CheckResult) bool { return !c.OK && (c.Name == "connection" || c.Name == "read") }
	if !slices.ContainsFunc(checks, unread) {
		checks = append(checks, a.examineGraph(ctx)...)
	}
	failed := slices.DeleteFunc(slices.Clone(checks), func(c neo4j.CheckResult) bool { return c.OK })
	err = a.render(map[string]any{"checks": checks, "healthy": len(failed) == 0}, term.Section{Items: checkItems(checks)})
	if err != nil || len(failed) == 0 {
		return err
	}
	exit := exitCode(failed[0].Err)
	if exit == exitInternal { // what lacks in the database, such as a constraint
		exit = exitValidation
	}
	return fail(exit, "%d of %d checks failed, %s first", len(failed), len(checks), failed[0].Name).hint("%s", failed[0].Fix)
}

// checkItems are the checks as a list for a reader.
func checkItems(checks []neo4j.CheckResult) []term.Item {
	items := make([]term.Item, len(checks))
	for i, c := range checks {
		items[i] = term.Item{Mark: "ok", Text: c.Name + ": " + c.Detail}
		if !c.OK {
			items[i].Mark, items[i].More = "FAILED", "to do: "+c.Fix
		}
	}
	return items
}

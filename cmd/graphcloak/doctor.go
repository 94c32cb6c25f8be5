// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/connector/neo4j"
	"github.com/graphcloak/graphcloak/report"
)

func newDoctorCommand(app *app) *cobra.Command {
	setup := false
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check connection, version, rights and constraints, and say what to do",
		Long: "doctor looks at everything that a run needs of the server and changes nothing. --print-setup prints the\n" +
			"Cypher that makes the constraints and, where the server has roles, the least one, for whoever may run it: what\n" +
			"applies to the server that is named, or without one to Enterprise and Aura.",
		Example: "  graphcloak doctor --uri neo4j://localhost:7687 -u neo4j --node-labels Person\n" +
			"  graphcloak doctor --print-setup --database neo4j",
		GroupID: groupManage,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var names []string
			for _, c := range report.Outline("", app.config.Write.PropertyPrefix, nil).Columns() {
				names = append(names, c.Name)
			}
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
			return app.examine(cmd, names)
		},
	}
	cmd = app.withSettings(cmd, nil, config.GroupConnection, config.GroupProjection, config.GroupQueries, config.GroupWrite, config.GroupOutput, config.GroupExecution)
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
	c := neo4j.CheckResult{Name: "state", OK: err == nil, Detail: "an interrupted run is kept in " + dir}
	if err != nil {
		c.Detail, c.Err = err.Error(), err
		c.Fix = "set XDG_STATE_HOME to a folder on a disk with room that the user may write"
	}
	return c
}

// examine runs the checks; the first that fails decides the exit code and the hint.
func (a *app) examine(cmd *cobra.Command, names []string) error {
	settings, err := modelSettings(a.config)
	if err != nil {
		return err
	}
	options, err := a.connectorOptions(cmd.Context())
	if err != nil {
		return err
	}
	checks := append(neo4j.Doctor(cmd.Context(), options, settings.Selection, names, len(a.config.Jobs) > 0), examineState())
	var failed []neo4j.CheckResult
	for _, c := range checks {
		if !c.OK {
			failed = append(failed, c)
		}
	}
	err = a.render(map[string]any{"checks": checks, "healthy": len(failed) == 0}, section{items: checkItems(checks)})
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
func checkItems(checks []neo4j.CheckResult) []item {
	items := make([]item, len(checks))
	for i, c := range checks {
		items[i] = item{mark: "ok", text: c.Name + ": " + c.Detail}
		if !c.OK {
			items[i].mark, items[i].more = "FAILED", "to do: "+c.Fix
		}
	}
	return items
}

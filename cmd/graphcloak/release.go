// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/privacy"
)

func newReleaseCommand(app *app) *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "release",
		Short: "Spend the budget of a plan and release the private measurement",
		Long: "release reads the signal, records the spend in the ledger of the store, and only then adds each sensor's own\n" +
			"noise. It refuses a graph that is not the plan's. The JSON output is a release file for `graphcloak recover`.",
		Example: "  graphcloak release --from example:karate --plan plan.json --source-property source -o release.json\n" +
			"  graphcloak release --uri neo4j://localhost:7687 -u neo4j --plan plan.json --measurement-property heat -o release.json",
		GroupID: groupPipeline,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			if path == "" {
				return fail(exitUsage, "no plan is named").hint("give --plan FILE, made by `graphcloak plan -o FILE`")
			}
			var p graphcloak.Plan
			if err := readJSON(path, "plan", &p); err != nil {
				return err
			}
			s, err := app.openStore(ctx)
			if err != nil {
				return err
			}
			defer s.Close(context.WithoutCancel(ctx))
			m, err := graphcloak.Load(ctx, s, p.Model, loadOptions(app))
			if err != nil {
				return err
			}
			app.notices(s)
			id, err := graphcloak.NewRunID()
			if err != nil {
				return err
			}
			r, err := m.Release(ctx, &p, signalOf(app.config), graphcloak.Spend{
				Scope: app.config.Privacy.BudgetScope, ReleaseID: id, Attempt: privacy.NewAttempt(),
			})
			if err != nil {
				return err
			}
			return app.showRelease(r)
		},
	}
	cmd = app.withSettings(cmd, nil, config.GroupConnection, config.GroupSource, config.GroupSignal, config.GroupBudget,
		config.GroupOutput, config.GroupExecution)
	cmd.Flags().StringVar(&path, "plan", "", "plan `FILE`")
	return cmd
}

func (a *app) showRelease(r *graphcloak.Release) error {
	type row struct {
		id    string
		value float64
	}
	var values []row
	y := r.Values()
	for k, s := range r.Plan().Sensors {
		values = append(values, row{string(s.ID), y[k]})
	}
	shown := values
	if a.outputFormat() == "table" {
		shown = values[:min(shownRows, len(values))]
	}
	p := r.Plan()
	return a.render(r,
		section{text: fmt.Sprintf("Release %s: ε = %v, δ = %v spent. ", r.ID(), p.Epsilon, p.Delta) + p.Sentence()},
		section{
			title: "Private measurement" + more(len(values)), columns: []string{"nodeId", "privateHeat"},
			rows: rowsOf(shown, func(v row) []any { return []any{v.id, v.value} }),
		})
}

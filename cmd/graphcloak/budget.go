// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/internal/suggest"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
)

func newBudgetCommand(app *app) *cobra.Command {
	return newGroup("budget", "Show, limit and verify what was spent",
		newBudgetShowCommand(app), newBudgetSetCommand(app), newBudgetHeadCommand(app), newBudgetVerifyCommand(app),
		newBudgetReconcileCommand(app))
}

// budget gives a command the ledger of the store that it names.
func (a *app) budget(cmd *cobra.Command, run func(ctx context.Context, l privacy.Ledger) error) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx := cmd.Context()
		s, err := a.openUnwatched(ctx)
		if err != nil {
			return err
		}
		defer s.Close(context.WithoutCancel(ctx))
		return run(ctx, s.Ledger())
	}
	return a.withSettings(cmd, nil, config.GroupConnection, config.GroupSource, config.GroupOutput, config.GroupExecution)
}

// noteNewScope says, before anything is spent, that a scope is new: it has no cap.
func (a *app) noteNewScope(ctx context.Context, l privacy.Ledger, scope string) error {
	paying, err := privacy.Paying(ctx, l, scope)
	if err != nil || paying.Entries > 0 {
		return err
	}
	a.note("Note: scope %q is new and has no cap; `graphcloak budget set` limits what its releases may spend together", scope)
	return nil
}

// announceFirst lets a run that is about to spend tell of its scope, and of releases that
// were not finished elsewhere, again apart: once nothing is left that would refuse it.
func (a *app) announceFirst(ctx context.Context, s graphStore, job *graphcloak.Job, again string) {
	keep, scope := job.Keep, run.Scope(job.Signal)
	job.Keep = func(k *run.Kept) error {
		if k.Attempt == nil {
			return keep(k)
		}
		if err := a.noteNewScope(ctx, s.Ledger(), scope); err != nil {
			return err
		}
		if err := a.noteElsewhere(ctx, s, scope, again); err != nil {
			return err
		}
		return keep(k)
	}
}

// agree asks whether scopes without a history are meant, or refuses them where nobody is there to answer.
func (a *app) agree(ctx context.Context, known, meant []string) error {
	for _, scope := range meant {
		if slices.Contains(known, scope) {
			continue
		}
		near := suggestScope(scope, known)
		if a.mayAsk() {
			yes, err := a.confirm(ctx, fmt.Sprintf("Scope %q is new%s Create it?", scope, cmp.Or(near, ".")))
			if err != nil {
				return err
			}
			if yes {
				continue
			}
		}
		return fail(exitNotFound, "the ledger has no scope %q%s", scope, near).
			hint("give --create to limit data that nothing was spent of yet; `graphcloak budget show` lists the scopes").about(
			"budgetScope", scope)
	}
	return nil
}

func newBudgetSetCommand(app *app) *cobra.Command {
	var limit privacy.Cap
	var properties []string
	create, scope, per := false, "", ""
	cmd := app.budget(&cobra.Command{
		Use:   "set",
		Short: "Limit what all releases of the same data may spend together",
		Long: "set writes a cap into the ledger: all releases of the scope together stay (ε, δ)-private. A release that would\n" +
			"pass it is refused with exit code 9 before anything is drawn. The newest cap counts; what was spent stays spent.\n" +
			"Every release is charged to the scope of its property, property=NAME, or to sensors. With --properties several of\n" +
			"them go on as one common scope under one cap, for good: use it where they are about the same people.\n" +
			"A scope that the ledger does not know is asked about, or takes --create: a name mistyped limits nothing.\n" +
			"With --per the cap slides: it limits what is spent in any span of that length, by the clock of the store, and a\n" +
			"refusal says from when on there is room. That is a policy: what all releases together tell, however old, goes on\n" +
			"growing, and `budget show` shows it beside.",
		Example: "  graphcloak budget set --uri neo4j://localhost:7687 -u neo4j --budget-scope property=source --epsilon 8 --delta 1e-5\n" +
			"  graphcloak budget set --from folder:mygraph --budget-scope people --properties risk,heat --create --epsilon 8 " +
			"--delta 1e-5\n" +
			"  graphcloak budget set --from folder:mygraph --budget-scope property=source --epsilon 4 --delta 1e-5 --per 30d",
	}, func(ctx context.Context, l privacy.Ledger) error {
		if scope == "" {
			return fail(exitUsage, "no scope is named").
				hint("give --budget-scope property=NAME, of the property that is released; `graphcloak budget show` lists the scopes")
		}
		if limit.Budget == (privacy.Budget{}) {
			return fail(exitUsage, "no cap is given").hint("give --epsilon and --delta of all releases together")
		}
		if per != "" {
			window, err := config.ParseSpan(per)
			if err != nil {
				return fail(exitUsage, "--per %q is no span of time, want %w", per, err)
			}
			limit.PerSeconds = int64(time.Duration(window) / time.Second)
		}
		if err := limit.Validate(); err != nil {
			return fail(exitUsage, "%w", err).hint("give both --epsilon and --delta")
		}
		scopes := []string{scope}
		for _, property := range properties {
			scopes = append(scopes, run.Scope(graphcloak.Signal{SourceProperty: property}))
		}
		if err := app.setCap(ctx, app.watchLedger(l), scopes, limit, create); err != nil {
			return err
		}
		holdings, err := readHoldings(ctx, l, scopes)
		if err != nil {
			return err
		}
		return app.showAccounts(holdings, limit.Delta)
	})
	cmd.Flags().StringVar(&scope, "budget-scope", "", "`NAME` of the scope, such as property=risk")
	cmd.Flags().StringSliceVar(&properties, "properties", nil,
		"put the properties with these `NAMES` together as this scope; under its cap, for good")
	cmd.Flags().Float64Var(&limit.Epsilon, "epsilon", 0, "privacy loss ε of all releases together, a `NUMBER`")
	cmd.Flags().Float64Var(&limit.Delta, "delta", 0, "failure probability δ of all releases together, a `NUMBER`")
	cmd.Flags().StringVar(&per, "per", "", "limit what is spent in any `SPAN` of time, such as 30d, by the store's clock; what is older "+
		"counts no more against the cap")
	cmd.Flags().BoolVar(&create, "create", false, "limit a scope that the ledger does not know yet")
	return cmd
}

// setCap limits the first of some scopes, in which the others go on.
func (a *app) setCap(ctx context.Context, l privacy.Ledger, scopes []string, limit privacy.Cap, create bool) error {
	scope, parts := scopes[0], scopes[1:]
	known, err := l.Scopes(ctx)
	if err != nil {
		return err
	}
	charged := parts // a common scope has the name that it is given
	if len(parts) == 0 {
		charged = scopes
		if err := checkCharged(known, scope); err != nil {
			return err
		}
	}
	if !create {
		if err := a.agree(ctx, known, charged); err != nil {
			return err
		}
	}
	if len(parts) > 0 {
		return asRefusal(privacy.Continue(ctx, l, scope, parts, limit))
	}
	_, err = privacy.SetSlidingCap(ctx, l, scope, limit)
	return asRefusal(err)
}

// checkCharged refuses a scope to which nothing will ever be charged.
func checkCharged(known []string, scope string) error {
	if _, ok := run.PropertyOf(scope); ok || slices.Contains(known, scope) ||
		scope == run.Scope(graphcloak.Signal{Cloaked: true}) {
		return nil
	}
	return fail(exitUsage, "nothing is charged to %q: a release is charged to property=NAME of its property, or to sensors%s", scope,
		suggestScope(scope, known)).
		hint("give --budget-scope property=NAME, or with --properties NAMES the properties whose common scope %s is to be",
			visible(scope)).about("budgetScope", scope)
}

func newBudgetShowCommand(app *app) *cobra.Command {
	delta, scope := 0.0, ""
	var cmd *cobra.Command
	cmd = app.budget(&cobra.Command{
		Use:   "show",
		Short: "What every property spent, and what is left",
		Long: "show adds up the releases of each scope. Their costs ρ add exactly; epsilon is the ε at which all of them\n" +
			"together are private, by the exact conversion of Gaussian differential privacy, at the delta of its row: that of\n" +
			"the cap, or --delta, or else that of the last release. So is remainingEpsilon, what one more release may cost. The same " +
			"cost is another ε at\n" +
			"another δ: a release at ε = 1, δ = 1e-5 is one at ε = 0.4, δ = 0.01. Under the guarantee perSensor\n" +
			"the numbers are those of the sensor that spent most, alone. A scope that counts in a common one shows what its own\n" +
			"releases spent, before and since.",
		Example: "  graphcloak budget show --from folder:mygraph\n  graphcloak budget show --uri neo4j://localhost:7687 -u neo4j " +
			"--budget-scope property=risk --delta 1e-6",
	}, func(ctx context.Context, l privacy.Ledger) error {
		if cmd.Flags().Changed("delta") && !(delta >= privacy.MinDelta && delta < 1) {
			return fail(exitUsage, "--delta is %v, want a number from %v to below 1", delta, privacy.MinDelta)
		}
		scopes, err := shownScopes(ctx, l, scope)
		if err != nil {
			return err
		}
		holdings, err := readHoldings(ctx, l, scopes)
		if err != nil {
			return err
		}
		return app.showAccounts(holdings, delta)
	})
	cmd.Flags().StringVar(&scope, "budget-scope", "", "show the scope with this `NAME` alone, such as property=risk")
	cmd.Flags().Float64Var(&delta, "delta", 0, "δ at which ε is shown where a scope has no cap, and what is left too, a `NUMBER`; 0: "+
		"that of the last release")
	return cmd
}

// shownScopes are the one that is named, which must exist, with the one that it counts in, or all.
func shownScopes(ctx context.Context, l privacy.Ledger, named string) ([]string, error) {
	all, err := l.Scopes(ctx)
	if err != nil || named == "" {
		return all, err
	}
	if !slices.Contains(all, named) {
		return nil, fail(exitNotFound, "the ledger has no scope %q%s", named, suggestScope(named, all)).
			hint("`graphcloak budget show` lists the scopes; one appears with its first release or cap").about("budgetScope", named)
	}
	paying, err := privacy.Paying(ctx, l, named)
	return slices.Compact([]string{named, paying.Scope}), err
}

// suggestScope asks whether a scope of a similar name was meant.
func suggestScope(scope string, have []string) string {
	if near := suggest.Nearest(scope, have); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

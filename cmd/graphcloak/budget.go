// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/privacy"
)

func newBudgetCommand(app *app) *cobra.Command {
	return newGroup("budget", "Show, limit and verify what was spent",
		newBudgetShowCommand(app), newBudgetSetCommand(app), newBudgetHeadCommand(app), newBudgetVerifyCommand(app), newBudgetReconcileCommand(app))
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
	return a.withSettings(cmd, nil, config.GroupConnection, config.GroupSource, config.GroupBudget, config.GroupOutput, config.GroupExecution)
}

// announce tells, before anything is spent, that a scope is new: a slip of the hand
// makes one, and nothing limits it. It tells too where an earlier version kept the
// account under other names.
func (a *app) announce(ctx context.Context, l privacy.Ledger, scope string) error {
	account, names, err := graphcloak.Account(ctx, l, scope)
	switch {
	case err != nil:
		return err
	case len(names) > 0:
		a.note("Note: scope %q goes on from what an earlier version spent as %s", scope, joinedFew(names))
		return nil
	case account.Entries > 0:
		return nil
	}
	scopes, err := l.Scopes(ctx)
	if err != nil {
		return err
	}
	if near := nearest(scope, scopes); near != "" && a.config.Privacy.BudgetScope != "" {
		a.warn("scope %q is new and has no cap%s", scope, near)
		return nil
	}
	a.note("Note: scope %q is new and has no cap; `graphcloak budget set` limits what its releases may spend together", scope)
	return nil
}

// agree asks whether a scope without a history is meant, or refuses it where nobody is there to answer.
func (a *app) agree(ctx context.Context, l privacy.Ledger, scope string) error {
	scopes, err := l.Scopes(ctx)
	if err != nil {
		return err
	}
	near := nearest(scope, scopes)
	if a.mayAsk() {
		yes, err := a.confirm(ctx, fmt.Sprintf("Scope %q is new%s Create it?", scope, cmp.Or(near, ".")))
		if err != nil || yes {
			return err
		}
	}
	return fail(exitNotFound, "the ledger has no scope %q%s", scope, near).
		hint("give --create to limit data that nothing was spent of yet; `graphcloak budget show` lists the scopes").about("budgetScope", scope)
}

func newBudgetSetCommand(app *app) *cobra.Command {
	var limit privacy.Budget
	create := false
	cmd := app.budget(&cobra.Command{
		Use:   "set",
		Short: "Limit what all releases of the same data may spend together",
		Long: "set writes a cap into the ledger: all releases of the scope together stay (ε, δ)-private. A release that would\n" +
			"pass it is refused with exit code 9 before anything is drawn. The newest cap counts; what was spent stays spent.\n" +
			"A scope that the ledger does not know is asked about, or takes --create: a name mistyped limits nothing.",
		Example: "  graphcloak budget set --from folder:mygraph --budget-scope property=source --epsilon 8 --delta 1e-5\n" +
			"  graphcloak budget set --from folder:mygraph --budget-scope hospital --create --epsilon 8 --delta 1e-5",
	}, func(ctx context.Context, l privacy.Ledger) error {
		scope := app.config.Privacy.BudgetScope
		if scope == "" {
			return fail(exitUsage, "no scope is named").
				hint("give --budget-scope NAME, which is property=NAME of the signal unless run and release name another; `graphcloak budget show` lists the scopes")
		}
		if limit == (privacy.Budget{}) {
			return fail(exitUsage, "no cap is given").hint("give --epsilon and --delta of all releases together")
		}
		if err := limit.Validate(); err != nil {
			return fail(exitUsage, "%w", err).hint("give both --epsilon and --delta")
		}
		if err := app.setCap(ctx, app.watchLedger(l), scope, limit, create); err != nil {
			return err
		}
		accounts, err := readAccounts(ctx, l, []string{scope})
		if err != nil {
			return err
		}
		return app.showAccounts(accounts, limit.Delta)
	})
	cmd.Flags().Float64Var(&limit.Epsilon, "epsilon", 0, "privacy loss ε of all releases together, a `NUMBER`")
	cmd.Flags().Float64Var(&limit.Delta, "delta", 0, "failure probability δ of all releases together, a `NUMBER`")
	cmd.Flags().BoolVar(&create, "create", false, "limit a scope that the ledger does not know yet")
	return cmd
}

// setCap limits a scope. The cap comes first: it settles which one counts where an
// earlier version kept several accounts of the same data.
func (a *app) setCap(ctx context.Context, l privacy.Ledger, scope string, limit privacy.Budget, create bool) error {
	scopes, err := l.Scopes(ctx)
	if err != nil {
		return err
	}
	if !create && !slices.Contains(scopes, scope) {
		if _, earlier, err := graphcloak.Account(ctx, l, scope); err == nil && len(earlier) == 0 {
			if err := a.agree(ctx, l, scope); err != nil {
				return err
			}
		}
	}
	if _, err := privacy.SetCap(ctx, l, scope, limit); err != nil {
		return refusal(err)
	}
	return graphcloak.Continue(ctx, l, scope)
}

func newBudgetShowCommand(app *app) *cobra.Command {
	delta := 0.0
	cmd := app.budget(&cobra.Command{
		Use:   "show",
		Short: "What every scope spent, and what is left",
		Long: "show adds up the releases of each scope. Their costs ρ add exactly; epsilon is the ε at which all of them\n" +
			"together are private, by the exact conversion of Gaussian differential privacy, at the delta of its row: that of\n" +
			"the cap, or --delta. So is remainingEpsilon, what one more release may cost. The same cost is another ε at\n" +
			"another δ: a release at ε = 1, δ = 1e-5 is one at ε = 0.4, δ = 0.01. Under the guarantee perSensor\n" +
			"the numbers are those of the sensor that spent most, alone. A scope that goes on under another name is counted\n" +
			"there.",
		Example: "  graphcloak budget show --from folder:mygraph\n  graphcloak budget show --uri neo4j://localhost:7687 -u neo4j --budget-scope hospital --delta 1e-6",
	}, func(ctx context.Context, l privacy.Ledger) error {
		if !(delta >= privacy.MinDelta && delta < 1) {
			return fail(exitUsage, "--delta is %v, want a number from %v to below 1", delta, privacy.MinDelta)
		}
		scopes, err := app.scopes(ctx, l)
		if err != nil {
			return err
		}
		accounts, err := readAccounts(ctx, l, scopes)
		if err != nil {
			return err
		}
		return app.showAccounts(accounts, delta)
	})
	cmd.Flags().Float64Var(&delta, "delta", 1e-5, "δ at which ε is shown where a scope has no cap, and what is left too, a `NUMBER`")
	return cmd
}

// scopes are the one that is named, which must exist, or all.
func (a *app) scopes(ctx context.Context, l privacy.Ledger) ([]string, error) {
	all, err := l.Scopes(ctx)
	named := a.config.Privacy.BudgetScope
	if err != nil || named == "" {
		return all, err
	}
	if slices.Contains(all, named) {
		return []string{named}, nil
	}
	return nil, fail(exitNotFound, "the ledger has no scope %q%s", named, nearest(named, all)).
		hint("`graphcloak budget show` lists the scopes; one appears with its first release or cap").about("budgetScope", named)
}

// nearest asks whether another scope was meant, where one has a name like it.
func nearest(scope string, have []string) string {
	if near := connector.Suggest(scope, have); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// readAccounts folds the entries of each scope, and so checks them.
func readAccounts(ctx context.Context, l privacy.Ledger, scopes []string) ([]privacy.Account, error) {
	accounts := make([]privacy.Account, len(scopes))
	for i, scope := range scopes {
		var err error
		if accounts[i], err = privacy.ReplayLedger(ctx, l, scope); err != nil {
			return nil, err
		}
	}
	return accounts, nil
}

// balance is an account as a reader sees it. Numbers that do not exist are null:
// ε where it is beyond conversion, caps and remainders where there is no cap.
type balance struct {
	Scope            string   `json:"budgetScope"`
	Guarantee        string   `json:"guarantee"`
	Releases         int64    `json:"releases"`
	Rho              float64  `json:"rho"`
	Epsilon          *float64 `json:"epsilon"`
	Delta            float64  `json:"delta"`
	CapEpsilon       *float64 `json:"capEpsilon"`
	CapDelta         *float64 `json:"capDelta"`
	RemainingRho     *float64 `json:"remainingRho"`
	RemainingEpsilon *float64 `json:"remainingEpsilon"` // of one more release, by itself
	Head             string   `json:"head"`
	MovedTo          string   `json:"movedTo,omitempty"` // the scope that counts all this
}

// newBalance converts at the δ of the cap, or at delta.
func newBalance(a privacy.Account, delta float64) balance {
	if a.Cap != nil {
		delta = a.Cap.Delta
	}
	b := balance{Scope: a.Scope, Guarantee: a.Guarantee.String(), Releases: a.Releases, Rho: a.Spent.Rho(), Delta: delta, Head: a.Head.String(), MovedTo: a.MovedTo}
	if eps, err := a.Epsilon(delta); err == nil {
		b.Epsilon = &eps
	}
	left, ok := a.Remaining()
	if !ok {
		return b
	}
	rho := left.Rho()
	b.CapEpsilon, b.CapDelta, b.RemainingRho = &a.Cap.Epsilon, &a.Cap.Delta, &rho
	if eps, err := left.Epsilon(delta); err == nil {
		b.RemainingEpsilon = &eps
	}
	return b
}

func (a *app) showAccounts(accounts []privacy.Account, delta float64) error {
	balances := make([]balance, len(accounts))
	var remarks []string
	shown := balances[:0:0]
	for i, account := range accounts {
		balances[i] = newBalance(account, delta)
		if account.MovedTo != "" {
			remarks = append(remarks, fmt.Sprintf("Scope %q goes on as %q and is counted there.", account.Scope, account.MovedTo))
			continue
		}
		shown = append(shown, balances[i])
		remarks = append(remarks, leftAt(account, delta)...)
	}
	number := func(x *float64) any {
		if x == nil {
			return nil
		}
		return *x
	}
	return a.render(map[string]any{"scopes": balances}, section{
		columns: []string{"budgetScope", "releases", "rho", "epsilon", "delta", "capEpsilon", "capDelta", "remainingRho", "remainingEpsilon", "guarantee"},
		rows: rowsOf(shown, func(b balance) []any {
			return []any{
				b.Scope, b.Releases, b.Rho, number(b.Epsilon), b.Delta, number(b.CapEpsilon), number(b.CapDelta),
				number(b.RemainingRho), number(b.RemainingEpsilon), b.Guarantee,
			}
		}),
	}, section{text: "Each ε holds at the δ of its row; rho adds up whatever the δ. " + strings.Join(remarks, " ")})
}

// leftAt says what the rest of a capped scope is at a δ other than the cap's.
func leftAt(a privacy.Account, delta float64) []string {
	left, ok := a.Remaining()
	if !ok || delta == a.Cap.Delta || left == 0 {
		return nil
	}
	there, err := left.Epsilon(a.Cap.Delta)
	here, err2 := left.Epsilon(delta)
	if err != nil || err2 != nil {
		return nil
	}
	return []string{fmt.Sprintf("What is left of %q, ρ = %.5g, is one more release of ε = %.5g at δ = %v, or of ε = %.5g at δ = %v.",
		a.Scope, left.Rho(), there, a.Cap.Delta, here, delta)}
}

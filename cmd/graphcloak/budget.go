// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/internal/suggest"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/highwater"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/run"
)

func newBudgetCommand(app *app) *cobra.Command {
	return newGroup("budget", "Show, limit and verify what was spent",
		newBudgetShowCommand(app), newBudgetSetCommand(app), newBudgetVerifyCommand(app),
		newBudgetReconcileCommand(app))
}

// budget gives a command the ledger of the store that it names.
func (a *app) budget(cmd *cobra.Command, run func(ctx context.Context, l privacy.Ledger) error) *cobra.Command {
	return a.onStore(cmd, func(ctx context.Context, s graphStore, _ []string) error { return run(ctx, s.Ledger()) })
}

// refuseUnknown refuses a scope without a history: a name that is mistyped limits nothing.
func refuseUnknown(known []string, scope string) error {
	if slices.Contains(known, scope) {
		return nil
	}
	return fail(exitNotFound, "the ledger has no scope %q%s", scope, suggestScope(scope, known)).
		hint("`graphcloak budget show` lists the scopes; one appears with its first release, or with its first cap by `budget set "+
			"--create`").about("budgetScope", scope)
}

func newBudgetSetCommand(app *app) *cobra.Command {
	var limit privacy.Cap
	create, scope, per := false, "", ""
	var cmd *cobra.Command
	cmd = app.budget(&cobra.Command{
		Use:   "set",
		Short: "Limit what all releases of the same data may spend together",
		Long: "set writes a cap into the ledger: all releases of a scope together stay (ε, δ)-private, and one that would pass it is\n" +
			"refused with exit code 9. Every release is charged to the scope of its property, property=NAME, or to sensors. With\n" +
			"--per the cap limits what is spent in any span of that length.",
		Example: "  graphcloak budget set --uri neo4j://localhost:7687 -u neo4j --budget-scope property=source --epsilon 8 --delta 1e-5",
	}, func(ctx context.Context, l privacy.Ledger) error {
		if scope == "" {
			return fail(exitUsage, "no scope is named").
				hint("give --budget-scope property=NAME, of the property that is released; `graphcloak budget show` lists the scopes")
		}
		if limit.Budget == (privacy.Budget{}) {
			return fail(exitUsage, "no cap is given").hint("give --epsilon of all releases together, and their --delta")
		}
		if per != "" {
			window, err := config.ParseSpan(per)
			if err != nil {
				return fail(exitUsage, "--per %q is not a valid span of time, want %w", per, err)
			}
			limit.PerSeconds = int64(time.Duration(window) / time.Second)
		}
		if !cmd.Flags().Changed("delta") {
			limit.Delta = app.config.Privacy.Delta
		}
		if err := limit.Validate(); err != nil {
			return fail(exitUsage, "%w", err).hint("give --epsilon above 0, and --delta between 0 and 1")
		}
		watched, err := app.watchLedger(l)
		if err != nil {
			return err
		}
		if err := setCap(ctx, watched, scope, limit, create); err != nil {
			return err
		}
		return app.showAccounts(ctx, l, []string{scope}, limit.Delta)
	})
	cmd.Flags().StringVar(&scope, "budget-scope", "", "`NAME` of the scope, such as property=risk")
	cmd.Flags().Float64Var(&limit.Epsilon, "epsilon", 0, "privacy loss ε of all releases together, a `NUMBER`")
	cmd.Flags().Float64Var(&limit.Delta, "delta", 0,
		"failure probability δ of all releases together, a `NUMBER`; that of a run unless given")
	cmd.Flags().StringVar(&per, "per", "", "limit what is spent in any `SPAN` of time, such as 30d, by the store's clock; what is older "+
		"counts no more against the cap")
	cmd.Flags().BoolVar(&create, "create", false, "limit a scope that the ledger does not know yet")
	return cmd
}

// setCap limits a scope.
func setCap(ctx context.Context, l privacy.Ledger, scope string, limit privacy.Cap, create bool) error {
	known, err := l.Scopes(ctx)
	if err != nil {
		return err
	}
	if err := checkCharged(known, scope); err != nil {
		return err
	}
	if !create {
		if err := refuseUnknown(known, scope); err != nil {
			return err
		}
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
		hint("give --budget-scope property=NAME").about("budgetScope", scope)
}

func newBudgetShowCommand(app *app) *cobra.Command {
	delta, scope := 0.0, ""
	var cmd *cobra.Command
	cmd = app.budget(&cobra.Command{
		Use:   "show",
		Short: "What every property spent, and what is left",
		Long: "show adds up the releases of each scope: their costs ρ, and the ε at which all of them together are private, at the δ\n" +
			"of the cap, or --delta, or that of the last release. Under the guarantee perSensor the numbers are those of the sensor\n" +
			"that spent most; under perPerson, for answers of yes or no, those of the person who spent most.",
		Example: "  graphcloak budget show --uri neo4j://localhost:7687 -u neo4j --budget-scope property=risk --delta 1e-6",
	}, func(ctx context.Context, l privacy.Ledger) error {
		if cmd.Flags().Changed("delta") && !(delta >= privacy.MinDelta && delta < 1) {
			return fail(exitUsage, "--delta is %v, want a number from %v to below 1", delta, privacy.MinDelta)
		}
		scopes, err := l.Scopes(ctx)
		if err == nil && scope != "" {
			scopes, err = []string{scope}, refuseUnknown(scopes, scope)
		}
		if err != nil {
			return err
		}
		return app.showAccounts(ctx, l, scopes, delta)
	})
	cmd.Flags().StringVar(&scope, "budget-scope", "", "show the scope with this `NAME` alone, such as property=risk")
	cmd.Flags().Float64Var(&delta, "delta", 0, "δ at which ε is shown where a scope has no cap, a `NUMBER`; 0: that of the last release")
	return cmd
}

// suggestScope asks whether a scope of a similar name was meant.
func suggestScope(scope string, have []string) string {
	if near := suggest.Nearest(scope, have); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

var balanceColumns = []string{
	"budgetScope", "releases", "rho", "epsilon", "delta", "capEpsilon", "capDelta", "remainingRho", "remainingEpsilon", "guarantee",
	"capPer", "recentEpsilon",
}

// row is an account in full, for programs.
func balanceRow(b privacy.Balance) []any {
	number := func(x *float64) any {
		if x == nil {
			return nil
		}
		return *x
	}
	var per any
	if b.CapPerSeconds > 0 {
		per = config.Span(time.Duration(b.CapPerSeconds) * time.Second).String()
	}
	return []any{
		b.Scope, b.Releases, b.Rho, number(b.Epsilon), b.Delta, number(b.CapEpsilon), number(b.CapDelta),
		number(b.RemainingRho), number(b.RemainingEpsilon), b.Guarantee, per, number(b.RecentEpsilon),
	}
}

// showAccounts prints balances. A table has the columns of sliding caps where there is one.
func (a *app) showAccounts(ctx context.Context, l privacy.Ledger, scopes []string, delta float64) error {
	balances, err := privacy.Balances(ctx, l, scopes, delta)
	if err != nil {
		return err
	}
	table := term.Table(balanceColumns, balances, balanceRow)
	table.None = "Nothing was spent yet, and no cap is set: `graphcloak budget set` sets one."
	if len(balances) == 0 {
		return a.render(map[string]any{"scopes": balances}, table)
	}
	sliding := slices.ContainsFunc(balances, func(b privacy.Balance) bool { return b.CapPerSeconds > 0 })
	text := "Each ε holds at the δ of its row; what adds up whatever the δ is ρ, which --verbose shows."
	if pure := func(b privacy.Balance) bool { return b.Guarantee == privacy.PerPerson.String() }; slices.ContainsFunc(balances, pure) {
		own := "Where people are asked, ε is that of the person who spent most, and adds up by itself: δ is 0."
		if text += " " + own; !slices.ContainsFunc(balances, func(b privacy.Balance) bool { return !pure(b) }) {
			text = own
		}
	}
	if sliding {
		text += " A cap with \"cap per\" limits what is spent in any time as long as that, recent ε; ε is that of all releases, " +
			"however old."
	}
	if a.outputFormat() == "table" && !a.verbose() {
		pick := []int{0, 1, 3, 4, 5, 8} // for people, the same at every width of the screen
		if sliding {
			pick = append(pick, 10, 11)
		}
		table.Columns = []string{
			"scope", "releases", "ρ", "ε", "δ", "cap ε", "cap δ", "left ρ", "left ε", "guarantee", "cap per", "recent ε",
		}
		table = table.Only(pick)
	}
	return a.render(map[string]any{"scopes": balances}, table, term.Section{Text: text})
}

// headRow is the head of a scope's chain.
type headRow struct {
	Scope   string         `json:"budgetScope"`
	Entries int64          `json:"entries"`
	Head    privacy.Digest `json:"head"`
}

// heads verifies all chains and returns their heads.
func (a *app) heads(ctx context.Context, l privacy.Ledger) ([]headRow, error) {
	scopes, err := l.Scopes(ctx)
	rows := make([]headRow, len(scopes))
	for i, scope := range scopes {
		a.progress("verify", int64(i), int64(len(scopes)))
		account, err := privacy.VerifyLedger(ctx, l, scope)
		if err != nil {
			return nil, err
		}
		rows[i] = headRow{scope, account.Entries, account.Head}
	}
	return rows, err
}

func newBudgetVerifyCommand(app *app) *cobra.Command {
	var kept []string
	cmd := app.budget(&cobra.Command{
		Use:   "verify",
		Short: "Check the hash chains of the ledger, and that none went back",
		Long: "verify replays every entry of every chain, compares the chains with what this machine has seen of them, and prints the\n" +
			"head of each. The owner of a store can replace a chain by another that is whole: keep a head where nobody can reach\n" +
			"it, and --contains finds a chain that lacks it (exit code 5). Every report holds one too.",
		Example: "  graphcloak budget verify --from folder:mygraph\n" +
			"  graphcloak budget verify --from folder:mygraph --contains 43deb00341efe2842baab219a9aa9b5b8e055527965b55cb462aadc0a9808bbb",
	}, func(ctx context.Context, l privacy.Ledger) error {
		heads, err := parseHeads(kept)
		if err != nil {
			return err
		}
		rows, err := app.heads(ctx, l)
		if err != nil {
			return err
		}
		if err := containHeads(ctx, l, heads); err != nil {
			return err
		}
		seen, err := marks()
		if err != nil {
			return err
		}
		if err := seen.Check(ctx, l); err != nil {
			return err
		}
		text := fmt.Sprintf("Every chain is whole (%s), and holds all that this machine has seen of it.", report.Count(len(rows), "scope"))
		if len(heads) > 0 {
			text += " They contain every head that was given."
		}
		return app.render(map[string]any{"verified": true, "contains": heads, "scopes": rows}, term.Section{Text: text},
			term.Table([]string{"budgetScope", "entries", "head"}, rows, func(r headRow) []any {
				return []any{r.Scope, r.Entries, r.Head.String()}
			}))
	})
	cmd.Flags().StringSliceVar(&kept, "contains", nil, "`HASH` that was kept elsewhere; a chain must hold it")
	return cmd
}

func parseHeads(kept []string) ([]privacy.Digest, error) {
	heads := make([]privacy.Digest, len(kept))
	for i, text := range kept {
		if err := heads[i].UnmarshalText([]byte(strings.TrimSpace(text))); err != nil {
			return nil, fail(exitUsage, "--contains %q is not a valid head: %w", text,
				err).hint("give the 64 hexadecimal digits of a head that `graphcloak budget verify` printed, or of ledgerHead in a report")
		}
	}
	return heads, nil
}

// containHeads finds each head in a chain.
func containHeads(ctx context.Context, l privacy.Ledger, heads []privacy.Digest) error {
	all, err := run.PaymentsOf(ctx, l, "")
	if err != nil {
		return err
	}
	for _, head := range heads {
		if !privacy.Contains(all, head) {
			return fail(exitConflict, "no chain contains the head %s", head).
				hint("the ledger was restored from a copy older than this head, or replaced, or is another one: what was spent since " +
					"is not in it. " +
					"Restore the newer ledger, or let the machine that spent it run `graphcloak budget reconcile`")
		}
	}
	return nil
}

func newBudgetReconcileCommand(app *app) *cobra.Command {
	other := false
	cmd := app.budget(&cobra.Command{
		Use:   "reconcile",
		Short: "Book what a restored or cloned ledger has forgotten",
		Long: "reconcile books what was spent behind the last entry that the ledger and this machine both have. Run it on every\n" +
			"machine that spends from this ledger. With --other-data the marks of a ledger that is gone are forgotten instead: say\n" +
			"so only where the data that was spent from are gone too.",
		Example: "  graphcloak budget reconcile --from folder:mygraph",
	}, func(ctx context.Context, l privacy.Ledger) error {
		seen, err := marks()
		if err != nil {
			return err
		}
		rows, err := seen.Reconcile(ctx, l, other)
		if err != nil {
			return err
		}
		text := "What follows was booked; `graphcloak budget show` says what is left."
		switch {
		case len(rows) == 0:
			text = "Nothing is lost: the ledger holds all that this machine has seen of it."
		case other:
			text = "What follows was forgotten: its data are said to be gone."
		}
		return app.render(map[string]any{"reconciled": rows}, term.Section{Text: text},
			term.Table([]string{"budgetScope", "lostHead", "bookedRho"}, rows, func(r highwater.Lost) []any {
				return []any{r.Scope, r.Head.String(), r.Booked}
			}))
	})
	cmd.Flags().BoolVar(&other, "other-data", false, "forget a ledger that is gone with its data; other data are in its place")
	return cmd
}

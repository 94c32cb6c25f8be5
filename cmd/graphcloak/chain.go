// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

// headRow is the head of a scope's chain.
type headRow struct {
	Scope   string         `json:"budgetScope"`
	Entries int64          `json:"entries"`
	Head    privacy.Digest `json:"head"`
}

func (r headRow) row() []any { return []any{r.Scope, r.Entries, r.Head.String()} }

var headColumns = []string{"budgetScope", "entries", "head"}

// heads verifies all chains and returns their heads.
func (a *app) heads(ctx context.Context, l privacy.Ledger) (scopes []string, rows []headRow, err error) {
	if scopes, err = l.Scopes(ctx); err != nil {
		return nil, nil, err
	}
	rows = []headRow{}
	for i, scope := range scopes {
		a.progress("verify", int64(i), int64(len(scopes)))
		account, err := privacy.VerifyLedger(ctx, l, scope)
		if err != nil {
			return nil, nil, err
		}
		rows = append(rows, headRow{scope, account.Entries, account.Head})
	}
	return scopes, rows, nil
}

func newBudgetHeadCommand(app *app) *cobra.Command {
	return app.budget(&cobra.Command{
		Use:   "head",
		Short: "Print the head of every chain, to be kept elsewhere",
		Long: "head checks the chains and prints the hash of each one's newest entry, the number of its entries and its scope.\n" +
			"Keep a line where the owner of the store cannot reach it, on paper or in a commit: `budget verify --contains HASH`\n" +
			"then finds a ledger that was replaced, or restored from an older copy. The report and the record of every run\n" +
			"hold such a head too, as ledgerHead.",
		Example: "  graphcloak budget head --from folder:mygraph --format table\n  graphcloak budget head --from folder:mygraph " +
			"--format csv >> heads.csv",
	}, func(ctx context.Context, l privacy.Ledger) error {
		_, rows, err := app.heads(ctx, l)
		if err != nil {
			return err
		}
		if app.outputFormat() != "table" {
			return app.render(map[string]any{"scopes": rows}, section{columns: headColumns, rows: rowsOf(rows, headRow.row)})
		}
		return app.toOutput(func(w io.Writer) error { // no line is broken
			for _, r := range rows {
				if _, err := fmt.Fprintf(w, "%s  %d  %s\n", r.Head, r.Entries, visible(r.Scope)); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func newBudgetVerifyCommand(app *app) *cobra.Command {
	var kept []string
	cmd := app.budget(&cobra.Command{
		Use:   "verify",
		Short: "Check the hash chains of the ledger, and that none went back",
		Long: "verify replays every entry: order, hashes, rules, and that the stored account is what its entries add up to. It\n" +
			"holds the chains against what this machine has seen of them, and with --contains against a head that was kept\n" +
			"elsewhere, by `budget head` or as the ledgerHead of a report. A chain that lacks it was restored from an older\n" +
			"copy or replaced, and has forgotten spends (exit code 5). Who owns the store can replace a chain by another that\n" +
			"is whole: only a head that was kept elsewhere shows it.",
		Example: "  graphcloak budget verify --from folder:mygraph\n" +
			"  graphcloak budget verify --from folder:mygraph --contains 43deb00341efe2842baab219a9aa9b5b8e055527965b55cb462aadc0a9808bbb",
	}, func(ctx context.Context, l privacy.Ledger) error {
		heads, err := parseHeads(kept)
		if err != nil {
			return err
		}
		scopes, rows, err := app.heads(ctx, l)
		if err != nil {
			return err
		}
		if err := containHeads(ctx, l, scopes, heads); err != nil {
			return err
		}
		if err := checkMarks(ctx, l); err != nil {
			return err
		}
		text := fmt.Sprintf("Every chain is whole (%s), and holds all that this machine has seen of it.", report.Count(len(rows), "scope"))
		if len(heads) > 0 {
			text += " They contain every head that was given."
		}
		return app.render(map[string]any{"verified": true, "contains": heads, "scopes": rows}, section{text: text},
			section{columns: headColumns, rows: rowsOf(rows, headRow.row)})
	})
	cmd.Flags().StringSliceVar(&kept, "contains", nil, "`HASH` that was kept elsewhere; a chain must hold it")
	return cmd
}

func parseHeads(kept []string) ([]privacy.Digest, error) {
	heads := make([]privacy.Digest, len(kept))
	for i, text := range kept {
		if err := heads[i].UnmarshalText([]byte(strings.TrimSpace(text))); err != nil {
			return nil, fail(exitUsage, "--contains %q is no head: %w", text,
				err).hint("give the 64 hexadecimal digits of `graphcloak budget head`, or of ledgerHead in a report")
		}
	}
	return heads, nil
}

// containHeads finds each head in a chain.
func containHeads(ctx context.Context, l privacy.Ledger, scopes []string, heads []privacy.Digest) error {
	chains := make([][]privacy.Entry, len(scopes))
	for i, scope := range scopes {
		var err error
		if chains[i], err = l.Entries(ctx, scope); err != nil {
			return err
		}
	}
	for _, head := range heads {
		if !slices.ContainsFunc(chains, func(c []privacy.Entry) bool { return privacy.Contains(c, head) }) {
			return fail(exitConflict, "no chain contains the head %s", head).
				hint("the ledger was restored from a copy older than this head, or replaced, or is another one: what was spent since " +
					"is not in it. " +
					"Restore the newer ledger, or let the machine that spent it run `graphcloak budget reconcile`")
		}
	}
	return nil
}

// checkMarks holds chains against what this machine has seen of them, those that are
// gone included.
func checkMarks(ctx context.Context, l privacy.Ledger) error {
	id, err := l.Identity(ctx)
	if err != nil {
		return err
	}
	scopes, err := witness{}.Scopes(id.Names())
	if err != nil {
		return err
	}
	for _, scope := range scopes {
		marks, err := witness{}.Marks(id.Names(), scope)
		if err != nil {
			return err
		}
		entries, err := l.Entries(ctx, scope)
		if err != nil {
			return err
		}
		for _, m := range marks {
			if err := m.Check(scope, entries); err != nil {
				return err
			}
		}
	}
	return nil
}

func newBudgetReconcileCommand(app *app) *cobra.Command {
	other := false
	cmd := app.budget(&cobra.Command{
		Use:   "reconcile",
		Short: "Book what a restored or cloned ledger has forgotten",
		Long: "reconcile compares the ledger with what this machine has seen of it. What was spent behind the last entry that\n" +
			"both have is booked as one entry of the chain, with the head that was lost, and a lower cap returns: releases go\n" +
			"on from what was really spent. Run it on every machine that spends from this ledger; where several of them saw the\n" +
			"same loss, more is booked than was lost, never less.\n" +
			"With --other-data the marks of a store whose ledger is gone are forgotten instead: say so only where the data\n" +
			"that was spent from are gone too, and others have taken their place.",
		Example: "  graphcloak budget reconcile --from folder:mygraph",
	}, func(ctx context.Context, l privacy.Ledger) error {
		id, err := l.Identity(ctx)
		if err != nil {
			return err
		}
		scopes, err := witness{}.Scopes(id.Names())
		if err != nil {
			return err
		}
		return app.reconcile(ctx, l, id, scopes, other)
	})
	cmd.Flags().BoolVar(&other, "other-data", false, "forget a ledger that is gone with its data; other data are in its place")
	return cmd
}

// reconcile settles the scopes whose chains went back, and prints them.
func (a *app) reconcile(ctx context.Context, l privacy.Ledger, id privacy.Identity, scopes []string, otherData bool) error {
	type row struct {
		Scope  string         `json:"budgetScope"`
		Lost   privacy.Digest `json:"lostHead"`
		Booked float64        `json:"bookedRho"`
	}
	rows := []row{}
	for _, scope := range scopes {
		for _, name := range id.Names() {
			m, err := lostMark(ctx, l, name, scope)
			if err != nil {
				return err
			}
			if m == nil {
				continue
			}
			var booked privacy.Cost
			switch {
			case otherData && name == id.Ledger:
				return fail(exitConflict, "scope %q of this very ledger has lost entries; it is no other data", scope).
					hint("leave --other-data out")
			case otherData:
				err = witness{}.forget(name, scope)
			default:
				booked, err = privacy.Reconcile(ctx, l, scope, *m)
			}
			if err != nil {
				return err
			}
			rows = append(rows, row{scope, m.Account.Head, booked.Rho()})
		}
	}
	watched := a.watchLedger(l)
	for _, scope := range scopes {
		if _, err := watched.Entries(ctx, scope); err != nil { // the mark is now that of the chain
			return err
		}
	}
	text := "Nothing is lost: the ledger holds all that this machine has seen of it."
	if len(rows) > 0 {
		text = "What follows was booked; `graphcloak budget show` says what is left."
	}
	if otherData && len(rows) > 0 {
		text = "What follows was forgotten: its data are said to be gone."
	}
	return a.render(map[string]any{"reconciled": rows}, section{text: text},
		section{
			columns: []string{"budgetScope", "lostHead", "bookedRho"},
			rows:    rowsOf(rows, func(r row) []any { return []any{r.Scope, r.Lost.String(), r.Booked} }),
		})
}

// lostMark returns what is remembered of a scope under one name, where the chain
// does not hold it.
func lostMark(ctx context.Context, l privacy.Ledger, name, scope string) (*privacy.Mark, error) {
	marks, err := witness{}.Marks([]string{name}, scope)
	if err != nil || len(marks) == 0 {
		return nil, err
	}
	entries, err := l.Entries(ctx, scope)
	if err != nil || marks[0].Check(scope, entries) == nil {
		return nil, err
	}
	return &marks[0], nil
}

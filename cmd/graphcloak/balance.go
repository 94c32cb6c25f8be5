// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/privacy"
)

// scopeAccount is an account, the part of it that counts against its cap now, and the δ of its
// last release, 0 where there was none.
type scopeAccount struct {
	account, recent privacy.Account
	lastDelta       float64
}

// readHoldings folds the entries of each scope, and so checks them. A scope that goes on in
// another one holds what its data spent in both.
func readHoldings(ctx context.Context, l privacy.Ledger, scopes []string) ([]scopeAccount, error) {
	holdings := make([]scopeAccount, len(scopes))
	now, err := l.Now(ctx)
	if err != nil {
		return nil, err
	}
	for i, scope := range scopes {
		entries, err := l.Entries(ctx, scope)
		if err != nil {
			return nil, err
		}
		h := &holdings[i]
		if h.account, err = privacy.SpentOn(ctx, l, scope); err != nil {
			return nil, err
		}
		if h.account.MovedTo != "" {
			h.account.Cap = nil // which counts no more
			if entries, err = privacy.Releases(ctx, l, scope); err != nil {
				return nil, err
			}
		}
		if h.recent, err = h.account.Recent(entries, now); err != nil {
			return nil, err
		}
		h.lastDelta = lastDeltaOf(entries)
	}
	return holdings, nil
}

// lastDeltaOf is the δ of the last release among the entries, 0 where there was none.
func lastDeltaOf(entries []privacy.Entry) (delta float64) {
	for _, e := range entries {
		if e.Kind == privacy.KindSpent {
			delta = e.Charge.Budget.Delta
		}
	}
	return delta
}

// delta is where ε is told: that of the cap, else the one given, else, where that is 0, that of
// the last release.
func (h scopeAccount) delta(given float64) float64 {
	if h.account.Cap != nil {
		return h.account.Cap.Delta
	}
	return cmp.Or(given, h.lastDelta, defaultDelta)
}

// balance is an account as a reader sees it. Numbers that do not exist are null:
// ε where it is beyond conversion, caps and remainders where there is no cap.
type balance struct {
	Scope            string   `json:"budgetScope"`
	Guarantee        string   `json:"guarantee"`
	Releases         int64    `json:"releases"`
	Rho              float64  `json:"rho"`
	Epsilon          *float64 `json:"epsilon"` // of all releases, however old
	Delta            float64  `json:"delta"`
	CapEpsilon       *float64 `json:"capEpsilon"`
	CapDelta         *float64 `json:"capDelta"`
	CapPerSeconds    int64    `json:"capPerSeconds,omitempty"` // of a sliding cap
	RecentEpsilon    *float64 `json:"recentEpsilon,omitempty"` // of what counts against a sliding cap
	RemainingRho     *float64 `json:"remainingRho"`
	RemainingEpsilon *float64 `json:"remainingEpsilon"` // of one more release, by itself
	Head             string   `json:"head"`
	MovedTo          string   `json:"movedTo,omitempty"` // the scope that counts all this too
}

// defaultDelta is where ε is told of a scope without a cap and without a release.
const defaultDelta = 1e-5

// newBalance converts at [scopeAccount.delta].
func newBalance(h scopeAccount, given float64) balance {
	a, delta := h.account, h.delta(given)
	b := balance{
		Scope: a.Scope, Guarantee: a.Guarantee.String(), Releases: a.Releases, Rho: a.Spent.Rho(), Delta: delta,
		Head: a.Head.String(), MovedTo: a.MovedTo,
	}
	b.Epsilon = orNil(a.Epsilon(delta))
	left, ok := h.recent.Remaining()
	if !ok {
		return b
	}
	rho := left.Rho()
	b.CapEpsilon, b.CapDelta, b.CapPerSeconds, b.RemainingRho = &a.Cap.Epsilon, &a.Cap.Delta, a.Cap.PerSeconds, &rho
	if a.Cap.PerSeconds > 0 {
		b.RecentEpsilon = orNil(h.recent.Epsilon(delta))
	}
	b.RemainingEpsilon = orNil(left.Epsilon(delta))
	return b
}

func orNil(x float64, err error) *float64 {
	if err != nil {
		return nil
	}
	return &x
}

var balanceColumns = []string{
	"budgetScope", "releases", "rho", "epsilon", "delta", "capEpsilon", "capDelta", "remainingRho", "remainingEpsilon", "guarantee",
	"capPer", "recentEpsilon", "movedTo",
}

// row is an account in full, for programs.
func (b balance) row() []any {
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
		number(b.RemainingRho), number(b.RemainingEpsilon), b.Guarantee, per, number(b.RecentEpsilon), b.MovedTo,
	}
}

// shortBalances are accounts for people, the same at every width of the screen.
func shortBalances(shown []balance, sliding, moved bool) section {
	s := section{columns: []string{"scope", "releases", "ε", "δ", "cap ε", "left ε"}}
	pick := []int{0, 1, 3, 4, 5, 8}
	if sliding {
		s.columns, pick = append(s.columns, "cap per", "recent ε"), append(pick, 10, 11)
	}
	if moved {
		s.columns, pick = append(s.columns, "counts in"), append(pick, 12)
	}
	s.rows = rowsOf(shown, func(b balance) []any {
		all := b.row()
		row := make([]any, len(pick))
		for k, i := range pick {
			row[k] = all[i]
		}
		return row
	})
	return s
}

// showAccounts prints balances. A table has the columns of sliding caps where there is one.
func (a *app) showAccounts(holdings []scopeAccount, delta float64) error {
	balances := make([]balance, len(holdings))
	var remarks []string
	sliding, moved, inFull := false, false, a.outputFormat() != "table" || a.verbose()
	if len(holdings) == 0 {
		return a.render(map[string]any{"scopes": balances},
			section{
				columns: balanceColumns, rows: rowsOf(balances, balance.row),
				none: "Nothing was spent yet, and no cap is set: `graphcloak budget set` sets one.",
			})
	}
	for i, h := range holdings {
		balances[i] = newBalance(h, delta)
		sliding = sliding || balances[i].CapPerSeconds > 0
		moved = moved || balances[i].MovedTo != ""
		remarks = append(remarks, remainingAtDelta(h, delta)...)
	}
	if sliding {
		remarks = append(remarks, "A cap with \"cap per\" limits what is spent in any time as long as that, recent ε; ε is that of all "+
			"releases, however old.")
	}
	table := shortBalances(balances, sliding, moved)
	if inFull {
		table.columns, table.rows = balanceColumns, rowsOf(balances, balance.row)
	}
	return a.render(map[string]any{"scopes": balances}, table,
		section{text: "Each ε holds at the δ of its row; what adds up whatever the δ is ρ, which --verbose shows. " +
			strings.Join(remarks, " ")})
}

// remainingAtDelta says what remains in capped scopes at a δ other than the cap's; 0: none.
func remainingAtDelta(h scopeAccount, delta float64) []string {
	a := h.account
	left, ok := h.recent.Remaining()
	if !ok || delta == 0 || delta == a.Cap.Delta || left == 0 {
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

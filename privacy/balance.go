// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"cmp"
	"context"
)

// Balance is an account as its owner reads it. Numbers that do not exist are nil: ε where it is beyond conversion, caps and
// remainders where there is no cap.
type Balance struct {
	Scope            string   `json:"budgetScope"`
	Guarantee        string   `json:"guarantee"`
	Releases         int64    `json:"releases"`
	Rho              float64  `json:"rho"`     // 0 where answers are counted, whose ε adds
	Epsilon          *float64 `json:"epsilon"` // of all releases, however old
	Delta            float64  `json:"delta"`   // at which every ε holds; 0 of answers, at any
	CapEpsilon       *float64 `json:"capEpsilon"`
	CapDelta         *float64 `json:"capDelta"`
	CapPerSeconds    int64    `json:"capPerSeconds,omitempty"` // of a sliding cap
	RecentEpsilon    *float64 `json:"recentEpsilon,omitempty"` // of what counts against a sliding cap
	RemainingRho     *float64 `json:"remainingRho"`
	RemainingEpsilon *float64 `json:"remainingEpsilon"` // of one more release, by itself
	Head             string   `json:"head"`
}

// defaultDelta is where ε is given of a scope without a cap and without a release.
const defaultDelta = 1e-5

// Balances folds the entries of each scope, and so checks them. δ is that of the cap, else the one given, else, where that
// is 0, that of the last release. It returns the errors of [Replay].
func Balances(ctx context.Context, l Ledger, scopes []string, delta float64) ([]Balance, error) {
	list := make([]Balance, len(scopes))
	now, err := l.Now(ctx)
	if err != nil {
		return nil, err
	}
	for i, scope := range scopes {
		entries, err := l.Entries(ctx, scope)
		if err != nil {
			return nil, err
		}
		a, err := Replay(scope, entries)
		if err != nil {
			return nil, err
		}
		recent, err := a.Recent(entries, now)
		if err != nil {
			return nil, err
		}
		last := 0.0
		for _, e := range entries {
			if e.Kind == KindSpent {
				last = e.Charge.Budget.Delta
			}
		}
		list[i] = balanceOf(a, recent, cmp.Or(delta, last, defaultDelta))
	}
	return list, nil
}

func balanceOf(a, recent Account, delta float64) Balance {
	if a.Cap != nil {
		delta = a.Cap.Delta
	}
	b := Balance{
		Scope: a.Scope, Guarantee: a.Guarantee.String(), Releases: a.Releases, Rho: a.Spent.Rho(), Epsilon: orNil(a.Epsilon(delta)),
		Delta: delta, Head: a.Head.String(),
	}
	if a.Guarantee.pure() {
		b.Rho, b.Delta = 0, 0
	}
	left, ok := recent.Remaining()
	if !ok {
		return b
	}
	b.CapEpsilon, b.CapDelta, b.CapPerSeconds = &a.Cap.Epsilon, &a.Cap.Delta, a.Cap.PerSeconds
	if rho := left.Rho(); !a.Guarantee.pure() {
		b.RemainingRho = &rho
	}
	if a.Cap.PerSeconds > 0 {
		b.RecentEpsilon = orNil(recent.Epsilon(delta))
	}
	b.RemainingEpsilon = orNil(a.Guarantee.epsilon(left, delta))
	return b
}

func orNil(x float64, err error) *float64 {
	if err != nil {
		return nil
	}
	return &x
}

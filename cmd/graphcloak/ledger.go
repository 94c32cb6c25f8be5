// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/highwater"
	"github.com/graphcloak/graphcloak/run"
)

// marks are what this machine has seen of ledgers.
func marks() (highwater.Folder, error) {
	dir, err := stateDir("ledgers")
	return highwater.Folder(dir), err
}

// watchLedger holds a ledger against what this machine has seen of it.
func (a *app) watchLedger(l privacy.Ledger) (privacy.Ledger, error) {
	seen, err := marks()
	if err != nil {
		return nil, err
	}
	return privacy.Watch(l, seen, func(err error) {
		a.warn("the ledger was written, and its high-water mark was not: %v", err)
	}), nil
}

// balances returns what every scope has spent.
func balances(ctx context.Context, l privacy.Ledger) ([]privacy.Balance, error) {
	scopes, err := l.Scopes(ctx)
	if err != nil {
		return nil, err
	}
	return privacy.Balances(ctx, l, scopes, 0)
}

// explain adds to an error of a scope without a cap what limits it.
func explain(job graphcloak.Job, err error) error {
	if !errors.Is(err, run.ErrNoCap) {
		return err
	}
	return fail(exitBudget, "%w", err).hint("limit it first: `graphcloak budget set --create --budget-scope %s --epsilon E --delta D`, "+
		"with the same --from or --uri", term.QuoteShell(run.Scope(job.Signal)))
}

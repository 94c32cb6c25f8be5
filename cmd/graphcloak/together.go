// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

// composition is what the releases behind some answers cost together.
type composition struct {
	Scope    string   `json:"budgetScope"`
	Releases int64    `json:"releases"`
	Epsilon  *float64 `json:"epsilon"` // null: beyond conversion
	Delta    float64  `json:"delta"`
}

func (c composition) String() string {
	switch {
	case c.Releases == 1 && c.Epsilon == nil:
		return fmt.Sprintf("One release of %s is behind these answers; it promises nothing at δ = %v.", c.Scope, c.Delta)
	case c.Releases == 1:
		return fmt.Sprintf("One release of %s is behind these answers: ε = %.4g at δ = %v.", c.Scope, *c.Epsilon, c.Delta)
	case c.Epsilon == nil:
		return fmt.Sprintf("The %d releases of %s behind these answers promise nothing together at δ = %v.", c.Releases, c.Scope, c.Delta)
	}
	return fmt.Sprintf("The %d releases of %s behind these answers are together ε = %.4g at δ = %v.", c.Releases, c.Scope,
		*c.Epsilon, c.Delta)
}

// composed adds up what the releases behind answers cost, by the account that pays for their
// data, as the ledger holds it. δ is the cap's, else the largest of theirs.
func composed(ctx context.Context, l privacy.Ledger, answers []*report.Report) ([]composition, error) {
	list := []composition{}
	var read []string
	for _, rep := range answers {
		if rep.BudgetScope == "" || slices.Contains(read, rep.BudgetScope) {
			continue
		}
		paying, err := privacy.Paying(ctx, l, rep.BudgetScope)
		if err != nil {
			return nil, err
		}
		c := composition{Scope: paying.Scope}
		var entries []privacy.Entry
		for _, scope := range append(paying.Continues, paying.Scope) {
			more, err := l.Entries(ctx, scope)
			if err != nil {
				return nil, err
			}
			entries, read = append(entries, more...), append(read, scope)
		}
		ids := make(map[string]bool)
		for _, other := range answers {
			if slices.Contains(read, other.BudgetScope) {
				ids[other.ReleaseID], c.Delta = true, max(c.Delta, other.Delta)
			}
		}
		if paying.Cap != nil {
			c.Delta = paying.Cap.Delta
		}
		some, err := paying.Only(entries, func(releaseID string) bool { return ids[releaseID] })
		if err != nil {
			return nil, err
		}
		c.Releases, c.Epsilon = some.Releases, orNil(some.Epsilon(c.Delta))
		list = append(list, c)
	}
	return list, nil
}

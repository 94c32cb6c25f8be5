// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
)

// finding is one thing that holds of a release.
type finding struct {
	Check string `json:"check"`
	Found string `json:"found"`
}

// verifyPayment finds the payment of a release in the ledger, and what else that holds about it.
func (a *app) verifyPayment(ctx context.Context, s graphStore, r run.Drawn, digest privacy.Digest) ([]finding, error) {
	entries, err := run.Payment(ctx, s.Ledger(), r)
	if err != nil {
		return nil, err
	}
	paid := entries[0]
	if _, err := privacy.VerifyLedger(ctx, s.Ledger(), paid.Scope); err != nil {
		return nil, err
	}
	findings := []finding{
		{"payment", fmt.Sprintf("entry %d of scope %q pays in full; the chain is whole", paid.Seq, paid.Scope)},
	}
	for _, e := range entries[1:] {
		switch {
		case e.Kind == privacy.KindVoid:
			return nil, fail(exitConflict, "the ledger says that release %s is void",
				r.ID()).hint("a void release was never to be published")
		case e.Values != nil && *e.Values != digest:
			return nil, fail(exitConflict, "entry %d of the ledger is about other values under this release id", e.Seq).
				hint("this is not the release that was %s", e.Kind)
		}
		findings = append(findings, finding{string(e.Kind), fmt.Sprintf("entry %d", e.Seq)})
	}
	return findings, nil
}

// storeIsNamed reports whether a store was asked for.
func (a *app) storeIsNamed() bool {
	return a.config.From.Kind != "" || a.config.Origin("neo4jUri").Layer != config.LayerDefault
}

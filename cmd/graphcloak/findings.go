// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
)

// finding is one thing that holds of a release.
type finding struct {
	Check string `json:"check"`
	Found string `json:"found"`
}

// showVerified prints what was found of a release, and what was not looked at.
func (a *app) showVerified(r run.Drawn, findings []finding, open []string, guarantee string, exposed []string) error {
	digest, err := r.Digest()
	if err != nil {
		return err
	}
	result := struct {
		ReleaseID    string         `json:"releaseId"`
		Digest       privacy.Digest `json:"digest"`
		Verified     bool           `json:"verified"`
		Findings     []finding      `json:"findings"`
		NotChecked   []string       `json:"notChecked"`
		Guarantee    string         `json:"guarantee"`
		NotProtected []string       `json:"notProtected"`
	}{r.ID(), digest, true, findings, open, guarantee, exposed}
	return a.render(result, term.Section{Text: fmt.Sprintf("Release %s: what was checked holds.", r.ID())},
		term.Table([]string{"check", "found"}, findings, func(f finding) []any { return []any{f.Check, f.Found} }),
		term.Section{
			Title: "Not checked", Columns: []string{"what"},
			Rows: term.Rows(open, func(what string) []any { return []any{what} }),
		},
		term.Section{Title: "The guarantee, if that holds too", Text: guarantee})
}

// verifyInStore checks a release against a graph, as check does, and its ledger.
func (a *app) verifyInStore(ctx context.Context, r run.Drawn, settings graphcloak.Settings,
	check func(*graphcloak.Model) ([]finding, error),
) ([]finding, error) {
	s, err := a.openReading(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close(context.WithoutCancel(ctx))
	m, err := a.model(ctx, s, settings)
	if err != nil {
		return nil, err
	}
	findings, err := check(m)
	if err != nil {
		return nil, err
	}
	paid, err := a.verifyPayment(ctx, s, r)
	return append(findings, paid...), err
}

// verifyPayment finds the payment of a release in the ledger, and what else that holds about it.
func (a *app) verifyPayment(ctx context.Context, s graphStore, r run.Drawn) ([]finding, error) {
	digest, err := r.Digest()
	if err != nil {
		return nil, err
	}
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

// sameIn refuses a release of which something is written otherwise than in a plan file.
func sameIn(what, release, path string, has, wants any) error {
	x, err := json.Marshal(has)
	y, err2 := json.Marshal(wants)
	if err := errors.Join(err, err2); err != nil || bytes.Equal(x, y) {
		return err
	}
	return fail(exitConflict, "the %s of release %s is not that of %s", what, release, path)
}

// storeIsNamed reports whether a store was asked for.
func (a *app) storeIsNamed() bool {
	return a.config.From.Kind != "" || a.config.Origin("neo4jUri").Layer != config.LayerDefault
}

// unchecked lists what the checks of a release leave open, and more.
func unchecked(plan, store bool, more ...string) (open []string) {
	if !store {
		open = append(open, "that there is such a graph with these sensors or people, and that what is stated of it is right: name the "+
			"store", "that the release was paid for: name the store")
	}
	if !plan {
		open = append(open, "that it was made under a plan that you know: give --plan FILE")
	}
	return append(open, more...)
}

// concludeAudit shows what was found, and fails where the guarantee is refuted: refuted says how, "" that it is not.
func (a *app) concludeAudit(result any, verdict, guarantee, refuted string) error {
	err := a.render(result, term.Section{Title: "Audit", Text: verdict}, term.Section{Title: "Guarantee", Text: guarantee})
	if err != nil || refuted == "" {
		return err
	}
	return fail(exitValidation, "the audit refutes %s", refuted).
		hint("run it again: chance alone does this three times in a million; if it stays, publish nothing and report it")
}

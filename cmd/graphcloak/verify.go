// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

func newVerifyCommand(app *app) *cobra.Command {
	path := ""
	cmd := &cobra.Command{
		Use:   "verify RELEASE",
		Short: "Re-check a release without any secret",
		Long: "verify computes again what a release file states: that its noise is enough for its ε and δ, what it costs, that\n" +
			"every value is a multiple of its lattice constant, and all hashes. With --plan, that it was made under that\n" +
			"plan. With a store, that the graph is the plan's, that the ledger's chain is whole, and that it was paid for in\n" +
			"full. It cannot show that noise was drawn as stated, nor that the sensitivity is right: `graphcloak audit` and\n" +
			"`graphcloak plan` on the public graph speak of these.",
		Example: "  graphcloak verify release.json\n  graphcloak verify release.json --plan plan.json --from folder:mygraph",
		GroupID: groupPipeline,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var r graphcloak.Release
			if err := app.readRelease(args[0], &r); err != nil {
				return err
			}
			return app.verify(cmd.Context(), &r, path)
		},
	}
	cmd = app.withSettings(cmd, nil, config.GroupConnection, config.GroupSource, config.GroupQueries, config.GroupBudget, config.GroupOutput, config.GroupExecution)
	cmd.Flags().StringVar(&path, "plan", "", "plan `FILE` that the release should be of")
	return cmd
}

// finding is one thing that holds of a release.
type finding struct {
	Check string `json:"check"`
	Found string `json:"found"`
}

// verify stops at the first check that fails; what it prints holds.
func (a *app) verify(ctx context.Context, r *graphcloak.Release, planPath string) error {
	plan := &graphcloak.Plan{Plan: r.Plan()}
	if planPath != "" {
		if err := a.readPlan(planPath, plan); err != nil {
			return err
		}
	}
	if err := privacy.Verify(r.Release, plan.Plan); err != nil {
		return refusal(err)
	}
	digest, err := r.Digest()
	if err != nil {
		return err
	}
	p := r.Plan()
	findings := []finding{
		{"noise", fmt.Sprintf("μ = %.6g, enough for ε = %v, δ = %v by the %s calibration", p.Mu, p.Epsilon, p.Delta, p.Calibration)},
		{"cost", fmt.Sprintf("ρ = %.6g", p.Cost().Rho())},
		{"lattice", fmt.Sprintf("%d values, each a multiple of its lattice constant", len(p.Sensors))},
		{"hashes", "of plan and values, as stated"},
	}
	if planPath != "" {
		findings = append(findings, finding{"plan", "the release is of " + planPath})
	}
	if a.storeIsNamed() {
		more, err := a.verifyInStore(ctx, r, digest)
		if err != nil {
			return err
		}
		findings = append(findings, more...)
	}
	result := struct {
		ReleaseID    string         `json:"releaseId"`
		Digest       privacy.Digest `json:"digest"`
		Verified     bool           `json:"verified"`
		Findings     []finding      `json:"findings"`
		Guarantee    string         `json:"guarantee"`
		NotProtected []string       `json:"notProtected"`
	}{r.ID(), digest, true, findings, p.Sentence(), report.Exposed(p.ComponentCount)}
	return a.render(result, section{text: fmt.Sprintf("Release %s holds what it states.", r.ID())},
		section{columns: []string{"check", "found"}, rows: rowsOf(findings, func(f finding) []any { return []any{f.Check, f.Found} })},
		section{title: "Guarantee", text: p.Sentence()})
}

// storeIsNamed reports whether a store was asked for.
func (a *app) storeIsNamed() bool {
	return a.config.From.Kind != "" || a.config.Origin("neo4jUri").Layer != config.LayerDefault
}

// verifyInStore checks a release against a graph and its ledger.
func (a *app) verifyInStore(ctx context.Context, r *graphcloak.Release, digest privacy.Digest) ([]finding, error) {
	s, err := a.openUnwatched(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close(context.WithoutCancel(ctx))
	m, err := graphcloak.Load(ctx, s, r.Model, loadOptions(a))
	if err != nil {
		return nil, err
	}
	if err := m.Matches(r.Plan()); err != nil {
		return nil, err
	}
	entries, err := graphcloak.Payment(ctx, s.Ledger(), r, a.config.Privacy.BudgetScope)
	if err != nil {
		return nil, err
	}
	paid := entries[0]
	if _, err := privacy.VerifyLedger(ctx, s.Ledger(), paid.Scope); err != nil {
		return nil, err
	}
	findings := []finding{
		{"graph", "the store's graph is the plan's"},
		{"payment", fmt.Sprintf("entry %d of scope %q pays in full; the chain is whole", paid.Seq, paid.Scope)},
	}
	for _, e := range entries[1:] {
		switch {
		case e.Kind == privacy.KindVoid:
			return nil, fail(exitConflict, "the ledger says that release %s is void", r.ID()).hint("a void release was never to be published")
		case e.Values != nil && *e.Values != digest:
			return nil, fail(exitConflict, "entry %d of the ledger is about other values under this release id", e.Seq).
				hint("this is not the release that was %s", e.Kind)
		}
		findings = append(findings, finding{string(e.Kind), fmt.Sprintf("entry %d", e.Seq)})
	}
	return findings, nil
}

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
		Long: "verify computes every statement of the file again from its numbers. With --plan FILE it checks that the release was\n" +
			"made under that plan. With a store (--from, --uri) it certifies the sensitivity on the graph again, and finds the\n" +
			"payment in the ledger. It says what it could not check. A file that was forged whole, without a store, passes.",
		Example: "  graphcloak verify release.json\n  graphcloak verify release.json --plan plan.json --from folder:mygraph",
		GroupID: groupPipeline,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if holdsAnswers(args[0]) {
				return app.verifyAnswers(cmd.Context(), args[0], path)
			}
			var r graphcloak.Release
			if err := app.readUnder(args[0], "release", &r, &r.Model); err != nil {
				return err
			}
			return app.verify(cmd.Context(), &r, path)
		},
	}
	cmd = app.withSettings(cmd, nil, storeGroups, config.GroupQueries)
	cmd.Flags().StringVar(&path, "plan", "", "plan `FILE` that the release should be of")
	return cmd
}

// verify stops at the first check that fails; what it prints holds. The file's own
// statements were compared when it was read.
func (a *app) verify(ctx context.Context, r *graphcloak.Release, planPath string) error {
	if err := privacy.Verify(r.Release, r.Plan()); err != nil {
		return asRefusal(err)
	}
	p := r.Plan()
	findings := []finding{
		{"statements", "every derived number, sentence and hash of the file follows from the rest of it"},
		{"noise", fmt.Sprintf("μ = %.6g, sufficient for ε = %v, δ = %v by the %s calibration if the sensitivity is as stated",
			p.Mu, p.Epsilon, p.Delta, p.Calibration)},
		{"cost", fmt.Sprintf("ρ = %.6g", p.Cost().Rho())},
		{"lattice", fmt.Sprintf("%d values, each a multiple of its lattice constant", len(p.Sensors))},
	}
	if planPath != "" {
		if err := a.verifyPlan(r, planPath); err != nil {
			return err
		}
		findings = append(findings, finding{"plan", "the release is of " + planPath + ", in noise, model and allocation"})
	}
	if a.storeIsNamed() {
		more, err := a.verifyInStore(ctx, r, r.Model, func(m *graphcloak.Model) ([]finding, error) {
			return []finding{
				{"graph", fmt.Sprintf("graph and %d sensors are those of the release", len(p.Sensors))},
				{"sensitivity", certified(r)},
			}, m.CertifyRelease(ctx, r)
		})
		if err != nil {
			return err
		}
		findings = append(findings, more...)
	}
	open := unchecked(planPath != "", a.storeIsNamed(), "that noise was drawn as stated, afresh, and by nobody who keeps it",
		"that the values are readings, of the signal that the file names and within the range that they are clipped to")
	if e := p.NormError; a.storeIsNamed() && e > 0 {
		open = append(open, fmt.Sprintf("that the computed diffusion was off by at most %.3g, as charged: machines differ in it, so up "+
			"to four times as much passes here", e))
	}
	if r.Allocated != nil {
		open = append(open, "how good the allocation of the noise is: its objective and any expected accuracy")
	}
	return a.showVerified(r, findings, open, p.Sentence(), report.ExposedBy(p))
}

// verifyPlan holds a release against a plan file, whose own statements were compared
// when it was read.
func (a *app) verifyPlan(r *graphcloak.Release, path string) error {
	var p graphcloak.Plan
	if err := a.readUnder(path, "plan", &p, &p.Model); err != nil {
		return err
	}
	if err := privacy.Verify(r.Release, p.Plan); err != nil {
		return asRefusal(err)
	}
	for what, pair := range map[string][2]any{"model": {r.Model, p.Model}, "allocation": {r.Allocated, p.Allocated}} {
		if err := sameIn(what, r.ID(), path, pair[0], pair[1]); err != nil {
			return err
		}
	}
	return p.CheckSignal(r.Signal)
}

// certified says what was certified again.
func certified(r *graphcloak.Release) string {
	p := r.Plan()
	switch {
	case p.Guarantee == privacy.PerSensor:
		return "of each sensor at most what is charged: certified again"
	case r.Allocated != nil:
		return fmt.Sprintf("at most %.6g under the weights of the noise, as charged: certified again", p.Sensitivity.Upper)
	}
	return fmt.Sprintf("at most %.6g, as charged: certified again", p.Sensitivity.Upper)
}

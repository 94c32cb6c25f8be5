// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/audit"
	"github.com/graphcloak/graphcloak/report"
)

// auditOptions is what an audit attacks, and how hard.
type auditOptions struct {
	plan   string
	trials int
}

func newAuditCommand(app *app) *cobra.Command {
	var o auditOptions
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Try to refute a plan's guarantee by attacking its mechanism",
		Long: "audit runs the mechanism of a plan on made-up readings, on those of the worst neighbours too where a graph is named,\n" +
			"and bounds ε from below by how well the best distinguisher tells them apart. It tests σ, independence, repeats and\n" +
			"the lowest bits, and ends with exit code 6 where a guarantee is refuted. It can refute a guarantee, not prove one:\n" +
			"the proofs are in docs/proofs. It spends nothing.",
		Example: "  graphcloak audit --from example:karate --epsilon 1 --trials 20000",
		GroupID: groupPipeline,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.trials < 100 {
				return fail(exitUsage, "--trials is %d, want ≥ 100", o.trials)
			}
			if app.aboutWhisper(o.plan) {
				if !cmd.Flags().Changed("trials") {
					o.trials = answerTrials
				}
				return app.auditAnswers(cmd.Context(), o.plan, o.trials)
			}
			return app.audit(cmd.Context(), o)
		},
	}
	cmd = app.withSettings(cmd, nil, modelGroups, config.GroupSignal, config.GroupPrivacy, config.GroupCommunity)
	f := cmd.Flags()
	f.StringVar(&o.plan, "plan", "", "plan `FILE`; otherwise a plan is made from the settings")
	f.IntVar(&o.trials, "trials", 100_000, "releases on each side, a `NUMBER`")
	return cmd
}

// auditedPlan reads a plan or makes one, in which case its graph gives readings of
// neighbours.
func (a *app) auditedPlan(ctx context.Context, path string) (*privacy.Plan, []audit.Pair, error) {
	if path != "" {
		var p graphcloak.Plan
		err := a.readUnder(path, "plan", &p, &p.Model)
		return p.Plan, nil, err
	}
	job, err := a.job()
	if err != nil {
		return nil, nil, err
	}
	var plan *privacy.Plan
	var pairs []audit.Pair
	err = a.onModel(ctx, job, func(m *graphcloak.Model) error {
		p, err := m.Plan(ctx, job.Plan)
		if err != nil {
			return err
		}
		plan = p.Plan
		if x, y, ok := m.WorstReadings(plan); ok {
			pairs = append(pairs, audit.Pair{A: x, B: y})
		}
		return nil
	})
	return plan, pairs, err
}

// audit attacks the mechanism.
func (a *app) audit(ctx context.Context, o auditOptions) error {
	p, pairs, err := a.auditedPlan(ctx, o.plan)
	if err != nil {
		return err
	}
	noise, err := throwawayNoise(p.Randomness)
	if err != nil {
		return err
	}
	r, err := audit.Run(ctx, p, audit.OfPlan(p, noise), audit.Options{Trials: o.trials, Pairs: pairs, Progress: a.progress})
	if err != nil {
		return asRefusal(err)
	}
	return a.showAudit(p, r)
}

func (a *app) showAudit(p *privacy.Plan, r *audit.Report) error {
	refuted := ""
	if r.Refuted {
		refuted = fmt.Sprintf("(ε = %v, δ = %v): at least ε = %.3f; noise like this has probability %.3g under the plan", p.Epsilon,
			p.Delta, max(r.Distinguish.Epsilon, r.LowBits.Epsilon), r.Noise.Probability)
	}
	return a.concludeAudit(struct {
		*audit.Report
		Verdict      string   `json:"verdict"`
		Guarantee    string   `json:"guarantee"`
		NotProtected []string `json:"notProtected"`
	}{r, r.String(), p.Sentence(), report.ExposedBy(p)}, r.String(), p.Sentence(), refuted)
}

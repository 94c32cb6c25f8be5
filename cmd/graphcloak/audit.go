// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/audit"
	"github.com/graphcloak/graphcloak/report"
)

func newAuditCommand(app *app) *cobra.Command {
	path, trials, weaken := "", 0, 0.0
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Try to refute a plan's guarantee by attacking its mechanism",
		Long: "audit runs the mechanism of a plan on made-up readings as far apart as the plan's sensitivity, and bounds ε\n" +
			"from below by how well the best distinguisher tells them apart (Clopper and Pearson, confidence 1 − 10⁻⁶);\n" +
			"attacks the lowest bits of the output; and computes δ exactly on small lattices. It ends with exit code 6 where\n" +
			"the guarantee is refuted. It spends nothing and reads no signal. It can refute a guarantee, not prove one: the\n" +
			"proofs are in docs/proofs.",
		Example: "  graphcloak audit --plan plan.json\n  graphcloak audit --from example:karate --epsilon 1 --trials 20000\n" +
			"  graphcloak audit --plan plan.json --weaken 0.5   # half the noise: the audit must refute it",
		GroupID: groupPipeline,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if trials < 100 || !(weaken > 0 && weaken <= 1) {
				return fail(exitUsage, "--trials is %d and --weaken %v, want ≥ 100 and a number in (0, 1]", trials, weaken)
			}
			p, err := app.auditedPlan(cmd.Context(), path)
			if err != nil {
				return err
			}
			return app.audit(cmd.Context(), p, trials, weaken)
		},
	}
	cmd = app.withSettings(cmd, nil,
		config.GroupConnection, config.GroupSource, config.GroupProjection, config.GroupQueries, config.GroupDiffusion, config.GroupSensors,
		config.GroupSignal, config.GroupPrivacy, config.GroupCommunity, config.GroupOutput, config.GroupExecution)
	f := cmd.Flags()
	f.StringVar(&path, "plan", "", "plan `FILE`; otherwise a plan is made from the settings")
	f.IntVar(&trials, "trials", 100_000, "releases on each side, a `NUMBER`")
	f.Float64Var(&weaken, "weaken", 1, "scale the noise by this `NUMBER` first, to see the audit refute it")
	return cmd
}

// auditedPlan reads a plan or makes one.
func (a *app) auditedPlan(ctx context.Context, path string) (*privacy.Plan, error) {
	if path != "" {
		var p graphcloak.Plan
		err := a.readPlan(path, &p)
		return p.Plan, err
	}
	job, err := a.job()
	if err != nil {
		return nil, err
	}
	s, err := a.openStore(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close(context.WithoutCancel(ctx))
	m, err := graphcloak.Load(ctx, s, job.Settings, loadOptions(a))
	if err != nil {
		return nil, err
	}
	a.notices(s)
	p, err := m.Plan(ctx, job.Plan)
	if err != nil {
		return nil, err
	}
	return p.Plan, nil
}

// audit attacks the mechanism, or one with less noise.
func (a *app) audit(ctx context.Context, p *privacy.Plan, trials int, weaken float64) error {
	noise, err := throwaway(p.Randomness)
	if err != nil {
		return err
	}
	options := audit.Options{Trials: trials, Delta: p.Delta, Progress: a.progress}
	var r *audit.Report
	if weaken == 1 {
		r, err = audit.Run(ctx, p, noise, options)
	} else {
		r, err = auditWeakened(ctx, p, noise, options, weaken)
	}
	if err != nil {
		return refusal(err)
	}
	result := struct {
		*audit.Report
		Weakened     float64  `json:"noiseScaledBy"`
		Verdict      string   `json:"verdict"`
		Guarantee    string   `json:"guarantee"`
		NotProtected []string `json:"notProtected"`
	}{r, weaken, r.String(), p.Sentence(), report.Exposed(p.ComponentCount)}
	if err := a.render(result, section{title: "Audit", text: r.String()}, section{title: "Guarantee", text: p.Sentence()}); err != nil {
		return err
	}
	if !r.Refuted {
		return nil
	}
	failure := fail(exitValidation, "the audit refutes (ε = %v, δ = %v): at least ε = %.3f", p.Epsilon, p.Delta, max(r.Distinguish.Epsilon, r.LowBits.Epsilon))
	if weaken < 1 {
		return failure.hint("as it should: the noise was scaled by %v", weaken)
	}
	return failure.hint("run it again: chance alone does this once in a million; if it stays, publish nothing and report it")
}

// throwaway is noise for made-up readings: an escrow plan gets a secret that is
// forgotten.
func throwaway(r privacy.Randomness) (privacy.Noise, error) {
	if r != privacy.EscrowRandomness {
		return nil, nil
	}
	secret := make([]byte, privacy.KeySize)
	rand.Read(secret)
	return privacy.NewEscrow(secret, "audit", 0)
}

// auditWeakened runs the distinguisher on a mechanism whose noise is too small.
func auditWeakened(ctx context.Context, p *privacy.Plan, noise privacy.Noise, options audit.Options, scale float64) (*audit.Report, error) {
	pair := audit.WorstPair(p)
	full := audit.OfPlan(p, noise)
	weak := func(y []float64) ([]float64, error) {
		out, err := full(y)
		for i := range out {
			out[i] = y[i] + scale*(out[i]-y[i])
		}
		return out, err
	}
	r := &audit.Report{Epsilon: p.Epsilon, Delta: p.Delta, Exact: []audit.Exact{}}
	var err error
	if r.Distinguish, err = audit.Distinguish(ctx, weak, pair, audit.Likelihood(p, pair), options); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	r.Refuted = r.Distinguish.Epsilon > p.Epsilon
	return r, nil
}

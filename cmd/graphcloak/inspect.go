// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
	"github.com/graphcloak/graphcloak/recovery/posterior"
	"github.com/graphcloak/graphcloak/study/inspect"
)

func newInspectCommand(app *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "inspect",
		Short: "The graph in the paper's terms: spectrum, condition, coherence, Δ₂",
		Long: "inspect reads the public graph and answers the paper's questions of it: algebraic connectivity, the spectrum of L, how\n" +
			"ill-conditioned and coherent e^{-τL} is, leverage scores, the certified sensitivity, the bounds of the paper's lemmas.\n" +
			"Beyond 5,000 nodes what takes all eigenpairs is left out. It reads no signal and spends nothing.",
		Example: "  graphcloak inspect --from example:karate --tau 2\n" +
			"  graphcloak inspect --uri neo4j://localhost:7687 -u neo4j --node-labels Person --format json",
		GroupID: groupPipeline,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return app.inspect(cmd.Context())
		},
	}
	return app.withSettings(cmd, map[string]string{"tau": "2"}, modelGroups, config.GroupPrivacy)
}

// inspection is the result: what the graph is, and what the budget makes of it.
type inspection struct {
	*inspect.Inspection
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	Sigma   float64 `json:"uniformSigma"` // before a plan adds what rounding may have done
	Ceiling float64 `json:"ceiling"`      // of telling two neighbours apart
}

func (a *app) inspect(ctx context.Context) error {
	settings, err := modelSettings(a.config)
	if err != nil {
		return err
	}
	if len(settings.Operators) == 0 {
		if err := a.checkOneTau(settings); err != nil {
			return err
		}
	}
	options, err := planOptions(a.config)
	if err != nil {
		return err
	}
	var model sensitivity.Model
	err = with(ctx, a.openReading, func(s graphStore) error {
		model, err = a.inspected(ctx, s, settings, options.Alpha)
		return err
	})
	if err != nil {
		return err
	}
	certify := sensitivity.Options{Tolerance: options.SensitivityTolerance}
	rand.Read(certify.Seed[:])
	in, err := inspect.Inspect(ctx, model, inspect.Options{Progress: a.progress, Sensitivity: certify})
	if err != nil {
		return err
	}
	sigma, err := privacy.Analytic{}.Sigma(options.Budget, in.Sensitivity.Upper)
	if err != nil {
		return err
	}
	return a.showInspection(inspection{
		in, options.Budget.Epsilon, options.Budget.Delta, sigma,
		posterior.Ceiling(in.Sensitivity.Upper, sigma),
	})
}

// checkOneTau refuses a τ that is no number.
func (a *app) checkOneTau(settings graphcloak.Settings) error {
	if settings.Tau.IsWide() || settings.Tau.IsSearched() {
		return fail(exitUsage, "--tau %v is for a plan: inspect shows one τ", a.config.Diffusion.Tau).hint("give it as --tau NUMBER")
	}
	if a.config.Origin("tau").Layer == config.LayerDefault {
		a.note("Note: this is at τ = %v; without --tau `plan` and `run` choose one, which their plan shows.", a.config.Diffusion.Tau)
	}
	return nil
}

// inspected reads the graph and the sensors, or the given operators.
func (a *app) inspected(ctx context.Context, s graphStore, settings graphcloak.Settings, alpha float64) (m sensitivity.Model, err error) {
	if len(settings.Operators) > 0 {
		given, err := a.model(ctx, s, settings)
		if err != nil {
			return m, err
		}
		return sensitivity.Model{Graph: given.Graph, Alpha: alpha, Given: given.Given()}, nil
	}
	g, err := s.Graph(ctx, settings.Selection)
	if err != nil {
		return m, fmt.Errorf("read graph: %w", err)
	}
	a.notices(s)
	sensors, err := s.Sensors(ctx, g, settings.Sensors)
	if err != nil {
		return m, fmt.Errorf("read sensors: %w", err)
	}
	if len(sensors) == 0 {
		return m, fmt.Errorf("%w: no node of the selection carries a sensor", plan.ErrEmpty)
	}
	if len(sensors) == g.Order() {
		sensors = nil
	}
	return sensitivity.Model{
		Graph: g, Laplacian: laplacian.New(g, settings.Laplacian), Tau: settings.Tau.Value(), Sensors: sensors, Alpha: alpha,
	}, nil
}

func (a *app) showInspection(in inspection) error {
	facts := term.Fields(in)
	facts.Title = "The graph and e^{-τL}"
	if in.EntryCount > 0 {
		facts.Title = "The graph and the given operator"
	}
	sections := []term.Section{facts, {
		Title: "Δ₂",
		Text: fmt.Sprintf("Δ₂ lies in [%.6g, %.6g]; the relationship of %q and %q attains the lower end.",
			in.Sensitivity.Lower, in.Sensitivity.Upper, in.Sensitivity.Edge[0], in.Sensitivity.Edge[1]),
	}}
	if len(in.Bounds) > 0 {
		sections = append(sections, term.Section{
			Title: "The paper's bounds", Columns: []string{"statement", "value", "holds"},
			Rows: term.Rows(in.Bounds, func(b inspect.Bound) []any { return []any{b.Statement, b.Value, b.Holds} }),
		})
	}
	if in.Leverage != nil {
		sections = append(sections, term.Section{
			Title:   fmt.Sprintf("Leverage scores of the first %d eigenvectors, largest first", in.Leverage.Vectors),
			Columns: []string{"nodeId", "score"},
			Rows:    term.Rows(in.Leverage.Top, func(s inspect.LeverageScore) []any { return []any{string(s.NodeID), s.Score} }),
		})
	}
	for _, n := range in.Notes {
		sections = append(sections, term.Section{Text: "Note: " + n})
	}
	return a.render(in, sections...)
}

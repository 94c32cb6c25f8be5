// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/allocation"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

func newPlanCommand(app *app) *cobra.Command {
	var packages sensorPackages
	var choice epsilonFlags
	var suggested suggestCount
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Sensitivity, noise and expected accuracy; spends nothing",
		Long: "plan reads the public graph only. It certifies the sensitivity, chooses the noise and the lattice of each\n" +
			"sensor, and simulates how often the right community would be named. The JSON output is a plan file for\n" +
			"`graphcloak release`. --sensor-package-dir makes a plan for sensors that add their noise themselves.\n" +
			"--target-accuracy and --target-emd find the least ε that gives an answer good enough; --curve draws what others\n" +
			"give. --suggest-sensors says instead which further nodes should carry sensors.",
		Example: "  graphcloak plan --from example:karate --epsilon 4 --delta 0.1\n" +
			"  graphcloak plan --uri neo4j://localhost:7687 -u neo4j --node-labels Person --node-key id -o plan.json\n" +
			"  graphcloak plan --from folder:mygraph --sensor-package-dir packages --releases 365 -o plan.json\n" +
			"  graphcloak plan --from example:karate --delta 0.1 --target-accuracy 0.9 --curve curve.png\n" +
			"  graphcloak plan --from folder:mygraph --sensor-property sensor --suggest-sensors 5",
		GroupID: groupPipeline,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return app.plan(cmd, packages, choice, int(suggested))
		},
	}
	cmd = app.withSettings(cmd, nil,
		config.GroupConnection, config.GroupSource, config.GroupProjection, config.GroupQueries, config.GroupDiffusion, config.GroupSensors,
		config.GroupSignal, config.GroupPrivacy, config.GroupEscrow, config.GroupRecovery, config.GroupCommunity,
		config.GroupOutput, config.GroupExecution)
	packages.flags(cmd.Flags())
	choice.flags(cmd.Flags())
	cmd.Flags().Var(&suggested, "suggest-sensors", "make no plan: choose this `NUMBER` of further sensors, each the one that tells most of the source, by --trials simulated sources, 1000 unless given")
	return cmd
}

// plan makes a plan, or suggests sensors where their number is not 0.
func (a *app) plan(cmd *cobra.Command, packages sensorPackages, choice epsilonFlags, suggested int) error {
	ctx := cmd.Context()
	if suggested > 0 {
		if err := a.checkSuggestion(choice, packages); err != nil {
			return err
		}
	}
	if err := a.needKey("a plan file"); err != nil {
		return err
	}
	if err := a.needJSON("a plan file"); err != nil && suggested == 0 {
		return err
	}
	if err := choice.check(a); err != nil {
		return err
	}
	job, err := a.job()
	if err != nil {
		return err
	}
	if err := packages.check(a.config); err != nil {
		return err
	}
	job.Plan.Measured = job.Plan.Measured || packages.dir != ""
	return a.onModel(ctx, job, func(m *graphcloak.Model) error {
		if suggested > 0 {
			trials := 0 // its own number
			if cmd.Flags().Changed("trials") {
				trials = choice.trials
			}
			return a.suggest(ctx, m, job, suggested, trials)
		}
		p, err := choice.plan(ctx, a, m, job)
		if err != nil {
			return err
		}
		if err := packages.write(a, p); err != nil {
			return err
		}
		a.noteBracket(p, job.Plan.SensitivityTime)
		if err := a.advise(ctx, m, p.Accuracy); err != nil {
			return err
		}
		var misfits []graphcloak.Misfit
		if a.outputFormat() == "table" {
			if misfits, err = m.Misfits(ctx, p); err != nil {
				return err
			}
		}
		return a.showPlan(p, misfits)
	})
}

// noteBracket tells of a joint sensitivity that is certified roughly only.
func (a *app) noteBracket(p *graphcloak.Plan, limit time.Duration) {
	b := p.Sensitivity
	if p.Guarantee == privacy.PerSensor || b.Upper <= 2*b.Lower {
		return
	}
	hint := "Rounding of the products with M keeps it open: a smaller --tau leaves larger differences, which are certified closely."
	if limit > 0 {
		hint = "A longer --sensitivity-time may narrow it."
	}
	how := "from above only"
	if b.Lower > 0 {
		how = fmt.Sprintf("within a factor of %.2g only", b.Upper/b.Lower)
	}
	a.note("Note: the sensitivity is certified %s, and noise follows its upper end. %s", how, hint)
}

func (a *app) showPlan(p *graphcloak.Plan, misfits []graphcloak.Misfit) error {
	bracket := p.Sensitivity
	if p.Allocated != nil {
		bracket = p.Allocated.Uniform.Sensitivity
	}
	facts := [][]any{
		{"nodeCount", cell(p.NodeCount, -1)},
		{"relationshipCount", cell(p.RelationshipCount, -1)},
		{"componentCount", cell(p.ComponentCount, -1)},
		{"epsilon", cell(p.Epsilon, -1)},
		{"delta", cell(p.Delta, -1)},
		{"sensitivity", fmt.Sprintf("%s to %s", cell(bracket.Lower, shownDigits), cell(bracket.Upper, shownDigits))},
		{"edge", fmt.Sprintf("%s, %s", bracket.Edge[0], bracket.Edge[1])},
		{"rho", cell(p.Cost().Rho(), shownDigits)},
	}
	sigma := sigmas(p.Noise())
	choices := [][]any{{"uniform", len(p.Sensors), sigma, nil, expected(p.Accuracy)}}
	if a := p.Allocated; a != nil {
		choices = [][]any{
			{"optimal, " + a.Objective.String(), len(p.Sensors), sigma, gap(a), expected(p.Accuracy)},
			{"uniform", a.Uniform.SensorCount, cell(a.Uniform.Sigma, shownDigits), nil, expected(a.Uniform.Accuracy)},
		}
	}
	rows := section{
		columns: []string{"nodeId", "sigma", "latticeExponent"},
		rows: rowsOf(p.Sensors, func(s privacy.SensorNoise) []any {
			return []any{string(s.ID), s.Sigma(), s.Exponent}
		}),
	}
	if a.outputFormat() != "table" {
		return a.render(p, rows)
	}
	sections := []section{
		{title: "Plan", columns: []string{"name", "value"}, rows: slices.Values(facts)},
		{
			title: "Noise at this guarantee; the first is the plan", columns: []string{"allocation", "sensors", "sigma", "gap", "expectedAccuracy"},
			rows: slices.Values(choices),
		},
	}
	if p.Accuracy != nil && p.Accuracy.Limit != nil {
		sections = append(sections, section{text: p.Accuracy.LimitSentence(p.Epsilon, p.Delta)})
	}
	if text := allocationCost(p); text != "" {
		sections = append(sections, section{text: text})
	}
	if len(misfits) > 0 {
		sections = append(sections, section{
			title: fmt.Sprintf("What ε = %v at δ = %v becomes where the process is not the model", p.Epsilon, p.Delta), columns: []string{"process", "epsilon"},
			rows: rowsOf(misfits, func(x graphcloak.Misfit) []any { return []any{x.Process, misfitEpsilon(x)} }),
			text: "--tau-range, --weight-error and --relationship-error declare how far it may be off, and the guarantee is certified for all of that.",
		})
	}
	return a.render(p, append(sections, section{title: "Guarantee", text: p.Sentence()})...)
}

func misfitEpsilon(x graphcloak.Misfit) string {
	switch {
	case math.IsInf(x.Epsilon, 1):
		return "beyond 100,000"
	case x.Bound:
		return "at most " + cell(x.Epsilon, shownDigits)
	}
	return cell(x.Epsilon, shownDigits)
}

// allocationCost warns where, to a reader who knows the amplitude, a source hides among
// fewer nodes than under uniform noise.
func allocationCost(p *graphcloak.Plan) string {
	if p.Allocated == nil || p.Accuracy == nil || p.Allocated.Uniform.Accuracy == nil {
		return ""
	}
	here, uniform := p.Accuracy.KnownMassSetSize, p.Allocated.Uniform.Accuracy.KnownMassSetSize
	if here >= uniform {
		return ""
	}
	return fmt.Sprintf("The price of allocation: from a reader who knows the mass, which is not protected, a source of mass 1 hides among %.3g nodes on average, "+
		"under uniform noise among %.3g. ε and δ are the same; --allocation uniform buys it back.", here, uniform)
}

// sigmas shows the σ of all sensors.
func sigmas(n report.Noise) string {
	if n.Sigma == 0 {
		return cell(n.SigmaMin, shownDigits) + " to " + cell(n.SigmaMax, shownDigits)
	}
	return cell(n.Sigma, shownDigits)
}

// gap is how far the allocation may be from the best, relative to the objective.
func gap(a *graphcloak.Allocated) string {
	const cut = "the search was cut short by --allocation-time"
	if a.Gap == nil {
		return "unknown: " + cut
	}
	text := cell(*a.Gap, 2)
	if a.Objective == allocation.Information {
		text = "about " + text // a first-order estimate
	}
	if a.CutShort {
		text += ": " + cut
	}
	return text
}

func expected(e *report.Accuracy) string {
	if e == nil {
		return "not simulated"
	}
	text := fmt.Sprintf("%.2f (95 %% interval %.2f to %.2f, chance %.2f, %d trials), mean distance %.3g", e.Probability, e.Lower, e.Upper, e.Chance, e.Trials, e.MeanEMD)
	if e.Elsewhere >= 0.005 {
		text += fmt.Sprintf(" and %.0f %% in other components", 100*e.Elsewhere)
	}
	return text + fmt.Sprintf("; hidden among %.3g nodes, %.3g if the mass is known", e.CredibleSetSize, e.KnownMassSetSize)
}

// maxFile bounds a file of ours in bytes: a plan or a release has a few hundred for
// each sensor.
const maxFile = 1 << 30

// readPlan reads a plan file. Its queries are agreed to where the settings hold them.
func (a *app) readPlan(path string, p *graphcloak.Plan) error {
	if err := readJSON(path, "plan", p); err != nil {
		return err
	}
	a.agreeQueries(&p.Model)
	return nil
}

// readRelease reads a release file as readPlan does.
func (a *app) readRelease(path string, r *graphcloak.Release) error {
	if err := readJSON(path, "release", r); err != nil {
		return err
	}
	a.agreeQueries(&r.Model)
	return nil
}

// agreeQueries lets the queries of a file run that the user gives as well.
func (a *app) agreeQueries(s *graphcloak.Settings) {
	s.Agree(a.config.Projection.NodeQuery, a.config.Projection.RelationshipQuery)
}

// readJSON reads a file of ours.
func readJSON(path, what string, v any) error {
	data, err := disk.Read(path, maxFile)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if err := strictjson.Unmarshal(data, v); err != nil {
		return fail(exitValidation, "%s %s: %w", what, path, err)
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/spf13/pflag"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/study"
)

// epsilonFlags hold the target that chooses ε, and the file for the curve over ε.
type epsilonFlags struct {
	trials int
	target float64 // 0: none
	curve  string
}

func (c *epsilonFlags) flags(f *pflag.FlagSet) {
	f.IntVar(&c.trials, "trials", study.DefaultTrials,
		fmt.Sprintf("simulated releases behind the expected accuracy, a `NUMBER`; %d go on to %d where they do not tell it from "+
			"chance; 0: none", study.DefaultTrials, study.ChanceTrials))
	f.Float64Var(&c.target, "target-accuracy", 0, "the least ε that is right this often; how often the right community is "+
		"named, a `NUMBER` in (0, 1)")
	f.StringVar(&c.curve, "curve", "", "the privacy–accuracy curve as a CSV `FILE`")
}

// check finds what is wrong with the flags, before anything is computed.
func (c *epsilonFlags) check(a *app) error {
	switch {
	case !(c.target >= 0 && c.target < 1):
		return fail(exitUsage, "--target-accuracy is %v, want a number in (0, 1)", c.target)
	case c.trials < 0:
		return fail(exitUsage, "--trials is %d, want a number ≥ 0", c.trials)
	case c.aimed() && a.config.Origin("epsilon").Layer == config.LayerFlag:
		return fail(exitUsage, "--epsilon says which ε, and a target finds one").hint(
			"leave --epsilon out: the plan says which ε it takes; or leave --target-accuracy out")
	case c.trials == 0 && (c.aimed() || c.curve != ""):
		return fail(exitUsage, "the target and the curve are simulated, and --trials is 0").hint("leave --trials out, or give more")
	}
	if c.curve == "" {
		return nil
	}
	return a.checkFile(c.curve)
}

// aimed reports whether ε is to be found.
func (c *epsilonFlags) aimed() bool { return c.target > 0 }

// plan makes the plan, with its expected accuracy and its curve.
func (c *epsilonFlags) plan(ctx context.Context, a *app, m *graphcloak.Model, job graphcloak.Job) (*graphcloak.Plan, error) {
	if c.trials == 0 {
		return m.Plan(ctx, job.Plan)
	}
	planned := m.Plan
	if c.aimed() {
		planned = func(ctx context.Context, opts graphcloak.PlanOptions) (*graphcloak.Plan, error) {
			return study.PlanFor(ctx, m.Model, opts, job.Recover, c.target, study.Sample{Trials: c.trials})
		}
	}
	p, err := planned(ctx, job.Plan)
	if err != nil {
		return nil, err
	}
	sample := study.Sample{Trials: c.trials}
	if c.trials == study.DefaultTrials {
		sample.Most = study.ChanceTrials
	}
	if err := study.Expect(ctx, m.Model, p, job.Recover, sample); err != nil || c.curve == "" {
		return p, err
	}
	points, err := study.Curve(ctx, m.Model, p, job.Recover, epsilonGrid(), study.Sample{Trials: c.trials})
	if err != nil {
		return nil, err
	}
	if p.TauChoice != nil || p.Allocated != nil {
		a.note("Note: the curve keeps %s of ε = %v throughout; a plan at another ε chooses again, and may be right more often.",
			keptBy(p), p.Epsilon)
	}
	return p, a.writeCurve(c.curve, p, points)
}

// farTooNear is a mean distance that no length of a relationship comes near: as good as none.
const farTooNear = 1e-9

// distanceText is a mean distance for a reader.
func distanceText(d float64) string {
	if d < farTooNear {
		d = 0
	}
	return term.Cell(d, term.FewDigits)
}

// epsilonGrid returns values of ε from 0.1 to 100, five a decade.
func epsilonGrid() []float64 {
	var list []float64
	for k := -5; k <= 10; k++ {
		list = append(list, math.Round(math.Pow(10, float64(k)/5)*1000)/1000)
	}
	return list
}

// keptBy names what a plan chose for its ε and keeps at others.
func keptBy(p *graphcloak.Plan) string {
	switch {
	case p.TauChoice == nil:
		return "the allocation"
	case p.Allocated == nil:
		return fmt.Sprintf("τ = %v", p.Public.Tau)
	}
	return fmt.Sprintf("τ = %v and the allocation", p.Public.Tau)
}

// writeCurve writes the curve of a plan, whose τ and allocation it keeps at every ε.
func (a *app) writeCurve(path string, plan *graphcloak.Plan, points []study.Point) error {
	return a.create(path, func(w io.Writer) error {
		return term.Form{Name: "csv"}.Write(w, nil, term.Section{
			Columns: []string{
				"epsilon", "accuracy", "accuracyLower", "accuracyUpper", "meanEmd",
				"uniformAccuracy", "uniformAccuracyLower", "uniformAccuracyUpper", "uniformMeanEmd", "chance", "trials", "limit", "tau",
			},
			Rows: term.Rows(points, func(p study.Point) []any {
				x, u := p.Accuracy, p.Uniform
				row := []any{
					p.Epsilon, x.Probability, x.Lower, x.Upper, x.MeanEMD, nil, nil, nil, nil, x.Chance, x.Trials, nil,
					plan.Public.Tau,
				}
				if x.Limit != nil {
					row[11] = x.Limit.Gaussian
				}
				if u != nil {
					copy(row[5:], []any{u.Probability, u.Lower, u.Upper, u.MeanEMD})
				}
				return row
			}),
		})
	})
}

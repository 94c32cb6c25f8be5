// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/plan"
)

// noteTau notes which τ was chosen, or that the τ of a measured process was assumed.
func (a *app) noteTau(p *graphcloak.Plan) {
	switch c := p.TauChoice; {
	case c == nil && p.Measured() && a.config.Origin("tau").Layer == config.LayerDefault:
		a.note("Note: τ = %v is assumed of the process that sensors measure. If it ran for another time, ε is another: give --tau "+
			"NUMBER, or --tau FROM..TO where it is not known exactly.", p.Public.Tau)
	case c == nil:
	case c.Note != "":
		a.note("Note: %s.", c.Note)
	default:
		aim := "to name the community best"
		if c.ByDistance {
			aim = "to come nearest to the source"
		}
		a.note("Note: τ = %v was chosen of %d that were tried, %s; --tau %v makes this plan without the search.", p.Public.Tau,
			len(c.Points), aim, p.Public.Tau)
	}
}

// tauSection shows what was tried.
func tauSection(p *graphcloak.Plan) []term.Section {
	if p.TauChoice == nil || len(p.TauChoice.Points) == 0 {
		return nil
	}
	return []term.Section{{
		Title:   "Diffusion times that were tried, in a rough simulation",
		Text:    "Judged by " + judgedBy(p.TauChoice),
		Columns: []string{"tau", "accuracy", "logLoss", "meanDistance", "noise", "chosen"},
		Rows: term.Rows(p.TauChoice.Points, func(x plan.TauPoint) []any {
			chosen := ""
			if x.Tau == p.Public.Tau {
				chosen = "yes"
			}
			return []any{
				term.Cell(x.Tau, -1), term.Cell(x.Accuracy, 3), term.Cell(x.LogLoss, 3), distanceText(x.Distance), noiseOf(x), chosen,
			}
		}),
	}}
}

// judgedBy says by what the values of τ are compared, and which of almost equal ones is taken.
func judgedBy(c *plan.TauChoice) string {
	switch {
	case c.ByDistance:
		return "meanDistance, of what is named from the source: the smallest tau within 1 % of the best, or within a tenth of its " +
			"gain over the worst, is chosen."
	case c.Hopeless:
		return fmt.Sprintf("accuracy, how often the right community is the likeliest. None is clearly better than chance, which is %s.",
			term.Cell(c.Chance, term.FewDigits))
	}
	return "accuracy, how often the right community is the likeliest: the smallest tau within half a point of the best, or within a " +
		"tenth of its gain over the worst, is chosen."
}

func noiseOf(x plan.TauPoint) string {
	if x.Allocated {
		return "optimal"
	}
	return "uniform"
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/plan"
)

// noteTau tells which τ was chosen, or that the τ of a measured process was assumed.
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
		if c.Aim == plan.AimLocation {
			aim = "to come nearest to the source"
		}
		a.note("Note: τ = %v was chosen of %d that were tried, %s; --tau %v makes this plan without the search.", p.Public.Tau,
			len(c.Points), aim, p.Public.Tau)
	}
}

// tauSection shows what was tried.
func tauSection(p *graphcloak.Plan) []section {
	if p.TauChoice == nil || len(p.TauChoice.Points) == 0 {
		return nil
	}
	return []section{{
		title:   "Diffusion times that were tried, in a rough simulation",
		text:    "Judged by " + judgedBy(p.TauChoice),
		columns: []string{"tau", "accuracy", "logLoss", "meanDistance", "noise", "chosen"},
		rows: rowsOf(p.TauChoice.Points, func(x plan.TauPoint) []any {
			chosen := ""
			if x.Tau == p.Public.Tau {
				chosen = "yes"
			}
			return []any{cell(x.Tau, -1), cell(x.Accuracy, 3), cell(x.LogLoss, 3), distanceText(x.Distance), noiseOf(x), chosen}
		}),
	}}
}

// judgedBy says by what the values of τ are compared, and which of nearly equal ones is taken.
func judgedBy(c *plan.TauChoice) string {
	switch {
	case c.Aim == plan.AimLocation:
		return "meanDistance, of what is named from the source. Less is better, and the smallest tau within 1 % of the best is chosen, " +
			"or within a tenth of what the best gains over the worst where that is less."
	case c.Hopeless:
		return fmt.Sprintf("accuracy, how often the right community is the likeliest. None is clearly better than chance, which is %s, "+
			"so the rows hardly differ, and the one that is chosen is no better than the others in practice.", cell(c.Chance, 3))
	}
	return "accuracy, how often the right community is the likeliest. More is better, and the smallest tau within half a point of the " +
		"best is chosen, or within a tenth of what the best gains over the worst where that is less."
}

func noiseOf(x plan.TauPoint) string {
	if x.Allocated {
		return "optimal"
	}
	return "uniform"
}

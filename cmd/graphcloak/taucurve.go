// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
)

// noteTau notes which τ was chosen, or that the τ of a measured process was assumed.
func (a *app) noteTau(p *graphcloak.Plan) {
	switch c := p.TauChoice; {
	case p.Given():
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

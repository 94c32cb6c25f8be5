// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/plan"
)

// noteCommunities tells where a plan from a file was made for other communities, or knows nothing of the prior, than it is
// evaluated with: its accuracy, and noise that was allocated, are for its own. What the file says is only compared with what
// the graph has.
func (a *app) noteCommunities(ctx context.Context, m *graphcloak.Model, p *graphcloak.Plan) error {
	ours, err := m.PlannedCommunities(ctx)
	if err != nil {
		return err
	}
	if made := p.Communities; made != nil && made.Digest != ours.Digest {
		a.noteOthers(made, ours, "Its noise and its own accuracy are for what it was made for")
	}
	if prior := m.PriorProperty; prior != "" && !slices.Contains(p.PublicProperties, prior) {
		a.note("Note: the plan was made without the prior %q: its noise and its own accuracy are for the prior it knows.", prior)
	}
	return nil
}

// noteReleased is noteCommunities for a release, which is recovered from.
func (a *app) noteReleased(ctx context.Context, m *graphcloak.Model, r *graphcloak.Release) error {
	if r.Communities == nil {
		return nil
	}
	ours, err := m.PlannedCommunities(ctx)
	if err != nil || r.Communities.Digest == ours.Digest {
		return err
	}
	what := "What its plan expected of its accuracy is of those it was made for"
	if r.Allocated != nil {
		what = "Its noise was allocated for those it was made for"
	}
	a.noteOthers(r.Communities, ours, what)
	return nil
}

// noteOthers says that a plan was made for communities other than ours.
func (a *app) noteOthers(made, ours *plan.PlannedCommunities, what string) {
	way := "name its --community-property"
	switch {
	case made.Property == "":
		way = "have them detected as they were"
	case made.Property == ours.Property:
		way = "the values of the property changed since"
	}
	a.note("Note: the plan was made for %s, and this is of %s. %s: %s.", communitiesText(made),
		communitiesText(ours), what, way)
}

// communitiesText is a number of communities, and where they come from.
func communitiesText(c *plan.PlannedCommunities) string {
	n := fmt.Sprintf("%d communities", c.Count)
	if c.Count == 1 {
		n = "1 community"
	}
	switch d := c.Detection; {
	case c.Property != "":
		return n + fmt.Sprintf(" (%q)", c.Property)
	case d != nil && d.Gamma != 0:
		return n + fmt.Sprintf(" (detected by %s, γ = %v)", d.Method, d.Gamma)
	case d != nil:
		return n + fmt.Sprintf(" (detected by %s)", d.Method)
	}
	return n
}

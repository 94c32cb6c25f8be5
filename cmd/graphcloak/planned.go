// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
	prior := m.PriorProperty
	made := p.Communities
	if made == nil {
		made = madeFor(p, ours)
	}
	if made != nil && made.Digest != ours.Digest {
		a.noteOthers(made, ours, "Its noise and its own accuracy are for what it was made for")
	}
	if prior != "" && !slices.Contains(p.PublicProperties, prior) {
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
	a.note("Note: the plan was made for %s, and this is of %s. %s: %s.", communitiesText(made, ours),
		communitiesText(ours, made), what, way)
}

// madeFor is what a file that does not say its communities tells of them, nil for nothing: how many its accuracy was
// simulated with, unless that and its public properties are as here.
func madeFor(p *graphcloak.Plan, ours *plan.PlannedCommunities) *plan.PlannedCommunities {
	if p.Accuracy == nil || len(p.Accuracy.Communities) == 0 {
		return nil
	}
	n := len(p.Accuracy.Communities)
	if n == ours.Count && (ours.Property == "" || slices.Contains(p.PublicProperties, ours.Property)) {
		return nil
	}
	return &plan.PlannedCommunities{Count: n}
}

// communitiesText is a number of communities, and where they come from as far as that is known and tells them from others.
func communitiesText(c, others *plan.PlannedCommunities) string {
	n := fmt.Sprintf("%d communities", c.Count)
	if c.Count == 1 {
		n = "1 community"
	}
	switch {
	case c.Property != "":
		return n + fmt.Sprintf(" (%q)", c.Property)
	case c.Detection != nil:
		return n + " (" + detectionText(c.Detection, others.Detection) + ")"
	}
	return n
}

// detectionText names how communities were detected, with the settings that are not those of other ones; beside communities
// that were not detected, with the resolution.
func detectionText(d, other *plan.Detection) string {
	parts := []string{"detected by " + d.Method}
	if d.Quality != "" {
		parts = append(parts, d.Quality)
	}
	if other == nil {
		other = &plan.Detection{Theta: d.Theta, MaxLevels: d.MaxLevels, RandomSeed: d.RandomSeed}
	}
	for _, x := range []struct {
		name        string
		value, than any // of one type
	}{
		{"γ", d.Gamma, other.Gamma},
		{"θ", d.Theta, other.Theta},
		{"levels", d.MaxLevels, other.MaxLevels},
		{"seed", d.RandomSeed, other.RandomSeed},
	} {
		if text := fmt.Sprint(x.value); x.value != x.than && text != "0" { // 0: the method's own
			parts = append(parts, x.name+" = "+text)
		}
	}
	return strings.Join(parts, ", ")
}

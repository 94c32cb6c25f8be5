// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"
	"strings"

	"github.com/graphcloak/graphcloak"
)

// checkSuggestion refuses flags of a plan, of which a suggestion makes none.
func (a *app) checkSuggestion(further int, asked bool, c choice, packages sensorPackages) error {
	switch {
	case asked && further < 1:
		return fail(exitUsage, "--suggest-sensors is %d, want a number ≥ 1", further)
	case further > 0 && (c.aimed() || c.curve != "" || packages.dir != ""):
		return fail(exitUsage, "--suggest-sensors makes no plan").hint("leave out targets, curve and packages; plan once the sensors are chosen")
	}
	return nil
}

// suggest prints which nodes should carry sensors.
func (a *app) suggest(ctx context.Context, m *graphcloak.Model, job graphcloak.Job, further int) error {
	s, err := m.Suggest(ctx, job.Plan, further, graphcloak.SuggestOptions{
		Communities: job.Recover.Communities, PriorProperty: job.Recover.PriorProperty, Seed: uint64(a.config.Community.RandomSeed),
	})
	if err != nil {
		return err
	}
	rows := [][]any{{0, "(the " + cell(s.Existing, -1) + " there are)", s.Before.Entropy, s.Before.StandardError, s.Before.CommunityEntropy, nil}}
	if a.outputFormat() != "table" {
		rows = nil
	}
	for i, x := range s.Sensors {
		rows = append(rows, []any{i + 1, string(x.NodeID), x.Entropy, x.StandardError, x.CommunityEntropy, x.Sigma})
	}
	return a.render(s, section{
		title:   "Suggested sensors: what all so far tell of the source, in bits that stay unknown",
		columns: []string{"order", "nodeId", "entropy", "standardError", "communityEntropy", "sigma"},
		rows:    slices.Values(rows),
	}, section{text: strings.Join(s.Notes, "\n")})
}

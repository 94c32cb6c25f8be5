// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/study"
)

// suggestCount is the number of sensors to suggest; 0: --suggest-sensors was not given.
type suggestCount int

func (n *suggestCount) String() string { return strconv.Itoa(int(*n)) }

// Type is its name in help.
func (n *suggestCount) Type() string { return "int" }

// Set refuses what is no number of sensors.
func (n *suggestCount) Set(text string) error {
	k, err := strconv.Atoi(text)
	if err != nil || k < 1 {
		return errors.New("want a whole number ≥ 1")
	}
	*n = suggestCount(k)
	return nil
}

// checkSuggestion refuses flags of a plan, of which a suggestion makes none, and flags
// that suppose other sources than it does.
func (a *app) checkSuggestion(c epsilonFlags, packages sensorPackages) error {
	given := func(key string) bool { return a.config.Origin(key).Layer == config.LayerFlag }
	switch r := a.config.Recovery; {
	case c.aimed() || c.curve != "" || packages.dir != "":
		return fail(exitUsage, "--suggest-sensors makes no plan").hint("leave out targets, curve and packages; plan once the sensors are chosen")
	case given("sources") && r.Sources.Count != 1, given("amplitude") && r.Amplitude != "one":
		return fail(exitUsage, "--suggest-sensors supposes one source of amplitude 1").hint("leave --sources and --amplitude out")
	case c.trials < 1:
		return fail(exitUsage, "--trials is %d, and --suggest-sensors simulates: want a number ≥ 1", c.trials)
	}
	return nil
}

// suggest prints which nodes should carry sensors.
func (a *app) suggest(ctx context.Context, m *graphcloak.Model, job graphcloak.Job, k, trials int) error {
	if _, err := m.ChooseTau(ctx, job.Plan); err != nil {
		return err
	}
	s, err := study.Suggest(ctx, m, job.Plan, k, study.SuggestOptions{
		Trials: trials, Seed: uint64(a.config.Community.RandomSeed),
	})
	if err != nil {
		return err
	}
	var there any // no node, for a program
	if a.outputFormat() == "table" {
		there = "(the " + cell(s.Existing, -1) + " there are)"
	}
	rows := [][]any{{0, there, s.Before.Entropy, s.Before.StandardError, s.Before.CommunityEntropy, nil}}
	for i, x := range s.Sensors {
		rows = append(rows, []any{i + 1, string(x.NodeID), x.Entropy, x.StandardError, x.CommunityEntropy, x.Sigma})
	}
	return a.render(s, section{
		title:   "Suggested sensors: what all so far tell of the source, in bits that stay unknown",
		columns: []string{"order", "nodeId", "entropy", "standardError", "communityEntropy", "sigma"},
		rows:    slices.Values(rows),
	}, section{text: strings.Join(s.Notes, "\n")})
}

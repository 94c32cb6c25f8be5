// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/report"
)

func TestAnswer(t *testing.T) {
	pair := func(prior, probability float64) []report.Community {
		return []report.Community{
			{Name: "a", Size: 50, Prior: prior, Probability: probability},
			{Name: "b", Size: 50, Prior: 1 - prior, Probability: 1 - probability},
		}
	}
	tests := []struct {
		name        string
		communities []report.Community
		prior       string
		posterior   report.Posterior
		want        string
	}{
		{
			"one",
			[]report.Community{{Name: "a", Size: 100, Prior: 1, Probability: 1}},
			"",
			report.Posterior{CredibleSetSize: 40},
			"single community",
		},
		{
			"clear", pair(.5, .9), "",
			report.Posterior{CredibleSetSize: 40},
			"most likely in community a (50 nodes), with probability 90 %. The source itself stays hidden among 40 nodes",
		},
		{
			"chance", pair(.5, .7), "",
			report.Posterior{CredibleSetSize: 40},
			"No community stands out: the likeliest, a, has probability 70 %, which was 50 % before the measurements.",
		},
		{"large by size alone", pair(.9, .95), "", report.Posterior{CredibleSetSize: 40}, "No community stands out"},
		{
			"small lead", pair(.05, .3), "",
			report.Posterior{CredibleSetSize: 40},
			"probability 30 %, which was 5 % before the measurements; more likely than not, the source is not there",
		},
		{"never certain", pair(.5, 1), "", report.Posterior{CredibleSetSize: 40}, "over 99 %"},
		{
			"not hidden", pair(.5, .98), "",
			report.Posterior{NodeID: "7", Probability: .97, CredibleSetSize: 1},
			"NOT hidden: node 7 holds 97 % of the probability",
		},
		{
			"the prior says it", pair(.98, .98), "risk",
			report.Posterior{CredibleSetSize: 1},
			"No community stands out: the likeliest, a, has probability 98 %, which was 98 % before the measurements.",
		},
		{"the data say it", pair(.02, .5), "risk", report.Posterior{CredibleSetSize: 3}, "most likely in community a"},
		{"the prior leaves nothing else", pair(1, 1), "risk", report.Posterior{CredibleSetSize: 3}, "No community stands out"},
	}
	for _, tt := range tests {
		r := report.Report{NodeCount: 100, Communities: tt.communities, Prior: tt.prior, Posterior: tt.posterior}
		r.SetAnswer()
		if !strings.Contains(r.Answer, tt.want) {
			t.Errorf("%s: %q does not say %q", tt.name, r.Answer, tt.want)
		}
	}
}

// TestAnswerOfSeveral: communities of the sizes given in a flat graph of 100 nodes.
func TestAnswerOfSeveral(t *testing.T) {
	tests := []struct {
		name          string
		sources       report.Sources
		sizes         [2]int
		probabilities [2]float64
		credible      int
		want          string
	}{
		{"one by evidence", report.Sources{Count: 1}, [2]int{50, 50}, [2]float64{.9, .1}, 9, "The source is most likely in community a"},
		{"both", report.Sources{Count: 2}, [2]int{30, 30}, [2]float64{.95, .9}, 9, "Of 2 sources, at least one is most likely in each " +
			"of these communities: a (30 nodes, probability 95 %), b (30 nodes, probability 90 %). The sources themselves stay hidden " +
			"among 9 nodes"},
		{
			"first",
			report.Sources{Count: 2},
			[2]int{30, 70},
			[2]float64{.95, .9},
			2, "most likely in community a (30 nodes, probability 95 %). The sources themselves are NOT hidden: 2 nodes hold " +
				"at least 95 %",
		},
		// 1 − C(50, 2)/C(100, 2) = 0.753: with replacement it would be 0.75.
		{"chance", report.Sources{Count: 2}, [2]int{50, 50}, [2]float64{.9, .9}, 9, "No community stands out: the likeliest, a, holds " +
			"one of 2 sources with probability 90 %, which was 75 % before the measurements."},
		{"the rest has no room", report.Sources{Count: 2}, [2]int{99, 1}, [2]float64{1, 0}, 90, "No community stands out"},
	}
	for _, tt := range tests {
		labels := slices.Concat(slices.Repeat([]int{0}, tt.sizes[0]), slices.Repeat([]int{1}, tt.sizes[1]))
		for len(labels) < 100 {
			labels = append(labels, 2)
		}
		chance := report.Chance(nil, labels, 3, max(1, tt.sources.Count))
		r := report.Report{
			NodeCount: 100, Sources: &tt.sources, Posterior: report.Posterior{CredibleSetSize: tt.credible},
			Communities: []report.Community{
				{Name: "a", Size: tt.sizes[0], Prior: chance[0], Probability: tt.probabilities[0]},
				{Name: "b", Size: tt.sizes[1], Prior: chance[1], Probability: tt.probabilities[1]},
			},
		}
		r.SetAnswer()
		if !strings.Contains(r.Answer, tt.want) {
			t.Errorf("%s: %q does not say %q", tt.name, r.Answer, tt.want)
		}
	}
}

// TestStatsOfEvidence: the evidence and what bounds leave open of it, where they do.
func TestStatsOfEvidence(t *testing.T) {
	runnerUp := 1.5
	for _, slack := range []float64{0, .25} {
		r := report.Report{Posterior: report.Posterior{LogRunnerUp: &runnerUp, LogPresence: -2, LogOddsError: slack}}
		columns, row := r.Stats()
		got := map[string]any{}
		for i, c := range columns {
			got[c] = row[i]
		}
		open, there := got["logOddsError"]
		if got["logOddsRunnerUp"] != 1.5 || got["logOddsNoSource"] != -2. || there != (slack > 0) || there && open != slack {
			t.Errorf("slack %v: %v, %v, %v", slack, got["logOddsRunnerUp"], got["logOddsNoSource"], open)
		}
	}
}

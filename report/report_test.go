// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/privacy"
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

// Small rates of an answer without a source can be told apart.
func TestRareFalseAlarmIsWritten(t *testing.T) {
	r := report.Report{
		Presence:    &report.Presence{PValue: .0014, FalseAlarm: 1e-4},
		Communities: []report.Community{{Name: "a", Size: 2, Prior: .5, Probability: .6}, {Name: "b", Size: 2, Prior: .5, Probability: .4}},
	}
	r.SetAnswer()
	if !strings.Contains(r.Answer, "as clearly in 0.14 % of cases, and a false alarm is allowed in 0.01 %") {
		t.Error(r.Answer)
	}
}

// A factor of any size is one that can be read.
func TestHugeFactor(t *testing.T) {
	r := report.Report{
		Fit:         &report.Fit{Alternatives: []report.Alternative{{Name: report.SecondSource, LogEvidence: 7e203}}},
		Communities: []report.Community{{Name: "a", Size: 2, Prior: 1, Probability: 1}},
	}
	r.SetAnswer()
	if !strings.Contains(r.Answer, "by a factor of more than 10^1000000)") {
		t.Error(r.Answer)
	}
}

// TestQualification: the sentence of a plan for each sensor, or for measured readings, is told
// from one that ε and δ say all of.
func TestQualification(t *testing.T) {
	for _, c := range []struct {
		kind   privacy.Guarantee
		errors float64 // 0: sensors measure
		want   []string
	}{
		{privacy.Joint, 1e-12, nil},
		{privacy.Joint, 0, []string{"as far as the process"}},
		{privacy.PerSensor, 1e-12, []string{"any single sensor"}},
		{privacy.PerSensor, 0, []string{"any single sensor", "as far as the process"}},
	} {
		p := privacy.Plan{Guarantee: c.kind, NormError: c.errors, Budget: privacy.Budget{Epsilon: 4, Delta: .01}}
		p.Alpha, p.Tau = 1, 2
		promise := p.Promise()
		got := (&report.Report{Guarantee: p.Sentence(), Promise: &promise}).Qualification()
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%v: %q, want %q", c, got, want)
			}
		}
		if c.want == nil && got != "" {
			t.Errorf("%v: %q, want nothing", c, got)
		}
	}
	if none := (&report.Report{Guarantee: "nothing is known"}); none.Qualification() != "" || none.Conditional() || none.EachSensor() {
		t.Errorf("without a promise: %q", none.Qualification())
	}
}

// TestChance enumerates the sets of nodes.
func TestChance(t *testing.T) {
	labels := []int{0, 1, 0, 2, 1, 0, 2, 3}
	for name, weight := range map[string][]float64{
		"flat":         nil,
		"weighted":     {5, 1, .5, 0, 2, 3, 7, .25},
		"one has most": {98, .3, .3, .3, .3, .3, .3, .2},
		"scaled":       {5e200, 1e200, .5e200, 0, 2e200, 3e200, 7e200, .25e200},
	} {
		for k := 1; k <= 2; k++ {
			all, holds := 0.0, make([]float64, 4)
			for set := range uint(1) << len(labels) {
				if bits.OnesCount(set) != k {
					continue
				}
				p, seen := 1.0, [4]bool{}
				for i, c := range labels {
					if set>>i&1 == 0 {
						continue
					}
					seen[c] = true
					if weight != nil {
						p *= weight[i] / weight[0]
					}
				}
				all += p
				for c, yes := range seen {
					if yes {
						holds[c] += p
					}
				}
			}
			for c, got := range report.Chance(weight, labels, 4, k) {
				if want := holds[c] / all; math.Abs(got-want) > 1e-13 {
					t.Errorf("%s prior, %d sources: community %d has %v, want %v", name, k, c, got, want)
				}
			}
		}
	}
}

// TestChanceOfMany: flat, 1 − C(n−s, k)/C(n, k), and 1 exactly where the rest cannot
// hold every source.
func TestChanceOfMany(t *testing.T) {
	const n = 1000
	for _, s := range []int{400, 998, 999} {
		labels := make([]int, n)
		for i := range s {
			labels[i] = 1
		}
		for k := 1; k <= 2; k++ {
			ratio := new(big.Rat).SetFrac(new(big.Int).Binomial(int64(n-s), int64(k)), new(big.Int).Binomial(n, int64(k)))
			none, _ := ratio.Float64()
			got := report.Chance(nil, labels, 2, k)[1]
			if math.Abs(got-(1-none)) > 1e-12 || k > n-s && got != 1 {
				t.Errorf("%d sources, %d of %d nodes: %v, want %v", k, s, n, got, 1-none)
			}
		}
	}
	// e₂ is 1e-400 of the square of the largest weight.
	for _, got := range report.Chance([]float64{1e200, 1e-200, 0, 0}, []int{0, 0, 1, 1}, 2, 2) {
		if got != 1 {
			t.Errorf("weights too small for e₂: %v, want 1", got)
		}
	}
}

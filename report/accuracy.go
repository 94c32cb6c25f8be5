// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
)

// Accuracy is how often the posterior names the right community, by simulation of
// a single source of amplitude 1 at a node that the prior draws.
type Accuracy struct {
	Probability float64 `json:"probability"`
	Lower       float64 `json:"lower"` // 95 % interval, by the normal score
	Upper       float64 `json:"upper"`
	Chance      float64 `json:"chance"` // of always naming the likeliest community of the prior
	Trials      int     `json:"trials"`
	// MeanEMD is the mean earth mover's distance from the source to the posterior within
	// its component, in units of the metric, and Elsewhere the mean share of the posterior
	// in other components, to which there is no distance.
	MeanEMD   float64 `json:"meanEmd"`
	Elsewhere float64 `json:"meanElsewhere"`
	// CredibleSetSize is the mean number of nodes in the 95 % credible set, and
	// KnownMassSetSize that to a reader who knows that the amplitude is 1.
	CredibleSetSize  float64 `json:"credibleSetSize"`
	KnownMassSetSize float64 `json:"credibleSetSizeKnownMass"`
	Limit            *Limit  `json:"limit,omitempty"` // of Probability; nil: unknown
	// Communities is the same by the community of the source; nil: unknown.
	Communities []CommunityAccuracy `json:"communities,omitempty"`
}

// CurvePoint is the simulated accuracy of a release at ε.
type CurvePoint struct {
	Epsilon  float64  `json:"epsilon"`
	Accuracy Accuracy `json:"accuracy"`
}

// LeastTrials is the least number of trials from which anything is concluded.
const LeastTrials = 20

// Few reports whether there were fewer trials than [LeastTrials].
func (a *Accuracy) Few() bool { return a.Trials < LeastTrials }

// AtChance reports whether the simulation does not tell the plan from always naming the likeliest community: the interval reaches
// down to that. Of no simulation nothing is said, and of a single community there is nothing to tell.
func (a *Accuracy) AtChance() bool {
	return a != nil && !a.Few() && a.Chance < 1 && a.Lower <= a.Chance
}

// Half is the probability of being right half of the way from chance to certainty: less is little for what it costs.
func Half(chance float64) float64 { return (1 + chance) / 2 }

// Possible reports whether so many trials can give these numbers.
func (a *Accuracy) Possible() bool {
	if a.Trials < 1 || a.Trials > mostTrials || !(a.Probability >= 0 && a.Probability <= 1) {
		return false
	}
	right := math.Round(a.Probability * float64(a.Trials))
	lower, upper := ScoreInterval(int(right), a.Trials)
	served := 0
	for k, c := range a.Communities {
		if served += c.Trials; c.CommunityID != k || !c.possible() {
			return false
		}
	}
	return (a.Communities == nil || served == a.Trials) &&
		close9(a.Probability, right/float64(a.Trials)) && close9(a.Lower, lower) && close9(a.Upper, upper) &&
		a.Chance > 0 && a.Chance <= 1 && a.MeanEMD >= 0 &&
		a.Elsewhere >= 0 && a.Elsewhere <= 1 && a.KnownMassSetSize >= 0 && a.CredibleSetSize >= 0 &&
		(a.Limit == nil || a.Limit.possible())
}

// LimitSentence says how far the limit, which is known, lies above a plan at (ε, δ).
func (a *Accuracy) LimitSentence(epsilon, delta float64) string {
	text := "Chance is " + Percent(a.Chance)
	if !a.Few() {
		text = fmt.Sprintf("%s right, chance %s", Percent(a.Probability), Percent(a.Chance))
	}
	return text + "; " + a.LimitClause(fmt.Sprintf("(%v, %v)", epsilon, delta)) + "."
}

// LimitClause is [Limit.Clause] of the limit, which is known, with a word on a simulation that
// came out above it.
func (a *Accuracy) LimitClause(guarantee string) string {
	text := a.Limit.Clause(guarantee)
	if !a.Few() && a.Probability > a.Limit.Gaussian {
		text += fmt.Sprintf("; that the simulation shows %s, which is more, is the noise of %d runs", Percent(a.Probability), a.Trials)
	}
	return text
}

// Nodes adds up the sizes of the communities.
func (a *Accuracy) Nodes() int {
	sum := 0
	for _, c := range a.Communities {
		sum += c.Size
	}
	return sum
}

// WorstServed returns the community that is found less often than the average beyond what chance
// does, most surely: whose interval ends lowest, of equal ones the first. The intervals hold
// together with 95 %, by Bonferroni's correction: the worst of many with two trials each says
// nothing. It is nil where there is none.
func (a *Accuracy) WorstServed() *CommunityAccuracy {
	if len(a.Communities) < 2 {
		return nil
	}
	var worst *CommunityAccuracy
	least := a.Probability
	for k := range a.Communities {
		c := &a.Communities[k]
		if c.Trials == 0 {
			continue
		}
		if _, upper := c.intervalOf(len(a.Communities)); upper < least {
			worst, least = c, upper
		}
	}
	return worst
}

// WorstSentence names the community that is surely served worse than the average; "" where
// chance explains the differences. Its interval is the one that says so.
func (a *Accuracy) WorstSentence() string {
	w := a.WorstServed()
	if w == nil {
		return ""
	}
	lower, upper := w.intervalOf(len(a.Communities))
	return fmt.Sprintf("Most surely served worse than the average is community %s, of %d nodes: sources there are found %.0f %% of the "+
		"time (%d simulated, 95 %% interval %.0f to %.0f %%, as one of %d communities).",
		w.Label(), w.Size, 100*w.Probability, w.Trials, 100*lower, 100*upper, len(a.Communities))
}

// SPDX-License-Identifier: Apache-2.0

package report

import "math"

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

const mostTrials = 1 << 40

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

// ScoreInterval returns Wilson's 95 % score interval of a proportion, k of n ≥ 1.
func ScoreInterval(k, n int) (lower, upper float64) {
	return scoreInterval(k, n, 1.959963984540054)
}

// scoreInterval is Wilson's with the quantile z of the normal distribution.
func scoreInterval(k, n int, z float64) (lower, upper float64) {
	p, m := float64(k)/float64(n), float64(n)
	middle := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(0, middle-half), min(1, middle+half)
}

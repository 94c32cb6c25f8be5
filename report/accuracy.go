// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"strconv"
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
	served := 0
	for k, c := range a.Communities {
		if served += c.Trials; c.CommunityID != k || !c.possible() {
			return false
		}
	}
	return (a.Communities == nil || served == a.Trials) && share(a.Probability, a.Lower, a.Upper, a.Trials) &&
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

// LimitClause says what no mechanism exceeds: none with the μ-Gaussian privacy of the noise, and none
// that keeps the guarantee, such as "(1, 1e-05)", which allows more. A bound above 99 % is left out.
// The limit is known; a simulation that came out above it gets a word.
func (a *Accuracy) LimitClause(guarantee string) string {
	l := a.Limit
	text := "no mechanism with the guarantee of this noise is right more than " + percentUp(l.Gaussian) + " of the time"
	if l.AnyMechanism != nil && *l.AnyMechanism <= .99 {
		text += ", and none that is " + guarantee + "-private more than " + percentUp(*l.AnyMechanism)
	}
	if !a.Few() && a.Probability > l.Gaussian {
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

// Limit bounds from above how often the community of a single source of mass 1 can be
// named at all, whatever the mechanism and whatever is made of its answer.
type Limit struct {
	// Gaussian holds for every mechanism with the μ-Gaussian privacy of the plan's noise,
	// AnyMechanism for every one that is (ε, δ)-private; nil where ε and δ are those of
	// each sensor alone.
	Gaussian     float64  `json:"gaussian"`
	AnyMechanism *float64 `json:"anyMechanism,omitempty"`
}

// possible reports whether these are probabilities.
func (l *Limit) possible() bool {
	return l.Gaussian > 0 && l.Gaussian <= 1 && (l.AnyMechanism == nil || *l.AnyMechanism >= l.Gaussian && *l.AnyMechanism <= 1)
}

// percentUp is a bound in per cent, rounded up to a tenth.
func percentUp(x float64) string {
	return strconv.FormatFloat(min(1000, math.Ceil(1000*x))/10, 'f', -1, 64) + " %"
}

const mostTrials = 1 << 40

// CommunityAccuracy is how often sources of one community were named rightly.
type CommunityAccuracy struct {
	CommunityID int     `json:"communityId"`
	Name        string  `json:"name,omitempty"`
	Size        int     `json:"size"`   // nodes
	Trials      int     `json:"trials"` // with a source in it
	Probability float64 `json:"probability"`
	Lower       float64 `json:"lower"` // 95 % interval, by the normal score; 0 to 1 without a trial
	Upper       float64 `json:"upper"`
}

// Label is what to call it.
func (c CommunityAccuracy) Label() string {
	if c.Name != "" {
		return c.Name
	}
	return strconv.Itoa(c.CommunityID)
}

// possible reports whether so many trials can give these numbers.
func (c *CommunityAccuracy) possible() bool {
	if c.Trials == 0 {
		return c.Size >= 1 && c.Probability == 0 && c.Lower == 0 && c.Upper == 1
	}
	return c.Size >= 1 && share(c.Probability, c.Lower, c.Upper, c.Trials)
}

// share reports whether so many trials can give this share with this interval.
func share(p, lower, upper float64, trials int) bool {
	if trials < 1 || trials > mostTrials || !(p >= 0 && p <= 1) {
		return false
	}
	right := math.Round(p * float64(trials))
	low, high := ScoreInterval(int(right), trials)
	return close9(p, right/float64(trials)) && close9(lower, low) && close9(upper, high)
}

// ScoreInterval returns Wilson's 95 % score interval of a proportion, k of n ≥ 1.
func ScoreInterval(k, n int) (lower, upper float64) {
	z := 1.959963984540054 // not a constant, whose square would be rounded otherwise
	p, m := float64(k)/float64(n), float64(n)
	middle := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(0, middle-half), min(1, middle+half)
}

func close9(x, y float64) bool { return math.Abs(x-y) <= 1e-9 }

// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"
	"strconv"

	"gonum.org/v1/gonum/stat/distuv"
)

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

const mostTrials = 1 << 40

// Label is what to call it.
func (c CommunityAccuracy) Label() string {
	if c.Name != "" {
		return c.Name
	}
	return strconv.Itoa(c.CommunityID)
}

// intervalOf is the interval of a community that was tried, one of so many whose intervals hold
// together with 95 %.
func (c *CommunityAccuracy) intervalOf(many int) (lower, upper float64) {
	z := distuv.UnitNormal.Quantile(1 - .025/float64(many))
	return scoreInterval(int(math.Round(c.Probability*float64(c.Trials))), c.Trials, z)
}

// possible reports whether so many trials can give these numbers.
func (c *CommunityAccuracy) possible() bool {
	if c.Size < 1 || c.Trials < 0 || c.Trials > mostTrials || !(c.Probability >= 0 && c.Probability <= 1) {
		return false
	}
	if c.Trials == 0 {
		return c.Probability == 0 && c.Lower == 0 && c.Upper == 1
	}
	right := math.Round(c.Probability * float64(c.Trials))
	lower, upper := ScoreInterval(int(right), c.Trials)
	return close9(c.Probability, right/float64(c.Trials)) && close9(c.Lower, lower) && close9(c.Upper, upper)
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

func close9(x, y float64) bool { return math.Abs(x-y) <= 1e-9 }

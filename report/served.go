// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
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

// Nodes adds up the sizes of the communities.
func (a *Accuracy) Nodes() int {
	sum := 0
	for _, c := range a.Communities {
		sum += c.Size
	}
	return sum
}

// Label is what to call it.
func (c CommunityAccuracy) Label() string {
	if c.Name != "" {
		return c.Name
	}
	return strconv.Itoa(c.CommunityID)
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

// intervalOf is the interval of a community that was tried, one of so many whose intervals hold
// together with 95 %.
func (c *CommunityAccuracy) intervalOf(many int) (lower, upper float64) {
	z := distuv.UnitNormal.Quantile(1 - .025/float64(many))
	return scoreInterval(int(math.Round(c.Probability*float64(c.Trials))), c.Trials, z)
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

func close9(x, y float64) bool { return math.Abs(x-y) <= 1e-9 }

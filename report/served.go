// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"strconv"
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

// WorstServed returns the community that is surely served worst, which is the one whose
// interval ends lowest; of equal ones the first. It is nil for fewer than two.
func WorstServed(list []CommunityAccuracy) *CommunityAccuracy {
	if len(list) < 2 {
		return nil
	}
	worst := &list[0]
	for k := range list {
		if list[k].Upper < worst.Upper {
			worst = &list[k]
		}
	}
	return worst
}

// WorstSentence names the community that is served worst; "" where none is worse than the
// average by more than chance.
func (a *Accuracy) WorstSentence() string {
	w := WorstServed(a.Communities)
	if w == nil || w.Upper >= a.Probability || w.Probability >= a.Probability {
		return ""
	}
	return fmt.Sprintf("Worst served is community %s, of %d nodes: sources there are found %.0f %% of the time (%d simulated, 95 %% interval %.0f to %.0f %%).",
		w.Label(), w.Size, 100*w.Probability, w.Trials, 100*w.Lower, 100*w.Upper)
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

// SPDX-License-Identifier: Apache-2.0

package study

import (
	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/report"
)

// ByCommunity says what trials show of each community, in their order.
func ByCommunity(trials []Trial, part community.Partition) []CommunityPerformance {
	list := make([]CommunityPerformance, part.Count)
	covered, rightNamed := make([]int, part.Count), make([]int, part.Count)
	sizes, confidence := make([]float64, part.Count), make([]float64, part.Count)
	for c, a := range byCommunity(trials, part) {
		list[c].CommunityAccuracy = a
	}
	for _, t := range trials {
		c := &list[t.Named]
		c.Named++
		confidence[t.Named] += t.Confidence
		rightNamed[t.Named] += indicator(t.Right)
		if t.Source >= 0 {
			l := part.Labels[t.Source]
			covered[l] += indicator(t.Covered)
			sizes[l] += float64(t.CredibleSetSize)
		}
	}
	for c := range list {
		p := &list[c]
		p.Coverage, p.RightNamed = proportionOrNil(covered[c], p.Trials), proportionOrNil(rightNamed[c], p.Named)
		p.CredibleSetSize, p.MeanConfidence = meanOrNil(sizes[c], p.Trials), meanOrNil(confidence[c], p.Named)
	}
	return list
}

// byCommunity counts how often the sources of each community are found.
func byCommunity(trials []Trial, part community.Partition) []report.CommunityAccuracy {
	list := make([]report.CommunityAccuracy, part.Count)
	right := make([]int, part.Count)
	for c, order := range part.Orders() {
		list[c].CommunityID, list[c].Size = c, order
		if part.Names != nil {
			list[c].Name = part.Names[c]
		}
	}
	for _, t := range trials {
		if t.Source >= 0 {
			l := part.Labels[t.Source]
			list[l].Trials++
			right[l] += indicator(t.Right)
		}
	}
	for c := range list {
		if n := list[c].Trials; n > 0 {
			p := proportion(right[c], n)
			list[c].Probability, list[c].Lower, list[c].Upper = p.Rate, p.Lower, p.Upper
		} else {
			list[c].Upper = 1
		}
	}
	return list
}

func meanOrNil(sum float64, n int) *float64 {
	if n == 0 {
		return nil
	}
	sum /= float64(n)
	return &sum
}

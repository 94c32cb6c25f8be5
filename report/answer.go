// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"
)

// SetAnswer writes the sentence from the ranking and the posterior.
func (r *Report) SetAnswer() {
	if r.Whisper != nil {
		r.Answer = r.whisperAnswer()
		return
	}
	if r.Answer = r.noAnswer(); r.Answer == "" {
		r.Answer = r.plainAnswer() + r.poorFit()
	}
}

// plainAnswer is the sentence where there is a source and the model holds.
func (r *Report) plainAnswer() string {
	if len(r.Communities) == 0 {
		return "There are no communities to rank."
	}
	if r.Sources != nil && r.Sources.Count > 1 {
		return r.multiSourceAnswer()
	}
	top, hidden := r.Communities[0], Count(r.Posterior.CredibleSetSize, "node")
	set := fmt.Sprintf("The source itself stays hidden among %s (95 %% credible set).", hidden)
	if r.Posterior.CredibleSetSize == 1 {
		set = fmt.Sprintf("The source itself is NOT hidden: node %s holds %s of the probability.", r.Posterior.NodeID,
			Percent(r.Posterior.Probability/r.sourceProbability()))
	} else if k := r.Posterior.KnownMassSetSize; k > 0 && k < r.Posterior.CredibleSetSize {
		set += fmt.Sprintf(" To a reader who knows that the mass is 1, which is not protected, it is %s.", Count(k, "node"))
	}
	switch {
	case len(r.Communities) == 1:
		return "The graph has a single community, so there is nothing to tell apart. " + set
	case r.standsOut(top) && top.Probability < 0.5:
		return fmt.Sprintf("Community %s (%s) is the likeliest, with probability %s, which was %s before the measurements; more likely "+
			"than not, the source is not there.%s %s",
			top.Name, Count(top.Size, "node"), Percent(top.Probability), Percent(top.Prior), r.certainty(), set)
	case r.standsOut(top):
		return fmt.Sprintf("The source is most likely in community %s (%s), with probability %s.%s %s",
			top.Name, Count(top.Size, "node"), Percent(top.Probability), r.certainty(), set)
	default:
		return fmt.Sprintf("No community stands out: the likeliest, %s, has probability %s, which was %s before the measurements.%s %s",
			top.Name, Percent(top.Probability), Percent(top.Prior), r.certainty(), set)
	}
}

// multiSourceAnswer is the sentence for two sources.
func (r *Report) multiSourceAnswer() string {
	k, hidden := r.Sources.Count, Count(r.Posterior.CredibleSetSize, "node")
	var named []string
	for _, c := range r.Communities {
		if c.Probability >= .5 && r.standsOut(c) {
			named = append(named, fmt.Sprintf("%s (%s, probability %s)", c.Name, Count(c.Size, "node"), Percent(c.Probability)))
		}
	}
	set := fmt.Sprintf("The sources themselves stay hidden among %s (95 %% of those expected).", hidden)
	if r.Posterior.CredibleSetSize <= k {
		set = fmt.Sprintf("The sources themselves are NOT hidden: %s hold at least 95 %% of those expected.", hidden)
	}
	switch top := r.Communities[0]; {
	case len(r.Communities) == 1:
		return "The graph has a single community, so there is nothing to tell apart. " + set
	case len(named) == 0:
		return fmt.Sprintf("No community stands out: the likeliest, %s, holds one of %d sources with probability %s, which was %s "+
			"before the measurements. %s",
			top.Name, k, Percent(top.Probability), Percent(top.Prior), set)
	}
	where := "community"
	if len(named) > 1 {
		where = "each of these communities:"
	}
	return fmt.Sprintf("Of %d sources, at least one is most likely in %s %s. %s", k, where, strings.Join(named, ", "), set)
}

// certainty says how likely it is that there is no source, which every probability allows for; "": hardly.
func (r *Report) certainty() string {
	p, but := r.sourceProbability(), ""
	if p >= certain {
		return ""
	}
	if q := r.Presence.SharedOffset; q > (1-p)/2 {
		but = ", or that neighbouring sensors are off together"
	}
	return fmt.Sprintf(" It allows for a chance of %s that there is no source%s.", Percent(1-p), but)
}

// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"math"
	"strconv"

	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

// fewDigits are those that a mean of a simulation has.
const fewDigits = 3

// Answer says what the plan promises, and how often the answer would be right.
func (p *Plan) Answer() string {
	head := fmt.Sprintf("At ε = %v and δ = %v", p.Epsilon, p.Delta)
	if r := p.Uncertainty.Tau(); r.IsWide() {
		head += fmt.Sprintf(", certified for any τ from %v to %v,", r.From, r.To)
	}
	if p.Guarantee == privacy.PerSensor {
		head += " of each sensor's value by itself (of all together ε is larger),"
	}
	e := p.Accuracy
	if s := p.Searched(); e == nil && s != nil && p.Allocated == nil {
		return fmt.Sprintf("%s the answer was right in %s of %d simulated runs.", head, report.Percent(s.Equal), s.Trials)
	} else if e == nil && s != nil {
		return fmt.Sprintf("%s the answer was right in %s of %d simulated runs; with the same σ everywhere it was in %s.", head,
			report.Percent(s.Right), s.Trials, report.Percent(s.Equal))
	}
	if e == nil {
		return head + " a source stays hidden within α; how often the answer would be right was not simulated."
	}
	if e.Few() {
		return fmt.Sprintf("%s a source stays hidden within α; how often the answer would be right is not told by %s: --trials %d "+
			"or more are.",
			head, report.Count(e.Trials, "simulated run"), report.LeastTrials)
	}
	return fmt.Sprintf("%s the answer would be right in %s of the runs (95 %% interval %.0f to %.0f %%), where chance is right in %s; "+
		"the source would stay hidden among %s on average.",
		head, report.Percent(e.Probability), 100*e.Lower, 100*e.Upper, report.Percent(e.Chance), nodesOnAverage(e.CredibleSetSize))
}

// nodesOnAverage is a mean number of nodes.
func nodesOnAverage(n float64) string {
	text := strconv.FormatFloat(n, 'g', fewDigits, 64)
	if n >= 999.5 { // as many digits count, and all are written
		digits := math.Pow(10, math.Floor(math.Log10(n))+1-fewDigits)
		text = strconv.FormatFloat(math.Round(n/digits)*digits, 'f', 0, 64)
	}
	if text == "1" {
		return "1 node"
	}
	return text + " nodes"
}

// PriceOfAllocation warns where, to a reader who knows the amplitude, a source hides among
// fewer nodes than under uniform noise.
func (p *Plan) PriceOfAllocation() string {
	if p.Allocated == nil || p.Accuracy == nil || p.Allocated.Uniform.Accuracy == nil {
		return ""
	}
	here, uniform := p.Accuracy.KnownMassSetSize, p.Allocated.Uniform.Accuracy.KnownMassSetSize
	if here >= uniform {
		return ""
	}
	return fmt.Sprintf("The price of allocation: from a reader who knows the mass, which is not protected, a source of mass 1 hides "+
		"among %s on average, under uniform noise among %.3g. ε and δ are the same; --allocation uniform buys it back.",
		nodesOnAverage(here), uniform)
}

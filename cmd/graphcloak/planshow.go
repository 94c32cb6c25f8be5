// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

// showPlan shows a plan. Its file holds no other accuracy than its own; a reader is shown the one that is given.
func (a *app) showPlan(p *graphcloak.Plan, accuracy *report.Accuracy) error {
	if a.outputFormat() != "table" {
		return a.render(p, term.Section{
			Columns: []string{"nodeId", "sigma", "latticeExponent"},
			Rows: term.Rows(p.Sensors, func(s privacy.SensorNoise) []any {
				return []any{string(s.ID), s.Sigma(), s.Exponent}
			}),
		})
	}
	shown := *p
	shown.Accuracy = accuracy
	p = &shown
	sections := []term.Section{
		{
			Title:   "Noise at this guarantee, the plan's first; a source hides among so many nodes",
			Columns: []string{"allocation", "sensors", "right", "interval", "hidden", "known mass"},
			Rows:    slices.Values(planChoices(p)),
		},
		{Text: uniformReason(p)},
		{Text: accuracyLimit(p)},
		{Text: allocationCost(p)},
	}
	return a.render(p, append(sections, term.Section{Title: "Guarantee", Text: p.Sentence(), Detail: true},
		term.Section{Answer: planAnswer(p)},
		term.Section{Items: append(qualified(p.Promise().Qualified()),
			term.Item{Mark: "Spent", Text: "nothing: a plan reads no signal"},
			term.Item{Mark: "Next", Text: "-o plan.json keeps the plan with every number, and release --plan takes it; -v shows the " +
				"guarantee in words"},
		)})...)
}

// planAnswer says what the plan promises, and how often the answer would be right.
func planAnswer(p *graphcloak.Plan) string {
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
	text := strconv.FormatFloat(n, 'g', term.FewDigits, 64)
	if n >= 999.5 { // as many digits count, and all are written
		digits := math.Pow(10, math.Floor(math.Log10(n))+1-term.FewDigits)
		text = strconv.FormatFloat(math.Round(n/digits)*digits, 'f', 0, 64)
	}
	if text == "1" {
		return "1 node"
	}
	return text + " nodes"
}

// uniformReason says why noise is uniform though it might have been allocated.
func uniformReason(p *graphcloak.Plan) string {
	if p.UniformReason == "" {
		return ""
	}
	return "Noise is uniform: " + p.UniformReason + "."
}

// accuracyLimit says what no analysis of the measurements could pass.
func accuracyLimit(p *graphcloak.Plan) string {
	if p.Accuracy == nil || p.Accuracy.Limit == nil || p.Accuracy.Limit.Gaussian > .99 { // a bound of 100 % bounds nothing
		return ""
	}
	return p.Accuracy.LimitSentence(p.Epsilon, p.Delta)
}

// planChoices are the plan's noise and what it was chosen over: a row each.
func planChoices(p *graphcloak.Plan) [][]any {
	if s := p.Simulated; s != nil && p.Allocated == nil && p.Accuracy == nil {
		return [][]any{searchedChoice("uniform", len(p.Sensors), s.Equal, s.Trials)}
	}
	if p.Allocated == nil {
		return [][]any{planChoice("uniform", len(p.Sensors), p.Accuracy)}
	}
	uniform := p.Allocated.Uniform
	if s := p.Allocated.Simulated; s != nil && p.Accuracy == nil {
		return [][]any{
			searchedChoice("optimal", len(p.Sensors), s.Right, s.Trials),
			searchedChoice("uniform", uniform.SensorCount, s.Equal, s.Trials),
		}
	}
	return [][]any{planChoice("optimal", len(p.Sensors), p.Accuracy), planChoice("uniform", uniform.SensorCount, uniform.Accuracy)}
}

// searchedChoice is the row of noise that the search for an allocation simulated.
func searchedChoice(name string, sensors int, right float64, trials int) []any {
	lower, upper := report.ScoreInterval(int(math.Round(right*float64(trials))), trials)
	return []any{name, sensors, term.Probability(right), fmt.Sprintf("%.2f–%.2f", lower, upper), nil, nil}
}

func planChoice(name string, sensors int, e *report.Accuracy) []any {
	if e == nil {
		return []any{name, sensors, "not simulated", nil, nil, nil}
	}
	return []any{
		name, sensors, term.Probability(e.Probability), fmt.Sprintf("%.2f–%.2f", e.Lower, e.Upper),
		term.Cell(e.CredibleSetSize, term.FewDigits), term.Cell(e.KnownMassSetSize, term.FewDigits),
	}
}

// allocationCost warns where, to a reader who knows the amplitude, a source hides among
// fewer nodes than under uniform noise.
func allocationCost(p *graphcloak.Plan) string {
	if p.Allocated == nil || p.Accuracy == nil || p.Allocated.Uniform.Accuracy == nil {
		return ""
	}
	here, uniform := p.Accuracy.KnownMassSetSize, p.Allocated.Uniform.Accuracy.KnownMassSetSize
	if here >= uniform {
		return ""
	}
	return fmt.Sprintf("The price of allocation: from a reader who knows the mass, which is not protected, a source of mass 1 hides "+
		"among %s on average, "+
		"under uniform noise among %.3g. ε and δ are the same; --allocation uniform buys it back.", nodesOnAverage(here), uniform)
}

// sigmas shows the σ of all sensors.
func sigmas(n report.Noise) string {
	if n.Sigma == 0 {
		return term.Cell(n.SigmaMin, term.Digits) + " to " + term.Cell(n.SigmaMax, term.Digits)
	}
	return term.Cell(n.Sigma, term.Digits)
}

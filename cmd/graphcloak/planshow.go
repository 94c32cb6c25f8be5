// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

// showPlan shows a plan. Its file holds no other accuracy than its own; a reader is shown the one that is given.
func (a *app) showPlan(p *graphcloak.Plan, accuracy *report.Accuracy) error {
	if a.outputFormat() != "table" {
		return a.render(p, term.Table([]string{"nodeId", "sigma", "latticeExponent"}, p.Sensors, func(s privacy.SensorNoise) []any {
			return []any{string(s.ID), s.Sigma(), s.Exponent}
		}))
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
		{Text: p.PriceOfAllocation()},
	}
	return a.render(p, append(sections, term.Section{Title: "Guarantee", Text: p.Sentence(), Detail: true},
		term.Section{Answer: p.Answer()},
		spentAndNext("nothing: a plan reads no signal", "-o plan.json keeps the plan with every number, and release --plan takes it; "+
			"-v shows the guarantee in words", qualified(p.Promise().Qualified())...))...)
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

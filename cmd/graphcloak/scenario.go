// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/study"
)

// allScenarios is the value of --scenario that compares them.
const allScenarios = "all"

func scenarioNames() []string {
	var names []string
	for _, s := range study.Scenarios() {
		names = append(names, s.Name)
	}
	return append(names, allScenarios)
}

// scenarioList is the help on the names.
func scenarioList() string {
	var lines []string
	for _, s := range study.Scenarios() {
		lines = append(lines, fmt.Sprintf("  %-15s %s", s.Name, s.About))
	}
	return strings.Join(lines, "\n")
}

func completeScenarios(cmd *cobra.Command) {
	if err := cmd.RegisterFlagCompletionFunc("scenario", cobra.FixedCompletions(scenarioNames(), cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag was added just before
	}
}

// scenarioTable is what a comparison holds in JSON.
type scenarioTable struct {
	Scenarios []*study.Evaluation `json:"scenarios"`
}

// compareScenarios evaluates the plan in every scenario.
func (a *app) compareScenarios(ctx context.Context, m *graphcloak.Model, p *graphcloak.Plan, o study.Options) error {
	var all scenarioTable
	var machine [][]any
	for _, s := range study.Scenarios() {
		o.Scenario = s.Name
		e, err := study.Evaluate(ctx, m, p, o)
		if err != nil {
			return err
		}
		all.Scenarios, machine = append(all.Scenarios, e), append(machine, rates(e)...)
	}
	if a.outputFormat() != "table" {
		return a.render(all, section{rows: slices.Values(machine), columns: rateColumns()})
	}
	first := all.Scenarios[0]
	return a.render(all, section{
		title:   fmt.Sprintf("%d simulated releases in each scenario; plan and posterior know the model only", o.Trials),
		columns: []string{"scenario", "what happens", "right", "stands out", "mean confidence", "calibration error", "coverage of the 95 % set"},
		rows: rowsOf(all.Scenarios, func(e *study.Evaluation) []any {
			s, _ := study.FindScenario(e.Scenario)
			return scenarioRow(s, e)
		}),
		text: fmt.Sprintf("Chance is %s. %s With two sources it is right to name the community of either.", decimals(first.Chance), calibrated(first)),
	})
}

// calibrated compares the calibration error of the model with what chance makes of none.
func calibrated(e *study.Evaluation) string {
	text := fmt.Sprintf("A calibrated answer would have a calibration error of up to %s by chance (95 %% quantile); that of the model is %s: ",
		decimals(e.Calibration.Limit), decimals(e.Calibration.Error))
	if e.Calibration.Error <= e.Calibration.Limit {
		return text + "its confidence is as good as it says."
	}
	return text + "its confidence is off, as where sources have another amplitude than the answer supposes."
}

func scenarioRow(s study.Scenario, e *study.Evaluation) []any {
	if s.Sourceless() {
		return []any{s.Name, s.About, "–", rate(&e.Answered), "–", "–", "–"}
	}
	return []any{
		s.Name, s.About, rate(&e.Right), decimals(e.Answered.Rate), decimals(e.Calibration.MeanConfidence), decimals(e.Calibration.Error), rate(&e.Coverage),
	}
}

// manyCommunities are told only under --verbose.
const manyCommunities = 20

// served is how the plan serves each community, and the one it serves worst.
func served(e *study.Evaluation) []section {
	list := make([]report.CommunityAccuracy, len(e.Communities))
	for k, c := range e.Communities {
		list[k] = c.CommunityAccuracy
	}
	a := report.Accuracy{Probability: e.Right.Rate, Communities: list}
	table := section{
		title:   "By community, " + e.Allocation + " noise",
		columns: []string{"community", "nodes", "sources", "found", "named", "mean confidence", "right if named", "coverage", "set size"},
		rows: rowsOf(e.Communities, func(c study.CommunityPerformance) []any {
			found := "–"
			if c.Trials > 0 {
				found = rate(&study.Proportion{Rate: c.Probability, Lower: c.Lower, Upper: c.Upper})
			}
			return []any{c.Label(), c.Size, c.Trials, found, c.Named, mean(c.MeanConfidence, decimals), rate(c.RightNamed), rate(c.Coverage), mean(c.CredibleSetSize, func(x float64) string { return cell(x, 3) })}
		}),
		detail: len(list) > manyCommunities,
	}
	if text := a.WorstSentence(); text != "" {
		return []section{table, {text: text}}
	}
	return []section{table}
}

// mean is a number, or a dash for none.
func mean(x *float64, show func(float64) string) string {
	if x == nil {
		return "–"
	}
	return show(*x)
}

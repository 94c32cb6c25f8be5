// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/internal/suggest"
	"github.com/graphcloak/graphcloak/plan"
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
		lines = append(lines, fmt.Sprintf("  %-16s %s", s.Name, s.About))
	}
	return strings.Join(lines, "\n")
}

func completeScenarios(cmd *cobra.Command) {
	if err := cmd.RegisterFlagCompletionFunc("scenario",
		cobra.FixedCompletions(scenarioNames(), cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag was added just before
	}
}

// scenarioTable is what a comparison holds in JSON.
type scenarioTable struct {
	Scenarios []*study.Evaluation `json:"scenarios"`
}

// choose reads what --scenario names: one scenario, built in or one of the plan's graphs, all of
// them, or those of a file beside the model.
func (e *evaluation) choose(planned []plan.Alternative) ([]study.Scenario, error) {
	name := e.options.Scenario
	list := study.Scenarios()
	if _, known := study.FindScenario(name); !known && name != allScenarios &&
		!slices.ContainsFunc(planned, func(x plan.Alternative) bool { return x.Name == name }) {
		if _, err := os.Stat(name); err != nil {
			return nil, errScenario(name, planned)
		}
		var err error
		if planned, err = readAlternatives(name); err != nil {
			return nil, err
		}
		name, list = allScenarios, list[:1]
	}
	e.options.Alternatives = planned
	for _, x := range planned {
		if named(x) { // as in a plan that another program made: the scenario that evaluate knows keeps its name
			continue
		}
		list = append(list, study.OnAlternative(x))
	}
	if name == allScenarios {
		return list, nil
	}
	k := slices.IndexFunc(list, func(s study.Scenario) bool { return s.Name == name })
	return list[k : k+1], nil
}

// named reports whether a graph has the name of a scenario that evaluate knows.
func named(x plan.Alternative) bool { return slices.Contains(scenarioNames(), x.Name) }

// errScenario refuses what is no name and no file.
func errScenario(name string, planned []plan.Alternative) error {
	var own []string
	for _, x := range planned {
		own = append(own, x.Name)
	}
	err := fail(exitUsage, "there is no scenario %q, and no such file", name)
	if near := suggest.Nearest(name, append(scenarioNames(), own...)); near != "" {
		return err.hint("--scenario %s", near)
	}
	known := strings.Join(scenarioNames(), ", ")
	if len(own) > 0 {
		return err.hint("the scenarios are %s, and the plan's own: %s", known, fewNames(own))
	}
	return err.hint("the scenarios are %s", known)
}

// compareScenarios evaluates the plan in every scenario of a list.
func (a *app) compareScenarios(ctx context.Context, m *graphcloak.Model, p *graphcloak.Plan, o study.Options, list []study.Scenario) error {
	var all scenarioTable
	var machine [][]any
	for k, s := range list {
		a.partOf(k+1, len(list), "scenario", s.Name)
		o.Scenario = s.Name
		e, err := study.Evaluate(ctx, m.Model, p, o)
		if err != nil {
			return err
		}
		all.Scenarios, machine = append(all.Scenarios, e), append(machine, rates(e)...)
	}
	if a.outputFormat() != "table" {
		return a.render(all, section{rows: slices.Values(machine), columns: rateColumns()})
	}
	first, who := all.Scenarios[0], "plan and posterior know the model only"
	switch {
	case p.Uncertainty.Alternatives > 0:
		who = "the posterior knows the model and the graphs of the plan"
	case p.Uncertainty.Any():
		who = "the posterior knows the model only"
	}
	return a.render(all, section{
		title: fmt.Sprintf("%d simulated releases in each scenario; %s", o.Trials, who),
		columns: []string{
			"scenario", "what happens", "right", "source found", "stands out", "mean confidence", "calibration error",
			"coverage of the 95 % set",
		},
		rows: func(yield func([]any) bool) {
			for k, e := range all.Scenarios {
				if !yield(scenarioRow(list[k], e)) {
					return
				}
			}
		},
		narrow: narrowScenarios(list, all.Scenarios),
		text: strings.Join(append([]string{"Chance is " + decimals(first.Chance) + ".", calibrated(first)}, a.scenarioRemarks(list)...),
			" "),
	})
}

// scenarioRemarks say what of a table cannot happen, and what is right with two sources.
func (a *app) scenarioRemarks(list []study.Scenario) (texts []string) {
	if slices.ContainsFunc(list, study.Scenario.Several) {
		texts = append(texts, "With two sources it is right to name the community of either.")
	}
	var never []string
	for _, s := range list {
		if s.OfProcess() {
			never = append(never, s.Name)
		}
	}
	if a.config.Signal.MeasurementProperty == "" && len(never) > 0 {
		texts = append(texts, fmt.Sprintf("Where --source-property names the sources, GraphCloak computes the readings by the model "+
			"itself, and this cannot happen: %s. With --measurement-property it can.", strings.Join(never, ", ")))
	}
	return texts
}

// calibrated compares the calibration error of the model with what chance makes of none.
func calibrated(e *study.Evaluation) string {
	text := fmt.Sprintf("A calibrated answer would have a calibration error of up to %s by chance (95 %% quantile); that of the "+
		"model is %s: ",
		decimals(e.Calibration.Limit), decimals(e.Calibration.Error))
	if e.Calibration.Error <= e.Calibration.Limit {
		return text + "its confidence is as good as it says."
	}
	return text + "its confidence is off, as where sources have another amplitude than the answer supposes."
}

func scenarioRow(s study.Scenario, e *study.Evaluation) []any {
	if s.Sourceless() {
		return []any{s.Name, s.About, "–", rate(&e.Detected), rate(&e.Answered), "–", "–", "–"}
	}
	return []any{
		s.Name, s.About, rate(&e.Right), decimals(e.Detected.Rate), decimals(e.Answered.Rate), decimals(e.Calibration.MeanConfidence),
		decimals(e.Calibration.Error), rate(&e.Coverage),
	}
}

// narrowScenarios is the comparison on a screen of 80 columns; what happens stands below it.
func narrowScenarios(list []study.Scenario, all []*study.Evaluation) *section {
	s := &section{
		columns: []string{"scenario", "right", "found", "named", "conf.", "error", "cover"},
		rows: func(yield func([]any) bool) {
			for k, e := range all {
				row := scenarioRow(list[k], e)
				if !list[k].Sourceless() {
					row[2], row[7] = decimals(e.Right.Rate), decimals(e.Coverage.Rate)
				} else {
					row[3], row[4] = decimals(e.Detected.Rate), decimals(e.Answered.Rate)
				}
				if !yield(append(row[:1], row[2:]...)) {
					return
				}
			}
		},
	}
	for _, x := range list {
		s.text += "- " + x.Name + ": " + x.About + "\n"
	}
	s.text += "Found is how often the answer finds a source at all, named how often a community stands out, conf. the mean confidence " +
		"that is stated, error that of its calibration, cover the coverage of the 95 % set; -v has the intervals."
	return s
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
			return []any{
				c.Label(), c.Size, c.Trials, found, c.Named, mean(c.MeanConfidence, decimals), rate(c.RightNamed),
				rate(c.Coverage), mean(c.CredibleSetSize, func(x float64) string { return cell(x, 3) }),
			}
		}),
		narrow: servedNarrow(e),
		detail: len(list) > manyCommunities,
	}
	if text := a.WorstSentence(); text != "" {
		return []section{table, {text: text}}
	}
	return []section{table}
}

// servedNarrow is the table by community on a screen of 80 columns.
func servedNarrow(e *study.Evaluation) *section {
	return &section{
		columns: []string{"community", "nodes", "sources", "found", "conf.", "cover", "set"},
		rows: rowsOf(e.Communities, func(c study.CommunityPerformance) []any {
			found := "–"
			if c.Trials > 0 {
				found = fmt.Sprintf("%.2f (%.2f to %.2f)", c.Probability, c.Lower, c.Upper)
			}
			cover := "–"
			if c.Coverage != nil {
				cover = decimals(c.Coverage.Rate)
			}
			return []any{
				c.Label(), c.Size, c.Trials, found, mean(c.MeanConfidence, decimals), cover,
				mean(c.CredibleSetSize, func(x float64) string { return cell(x, 3) }),
			}
		}),
		text: "Found is how often a source there is named rightly, with its 95 % interval, conf. the mean confidence where the " +
			"community is named, cover how often the 95 % set holds the source, set its mean size; -v has all columns.",
	}
}

// mean is a number, or a dash for none.
func mean(x *float64, show func(float64) string) string {
	if x == nil {
		return "–"
	}
	return show(*x)
}

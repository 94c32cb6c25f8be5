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
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/internal/suggest"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/study"
	"github.com/graphcloak/graphcloak/study/simulate"
)

// scenarioList is the help on the names.
func scenarioList() string {
	var lines []string
	for _, s := range simulate.Scenarios() {
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
func (e *evaluation) choose(planned []plan.Alternative) ([]simulate.Scenario, error) {
	list, name := simulate.Scenarios(), e.scenario
	isOne := func(s simulate.Scenario) bool { return s.Name == name }
	add := func(graphs []plan.Alternative) {
		for _, x := range graphs {
			if !named(x) { // as in a plan that another program made: the scenario that evaluate knows keeps its name
				list = append(list, simulate.OnAlternative(x))
			}
		}
	}
	add(planned)
	if name == allScenarios {
		return list, nil
	}
	if k := slices.IndexFunc(list, isOne); k >= 0 {
		return list[k : k+1], nil
	}
	if _, err := os.Stat(name); err != nil {
		return nil, errScenario(name, planned)
	}
	graphs, err := readAlternatives(name)
	list = list[:1]
	add(graphs)
	return list, err
}

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
func (a *app) compareScenarios(ctx context.Context, m *graphcloak.Model, p *graphcloak.Plan, o study.Options,
	list []simulate.Scenario,
) error {
	var all scenarioTable
	var machine [][]any
	for k, s := range list {
		a.console.Part(fmt.Sprintf("scenario %d of %d, %s", k+1, len(list), s.Name))
		o.Scenario = s
		e, err := study.Evaluate(ctx, m.Model, p, o)
		if err != nil {
			return err
		}
		all.Scenarios, machine = append(all.Scenarios, e), append(machine, rates(e)...)
	}
	if a.outputFormat() != "table" {
		return a.render(all, term.Section{Rows: slices.Values(machine), Columns: rateColumns()})
	}
	first, who := all.Scenarios[0], "plan and posterior know the model only"
	switch {
	case p.Uncertainty.Alternatives > 0:
		who = "the posterior knows the model and the graphs of the plan"
	case p.Uncertainty.Any():
		who = "the posterior knows the model only"
	}
	return a.render(all, term.Section{
		Title: fmt.Sprintf("%d simulated releases in each scenario; %s", o.Trials, who),
		Columns: []string{
			"scenario", "what happens", "right", "source found", "stands out", "mean confidence", "calibration error",
			"coverage of the 95 % set",
		},
		Rows: func(yield func([]any) bool) {
			for k, e := range all.Scenarios {
				if !yield(scenarioRow(list[k], e)) {
					return
				}
			}
		},
		Narrow: narrowScenarios(list, all.Scenarios),
		Text: strings.Join(append([]string{"Chance is " + decimals(first.Chance) + ".", calibrated(first)}, a.scenarioRemarks(list)...),
			" "),
	})
}

// scenarioRemarks say what of a table cannot happen, and what is right with two sources.
func (a *app) scenarioRemarks(list []simulate.Scenario) (texts []string) {
	if slices.ContainsFunc(list, simulate.Scenario.Several) {
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

func scenarioRow(s simulate.Scenario, e *study.Evaluation) []any {
	if s.Sourceless() {
		return []any{s.Name, s.About, "–", rate(&e.Detected), rate(&e.Answered), "–", "–", "–"}
	}
	return []any{
		s.Name, s.About, rate(&e.Right), decimals(e.Detected.Rate), decimals(e.Answered.Rate), decimals(e.Calibration.MeanConfidence),
		decimals(e.Calibration.Error), rate(&e.Coverage),
	}
}

// narrowScenarios is the comparison on a screen of 80 columns; what happens stands below it.
func narrowScenarios(list []simulate.Scenario, all []*study.Evaluation) *term.Section {
	s := &term.Section{
		Columns: []string{"scenario", "right", "found", "named", "conf.", "error", "cover"},
		Rows: func(yield func([]any) bool) {
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
		s.Text += "- " + x.Name + ": " + x.About + "\n"
	}
	s.Text += "Found is how often the answer finds a source at all, named how often a community stands out, conf. the mean confidence " +
		"that is stated, error that of its calibration, cover the coverage of the 95 % set; -v has the intervals."
	return s
}

// manyCommunities are shown only under --verbose.
const manyCommunities = 20

// served is how the plan serves each community, and the one it serves worst.
func served(e *study.Evaluation) []term.Section {
	list := make([]report.CommunityAccuracy, len(e.Communities))
	for k, c := range e.Communities {
		list[k] = c.CommunityAccuracy
	}
	a := report.Accuracy{Probability: e.Right.Rate, Communities: list}
	table := term.Section{
		Title:   "By community, " + e.Allocation + " noise",
		Columns: []string{"community", "nodes", "sources", "found", "named", "mean confidence", "right if named", "coverage", "set size"},
		Rows: term.Rows(e.Communities, func(c study.CommunityPerformance) []any {
			found := "–"
			if c.Trials > 0 {
				found = rate(&study.Proportion{Rate: c.Probability, Lower: c.Lower, Upper: c.Upper})
			}
			return []any{
				c.Label(), c.Size, c.Trials, found, c.Named, mean(c.MeanConfidence, decimals), rate(c.RightNamed),
				rate(c.Coverage), mean(c.CredibleSetSize, func(x float64) string { return term.Cell(x, 3) }),
			}
		}),
		Narrow: servedNarrow(e),
		Detail: len(list) > manyCommunities,
	}
	if text := a.WorstSentence(); text != "" {
		return []term.Section{table, {Text: text}}
	}
	return []term.Section{table}
}

// servedNarrow is the table by community on a screen of 80 columns.
func servedNarrow(e *study.Evaluation) *term.Section {
	return &term.Section{
		Columns: []string{"community", "nodes", "sources", "found", "conf.", "cover", "set"},
		Rows: term.Rows(e.Communities, func(c study.CommunityPerformance) []any {
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
				mean(c.CredibleSetSize, func(x float64) string { return term.Cell(x, 3) }),
			}
		}),
		Text: "Found is how often a source there is named rightly, with its 95 % interval, conf. the mean confidence where the " +
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

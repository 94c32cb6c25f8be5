// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/internal/suggest"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/study"
	"github.com/graphcloak/graphcloak/study/simulate"
)

func newEvaluateCommand(app *app) *cobra.Command {
	var e evaluation
	cmd := &cobra.Command{
		Use:   "evaluate",
		Short: "How often the answer would be right, and what its confidence is worth",
		Long: "evaluate simulates single sources on your own graph: it draws a source, releases its measurement as the plan\n" +
			"says, and recovers. It reports how often the right community is named, how often none stands out, whether\n" +
			"confidence is calibrated, how often the 95 % credible set holds the source, and how far the posterior is from\n" +
			"it; and the same for uniform noise, where the plan's is allocated. Noise comes from the sampler of a release,\n" +
			"with a fixed key: the same call gives the same result. It reads no signal and spends nothing.\n\n" +
			"--scenario lets what happens differ from the model, while the posterior knows the model only:\n" + scenarioList() + "\n" +
			"A CSV file of graphs, as plan --scenario takes, makes a table: the model, and the process on each of them.",
		Example: "  graphcloak evaluate --from example:karate --epsilon 4 --delta 0.01\n" +
			"  graphcloak evaluate --from folder:mygraph --plan plan.json --trials 10000 --format json\n" +
			"  graphcloak evaluate --from example:net3 --delta 0.01 --scenario all\n" +
			"  graphcloak evaluate --from folder:mygraph --measurement-property heat --scenario valves.csv\n" +
			"  graphcloak evaluate --from example:net3 --source-amplitude uniform --bpdn --trials 200",
		GroupID: groupPipeline,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := e.check(); err != nil {
				return err
			}
			return app.evaluate(cmd.Context(), e)
		},
	}
	cmd = app.withSettings(cmd, nil,
		config.GroupConnection, config.GroupSource, config.GroupProjection, config.GroupQueries, config.GroupDiffusion, config.GroupSensors,
		config.GroupSignal, config.GroupPrivacy, config.GroupRecovery, config.GroupCommunity,
		config.GroupOutput, config.GroupExecution)
	f := cmd.Flags()
	f.StringVar(&e.plan, "plan", "", "plan `FILE`; otherwise a plan is made from the settings")
	f.IntVar(&e.options.Trials, "trials", 1000, "simulated releases, a `NUMBER`")
	f.StringVar(&e.amplitude, "source-amplitude", "1", "strength of the simulated sources: `uniform|NUMBER` in (0, 1]; the "+
		"posterior assumes 1 or unknown at even odds")
	f.StringVar(&e.scenario, "scenario", scenarioNames()[0], "what happens: `NAME|all|FILE`, of a scenario or of a graph "+
		"of the plan; all for a table; or a CSV file of graphs, as that of plan --scenario")
	completeScenarios(cmd)
	f.BoolVar(&e.options.Denoise, "bpdn", false, "also recover by Basis Pursuit Denoising, which is slower")
	return cmd
}

// evaluation holds the flags of the command.
type evaluation struct {
	plan, amplitude, scenario string
	options                   study.Options
}

// check reads the flags, before anything is computed.
func (e *evaluation) check() error {
	if e.options.Trials < report.LeastTrials {
		return fail(exitUsage, "--trials is %d, want a number ≥ %d", e.options.Trials, report.LeastTrials)
	}
	if e.amplitude == "uniform" {
		return nil
	}
	a, err := strconv.ParseFloat(e.amplitude, 64)
	if err != nil || !(a > 0 && a <= 1) {
		return fail(exitUsage, "--source-amplitude is %q, want uniform or a number in (0, 1]", e.amplitude)
	}
	e.options.Amplitude = a
	return nil
}

func (a *app) evaluate(ctx context.Context, e evaluation) error {
	job, err := a.job()
	if err != nil {
		return err
	}
	var p *graphcloak.Plan
	if e.plan != "" {
		if name := a.settled(config.GroupProjection, config.GroupDiffusion, config.GroupSensors, config.GroupPrivacy); name != "" {
			return fail(exitUsage, "--%s and --plan contradict each other: the plan file settles it", name).hint("leave out --%s", name)
		}
		p = new(graphcloak.Plan)
		if err := a.readPlan(e.plan, p); err != nil {
			return err
		}
		job.Settings = chosen(p.Model, a.config.Recovery, a.config.Community)
	}
	list, err := e.choose(job.Alternatives)
	if err != nil {
		return err
	}
	e.options.Recover = job.Recover
	return a.onModel(ctx, job, func(m *graphcloak.Model) error {
		if p == nil {
			if p, err = m.Plan(ctx, job.Plan); err != nil {
				return err
			}
			a.noteTau(p)
		} else if err := a.noteCommunities(ctx, m, p); err != nil {
			return err
		}
		if len(list) > 1 {
			return a.compareScenarios(ctx, m, p, e.options, list)
		}
		e.options.Scenario = list[0]
		result, err := study.Evaluate(ctx, m.Model, p, e.options)
		if err != nil {
			return err
		}
		return a.showEvaluation(result)
	})
}

func (a *app) showEvaluation(e *study.Evaluation) error {
	names, list := []string{e.Allocation}, []*study.Performance{e.Performance}
	if e.Uniform != nil {
		names, list = append(names, "uniform"), append(list, e.Uniform)
	}
	if a.outputFormat() != "table" {
		return a.render(e, term.Section{Rows: slices.Values(rates(e)), Columns: rateColumns()})
	}
	facts := term.Section{
		Title: fmt.Sprintf("Evaluation at τ = %s: %d simulated sources of amplitude %s; the posterior assumes %s", term.Cell(e.Tau, -1),
			e.Trials, e.SourceAmplitude, e.AssumedAmplitude),
		Columns: append([]string{"noise"}, names...),
		Rows:    slices.Values(compared(e, list)),
	}
	sections := []term.Section{facts}
	for i, p := range list {
		sections = append(sections, reliability(names[i], p))
	}
	if len(e.Communities) > 1 {
		sections = append(sections, served(e)...)
	}
	return a.render(e, append(sections, term.Section{Title: "Notes", Text: onePerLine(e.Notes)}, term.Section{Answer: evaluationAnswer(e)},
		term.Section{Items: []term.Item{
			{Mark: "Spent", Text: "nothing: the sources were simulated"},
			{Mark: "Next", Text: "`graphcloak plan --target-accuracy 0.9` finds the ε for an accuracy"},
		}})...)
}

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
	var all []*study.Evaluation
	var machine [][]any
	for k, s := range list {
		a.console.Part(fmt.Sprintf("scenario %d of %d, %s", k+1, len(list), s.Name))
		o.Scenario = s
		e, err := study.Evaluate(ctx, m.Model, p, o)
		if err != nil {
			return err
		}
		all, machine = append(all, e), append(machine, rates(e)...)
	}
	if a.outputFormat() != "table" {
		return a.render(map[string]any{"scenarios": all}, term.Section{Rows: slices.Values(machine), Columns: rateColumns()})
	}
	who := "plan and posterior know the model only"
	switch {
	case p.Uncertainty.Alternatives > 0:
		who = "the posterior knows the model and the graphs of the plan"
	case p.Uncertainty.Any():
		who = "the posterior knows the model only"
	}
	table, legend := scenarioTable(list, all)
	table.Title = fmt.Sprintf("%d simulated releases in each scenario; %s", o.Trials, who)
	text := strings.Join(append([]string{"Chance is " + decimals(all[0].Chance) + ".", calibrated(all[0])},
		a.scenarioRemarks(list)...), " ")
	return a.render(map[string]any{"scenarios": all}, table, term.Section{Text: legend}, term.Section{Text: text})
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

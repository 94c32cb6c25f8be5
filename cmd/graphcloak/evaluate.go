// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/internal/disk"
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
		Long: "evaluate simulates single sources on your own graph: it draws a source, releases its measurement as the plan says,\n" +
			"and recovers. It reports how often the right community is named, whether confidence is calibrated, and how often the\n" +
			"95 % credible set holds the source. The same call gives the same result. It reads no signal and spends nothing.\n\n" +
			"--scenario lets what happens differ from the model, while the posterior knows the model only:\n" + scenarioList() + "\n" +
			"Or it names one of the plan's own graphs, on which the process then runs.",
		Example: "  graphcloak evaluate --from example:net3 --delta 0.01 --scenario two-sources\n" +
			"  graphcloak evaluate --from folder:mygraph --plan plan.json --events past.csv",
		GroupID: groupPipeline,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range []string{"scenario", "source-amplitude", "trials"} {
				if e.events != "" && cmd.Flags().Changed(name) {
					return fail(exitUsage, "--%s is of simulated sources, and --events of past ones", name).hint("leave one of them out")
				}
			}
			if err := e.check(); err != nil {
				return err
			}
			if app.aboutWhisper(e.plan) {
				if e.amplitude != "1" || e.scenario != simulate.Names()[0] {
					return fail(exitUsage, "--source-amplitude and --scenario are about heat").hint("leave them out")
				}
				if e.events != "" {
					return fail(exitUsage, "--events holds readings, and people answer yes or no").hint("leave it out")
				}
				return app.evaluateAnswers(cmd.Context(), e.plan, e.options.Trials)
			}
			return app.evaluate(cmd.Context(), e)
		},
	}
	cmd = app.withSettings(cmd, nil, modelGroups, config.GroupSignal, config.GroupPrivacy, config.GroupRecovery, config.GroupCommunity)
	f := cmd.Flags()
	f.StringVar(&e.plan, "plan", "", "plan `FILE`; otherwise a plan is made from the settings")
	f.IntVar(&e.options.Trials, "trials", 1000, "simulated releases, a `NUMBER`")
	f.StringVar(&e.amplitude, "source-amplitude", "1", "strength of the simulated sources: `uniform|NUMBER` in (0, 1]; the "+
		"posterior assumes 1 or unknown at even odds")
	f.StringVar(&e.scenario, "scenario", simulate.Names()[0], "what happens: `NAME` of a scenario or of a graph of the plan")
	completeWords(cmd, "scenario", simulate.Names())
	f.StringVar(&e.events, "events", "", "past events in place of simulated sources: CSV `FILE` event,source,sensor,reading[,time]")
	return cmd
}

// evaluation holds the flags of the command.
type evaluation struct {
	plan, amplitude, scenario, events string
	options                           study.Options
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
		err := a.settledBy("plan", e.plan, config.GroupProjection, config.GroupDiffusion, config.GroupSensors, config.GroupPrivacy)
		if err != nil {
			return err
		}
		p = new(graphcloak.Plan)
		if err := a.readUnder(e.plan, "plan", p, &p.Model); err != nil {
			return err
		}
		job.Settings = chosen(p.Model, a.config.Recovery, a.config.Community)
	}
	if e.options.Scenario, err = simulate.Find(e.scenario, job.Alternatives); err != nil {
		return err
	}
	e.options.Recover = job.Recover
	return a.onModel(ctx, job, func(m *graphcloak.Model) error {
		if p == nil {
			if p, err = m.Plan(ctx, job.Plan); err != nil {
				return err
			}
			a.noteTau(p)
		} else if err := a.noteCommunities(ctx, m, p.Communities); err != nil {
			return err
		}
		if e.events != "" {
			if e.options.Events, err = readEvents(e.events, m.Model); err != nil {
				return err
			}
		}
		result, err := study.Evaluate(ctx, m.Model, p, e.options)
		if err != nil {
			return err
		}
		return a.showEvaluation(result)
	})
}

// readEvents reads a file of past events.
func readEvents(path string, m *plan.Model) ([]simulate.Event, error) {
	file, err := disk.Open(path)
	if err != nil {
		return nil, fail(exitCode(err), "--events: %w", err)
	}
	defer file.Close()
	return study.ParseEvents(bufio.NewReader(file), m)
}

// keptSets says which communities of a report to keep.
func keptSets(e *study.Evaluation) term.Section {
	return term.Section{
		Title:   "Communities to keep, so that the true one is among them in at least this share of events",
		Columns: []string{"share", "keep those of probability at least", "communities kept, mean"},
		Rows: term.Rows(e.Sets, func(s study.ConformalSet) []any {
			return []any{s.Coverage, s.Least, s.Communities}
		}),
		Text: "This holds whatever the process is, for a report under this plan and these settings that supposes one source " +
			"(--sources 1). It rests on the next event being drawn as the past ones were.",
	}
}

func (a *app) showEvaluation(e *study.Evaluation) error {
	names, list := []string{e.Allocation}, []*study.Performance{e.Performance}
	if e.Uniform != nil {
		names, list = append(names, "uniform"), append(list, e.Uniform)
	}
	what, spent := fmt.Sprintf("simulated sources of amplitude %s", e.SourceAmplitude), "nothing: the sources were simulated"
	if e.Sets != nil {
		what, spent = "past events", "nothing: the events are past, and their noise was simulated"
	}
	under := "the given operator"
	if e.Tau > 0 {
		under = "τ = " + term.Cell(e.Tau, -1)
	}
	facts := term.Section{
		Title:   fmt.Sprintf("Evaluation under %s: %d %s; the posterior assumes %s", under, e.Trials, what, e.AssumedAmplitude),
		Columns: append([]string{"noise"}, names...),
		Rows:    slices.Values(compared(e, list)),
	}
	sections := []term.Section{facts}
	if len(e.Communities) > 1 {
		sections = append(sections, served(e)...)
	}
	if e.Sets != nil {
		sections = append(sections, keptSets(e))
	}
	return a.render(e, append(sections, term.Section{Title: "Notes", Text: term.OnePerLine(e.Notes)}, term.Section{Answer: e.Answer()},
		spentAndNext(spent, "`graphcloak plan --target-accuracy 0.9` finds the ε for an accuracy"))...)
}

// scenarioList is the help on the names.
func scenarioList() string {
	var lines []string
	for _, s := range simulate.Scenarios() {
		lines = append(lines, fmt.Sprintf("  %-16s %s", s.Name, s.About))
	}
	return strings.Join(lines, "\n")
}

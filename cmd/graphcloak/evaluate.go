// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/study"
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

// rateColumns are those of the rows of machine-readable formats: one for each noise, then
// one for each community under the plan's.
func rateColumns() []string {
	return []string{
		"scenario", "allocation", "communityId", "communityName", "trials", "sensorCount", "right", "rightLower", "rightUpper", "answered",
		"meanConfidence",
		"expectedCalibrationError", "errorLower", "errorUpper", "errorLimit",
		"coverage", "coverageLower", "coverageUpper", "credibleSetSize", "credibleSetSizeKnownMass", "meanEmd", "meanElsewhere", "named",
		"rightNamed", "detected",
	}
}

func rates(e *study.Evaluation) [][]any {
	rows := [][]any{noiseRates(e, e.Allocation, e.Performance)}
	if e.Uniform != nil {
		rows = append(rows, noiseRates(e, "uniform", e.Uniform))
	}
	for _, c := range e.Communities {
		rows = append(rows, communityRates(e, c))
	}
	return rows
}

func noiseRates(e *study.Evaluation, allocation string, p *study.Performance) []any {
	c := p.Calibration
	return []any{
		e.Scenario, allocation, nil, nil, e.Trials, p.SensorCount, p.Right.Rate, p.Right.Lower, p.Right.Upper, p.Answered.Rate,
		c.MeanConfidence,
		c.Error, c.Lower, c.Upper, c.Limit, p.Coverage.Rate, p.Coverage.Lower, p.Coverage.Upper, p.CredibleSetSize, p.KnownMassSetSize,
		p.MeanEMD, p.Elsewhere,
		nil, nil, p.Detected.Rate,
	}
}

func communityRates(e *study.Evaluation, c study.CommunityPerformance) []any {
	row := make([]any, len(rateColumns()))
	copy(row, []any{e.Scenario, e.Allocation, c.CommunityID, c.Name, c.Trials, e.SensorCount, c.Probability, c.Lower, c.Upper})
	if c.Trials == 0 {
		row[6], row[7], row[8] = nil, nil, nil
	}
	if c.Coverage != nil {
		row[15], row[16], row[17], row[18] = c.Coverage.Rate, c.Coverage.Lower, c.Coverage.Upper, *c.CredibleSetSize
	}
	row[22] = c.Named
	if c.RightNamed != nil {
		row[10], row[23] = *c.MeanConfidence, c.RightNamed.Rate
	}
	return row
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

// evaluationAnswer says how far an answer on this graph may be trusted.
func evaluationAnswer(e *study.Evaluation) string {
	p := e.Performance
	text := fmt.Sprintf("The right community ranks first in %s of %d runs (95 %% interval %.0f to %.0f %%), where chance is right in %s.",
		report.Percent(p.Right.Rate), e.Trials, 100*p.Right.Lower, 100*p.Right.Upper, report.Percent(e.Chance))
	if c := p.Calibration; c.Error <= c.Limit {
		return text + " The confidence that it states is as good as it says, as far as so many runs can tell."
	}
	return text + fmt.Sprintf(" The confidence that it states is off by %s on average.", report.Percent(p.Calibration.Error))
}

// measure is a row of the comparison.
type measure struct {
	name string
	of   func(p *study.Performance) string
}

// compared are the rows of the table: a measure, then its value under each noise.
func compared(e *study.Evaluation, list []*study.Performance) [][]any {
	measures := []measure{
		{"reporting sensors", func(p *study.Performance) string { return strconv.Itoa(p.SensorCount) }},
		{"right community ranks first", func(p *study.Performance) string { return rate(&p.Right) }},
		{"  by chance", func(*study.Performance) string { return decimals(e.Chance) }},
		{"a source is found", func(p *study.Performance) string { return rate(&p.Detected) }},
		{"a community stands out", func(p *study.Performance) string { return rate(&p.Answered) }},
		{"  it is the right one", func(p *study.Performance) string { return rate(p.RightAnswers) }},
		{"mean confidence", func(p *study.Performance) string { return decimals(p.Calibration.MeanConfidence) }},
		{"expected calibration error", func(p *study.Performance) string {
			c := p.Calibration
			return fmt.Sprintf("%s (%s to %s)", decimals(c.Error), decimals(c.Lower), decimals(c.Upper))
		}},
		{"  if calibrated, at most", func(p *study.Performance) string { return decimals(p.Calibration.Limit) }},
		{"95 % credible set holds the source", func(p *study.Performance) string { return rate(&p.Coverage) }},
		{
			"  its mean size, of " + strconv.Itoa(e.NodeCount),
			func(p *study.Performance) string { return strconv.FormatFloat(p.CredibleSetSize, 'f', 1, 64) },
		},
		{
			"  to a reader who knows that the mass is 1",
			func(p *study.Performance) string { return strconv.FormatFloat(p.KnownMassSetSize, 'f', 1, 64) },
		},
		{"mean distance to the source, in its component", func(p *study.Performance) string { return distanceText(p.MeanEMD) }},
		{"  share of the posterior in other components", func(p *study.Performance) string { return decimals(p.Elsewhere) }},
	}
	if e.BPDN != nil {
		measures = append(measures, denoisedMeasures()...)
	}
	var rows [][]any
	for _, m := range measures {
		row := []any{m.name}
		for _, p := range list {
			row = append(row, m.of(p))
		}
		rows = append(rows, row)
	}
	return rows
}

// denoisedMeasures are the rows about Basis Pursuit Denoising.
func denoisedMeasures() []measure {
	return []measure{
		{"BPDN: f̂ ≠ 0", func(p *study.Performance) string { return rate(&p.BPDN.Answered) }},
		{"  its community is the right one", func(p *study.Performance) string { return rate(p.BPDN.RightAnswers) }},
		{"  infeasible, stalled", func(p *study.Performance) string {
			return fmt.Sprintf("%d, %d", p.BPDN.Infeasible, p.BPDN.Stalled)
		}},
		{"  mean distance to the source", func(p *study.Performance) string {
			if p.BPDN.MeanEMD == nil {
				return "–"
			}
			return distanceText(*p.BPDN.MeanEMD)
		}},
	}
}

// reliability is the table behind a reliability diagram.
func reliability(allocation string, p *study.Performance) term.Section {
	return term.Section{
		Title:   "Reliability of the confidence, " + allocation + " noise",
		Columns: []string{"confidence", "trials", "mean confidence", "right"},
		Rows: term.Rows(p.Calibration.Bins, func(b study.Bin) []any {
			return []any{fmt.Sprintf("%.1f to %.1f", b.From, b.To), b.Count, decimals(b.Confidence), rate(&b.Right)}
		}),
	}
}

// rate is a proportion with its interval; a dash for none.
func rate(p *study.Proportion) string {
	if p == nil {
		return "–"
	}
	return fmt.Sprintf("%s (%s to %s)", decimals(p.Rate), decimals(p.Lower), decimals(p.Upper))
}

// decimals is a number with the three decimals that a simulation resolves.
func decimals(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }

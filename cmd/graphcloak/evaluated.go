// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/study"
	"github.com/graphcloak/graphcloak/study/simulate"
)

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

// scenarioTable compares what happens in each scenario; JSON and CSV have the intervals.
func scenarioTable(list []simulate.Scenario, all []*study.Evaluation) (s term.Section, legend string) {
	s = term.Section{Columns: []string{"scenario", "right", "found", "named", "conf.", "error", "cover"}}
	var rows [][]any
	for k, e := range all {
		x := list[k]
		row := []any{x.Name, "–", decimals(e.Detected.Rate), decimals(e.Answered.Rate), "–", "–", "–"}
		if !x.Sourceless() {
			row[1], row[6] = decimals(e.Right.Rate), decimals(e.Coverage.Rate)
			row[4], row[5] = decimals(e.Calibration.MeanConfidence), decimals(e.Calibration.Error)
		}
		rows = append(rows, row)
		legend += "- " + x.Name + ": " + x.About + "\n"
	}
	s.Rows = slices.Values(rows)
	return s, legend + "Found is how often the answer finds a source at all, named how often a community stands out, conf. " +
		"the mean confidence that is stated, error that of its calibration, cover the coverage of the 95 % set; " +
		"--format json has the intervals."
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
		Columns: []string{"community", "nodes", "sources", "found", "conf.", "cover", "set"},
		Rows: term.Rows(e.Communities, func(c study.CommunityPerformance) []any {
			found, cover := "–", "–"
			if c.Trials > 0 {
				found = fmt.Sprintf("%.2f (%.2f to %.2f)", c.Probability, c.Lower, c.Upper)
			}
			if c.Coverage != nil {
				cover = decimals(c.Coverage.Rate)
			}
			return []any{
				c.Label(), c.Size, c.Trials, found, mean(c.MeanConfidence, decimals), cover,
				mean(c.CredibleSetSize, func(x float64) string { return term.Cell(x, 3) }),
			}
		}),
		Detail: len(list) > manyCommunities,
	}
	legend := term.Section{
		Text: "Found is how often a source there is named rightly, with its 95 % interval, conf. the mean confidence where the " +
			"community is named, cover how often the 95 % set holds the source, set its mean size; --format json has all numbers.",
		Detail: len(list) > manyCommunities,
	}
	return []term.Section{table, legend, {Text: a.WorstSentence()}}
}

// mean is a number, or a dash for none.
func mean(x *float64, show func(float64) string) string {
	if x == nil {
		return "–"
	}
	return show(*x)
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

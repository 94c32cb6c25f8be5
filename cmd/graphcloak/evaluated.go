// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strconv"

	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/study"
)

// manyCommunities are shown only under --verbose.
const manyCommunities = 20

// served is how the plan serves each community.
func served(e *study.Evaluation) []term.Section {
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
		Detail: len(e.Communities) > manyCommunities,
	}
	legend := term.Section{
		Text: "Found is how often a source there is named rightly, with its 95 % interval, conf. the mean confidence where the " +
			"community is named, cover how often the 95 % set holds the source, set its mean size; --format json has all numbers.",
		Detail: len(e.Communities) > manyCommunities,
	}
	return []term.Section{table, legend}
}

// mean is a number, or a dash for none.
func mean(x *float64, show func(float64) string) string {
	if x == nil {
		return "–"
	}
	return show(*x)
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
		{"mean distance to the source, in its component", func(p *study.Performance) string {
			return term.Cell(p.MeanEMD, term.FewDigits)
		}},
		{"  share of the posterior in other components", func(p *study.Performance) string { return decimals(p.Elsewhere) }},
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

// rate is a proportion with its interval; a dash for none.
func rate(p *study.Proportion) string {
	if p == nil {
		return "–"
	}
	return fmt.Sprintf("%s (%s to %s)", decimals(p.Rate), decimals(p.Lower), decimals(p.Upper))
}

// decimals is a number with the three decimals that a simulation resolves.
func decimals(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }

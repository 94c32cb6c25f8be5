// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/report"
)

// shownRows is the number of nodes or communities in a table; the other formats
// have all of them.
const shownRows = 10

// streamReport is a report with a row a node.
type streamReport struct {
	*report.Report
	Nodes []report.Node `json:"nodes"`
}

// show prints a report in its mode.
func (a *app) show(r *report.Report, mode string, extra ...section) error {
	for _, n := range r.Notes {
		a.log.Info("note", "text", n)
	}
	table := a.outputFormat() == "table"
	nodes := captioned(r, section{columns: report.StreamColumns(), rows: streamRows(r)})
	columns, row := r.Stats()
	facts := section{columns: columns, rows: slices.Values([][]any{row})}
	switch {
	case !table && mode == "stream":
		return a.render(streamReport{r, slices.Collect(r.Stream())}, nodes)
	case !table:
		return a.render(r, facts)
	}
	return a.render(r, a.reportSections(r, mode, extra)...)
}

// reportSections are what a reader sees of a report: the answer last, where the eye is,
// what a command adds before it, and the sums below.
func (a *app) reportSections(r *report.Report, mode string, extra []section) []section {
	columns, row := r.Stats()
	facts := section{columns: columns, rows: slices.Values([][]any{row})}
	var sections []section
	if mode == "stream" {
		sections = append(sections, a.likelyNodes(r))
	}
	sections = append(sections, a.communities(r), suspects(r), alternatives(r.Fit),
		section{title: "Facts", columns: []string{"name", "value"}, rows: briefRows(facts), detail: true},
		section{title: "Guarantee", text: r.Guarantee, detail: true},
		section{title: "Not protected", text: onePerLine(r.NotProtected), detail: true},
		noteSection(r))
	if !a.verbose() {
		sections = append(sections, exposed(r))
	}
	after := slices.DeleteFunc(slices.Clone(extra), func(s section) bool { return !s.last })
	before := slices.DeleteFunc(slices.Clone(extra), func(s section) bool { return s.last })
	return slices.Concat(sections, before, []section{{answer: r.Answer}}, after)
}

// likelyNodes are the nodes that a reader looks at: all columns under --verbose.
func (a *app) likelyNodes(r *report.Report) section {
	all := slices.Collect(r.Stream())
	slices.SortStableFunc(all, func(x, y report.Node) int { return cmp.Compare(y.SourceProbability, x.SourceProbability) })
	all = all[:min(shownRows, len(all))]
	title := "Nodes, likeliest first" + moreText(r.NodeCount)
	if a.verbose() {
		return captioned(r, section{title: title, columns: report.StreamColumns(), rows: rowsOf(all, report.Node.Row)})
	}
	at := func(name string) int { return slices.Index(report.StreamColumns(), name) }
	heat, sigma, community := at("privateHeat"), at("privateHeatSigma"), at("communityId")
	return captioned(r, section{
		title: title, columns: []string{"nodeId", "probability", "communityId", "privateHeat", "sigma"},
		rows: rowsOf(all, func(n report.Node) []any {
			row := n.Row()
			return []any{row[0], probability(n.SourceProbability), row[community], row[heat], row[sigma]}
		}),
	})
}

// captioned puts what a reader calls a node beside its id, where that is known.
func captioned(r *report.Report, s section) section {
	n := r.Nodes()
	if n.Captions == nil {
		return s
	}
	rows := s.rows
	return section{columns: slices.Insert(s.columns, 1, "caption"), rows: func(yield func([]any) bool) {
		for row := range rows {
			i, _ := n.Graph.Index(graph.ID(row[0].(string)))
			if !yield(slices.Insert(row, 1, any(n.Captions[i]))) {
				return
			}
		}
	}}
}

func moreText(n int) string {
	if n <= shownRows {
		return ""
	}
	return fmt.Sprintf(" (%d of %d; --format csv gives all)", shownRows, n)
}

// streamRows are the nodes.
func streamRows(r *report.Report) iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		for n := range r.Stream() {
			if !yield(n.Row()) {
				return
			}
		}
	}
}

// communities are ranked where the measurements say something of them, and in full detail in any case.
func (a *app) communities(r *report.Report) section {
	if !r.Answers() && !a.verbose() {
		return section{}
	}
	s := section{
		title:   "Communities, likeliest first" + strings.Replace(moreText(len(r.Communities)), "csv", "json", 1),
		columns: []string{"communityId", "name", "size", "probability", "sourceMass"},
		rows: rowsOf(r.Communities[:min(shownRows, len(r.Communities))], func(c report.Community) []any {
			return []any{c.CommunityID, c.Name, c.Size, probability(c.Probability), c.SourceMass}
		}),
	}
	if !a.verbose() {
		s = s.first(4) // the mass is that of f̂, a fact
	}
	return s
}

// suspects are the sensors that may be faulty.
func suspects(r *report.Report) section {
	if len(r.SuspectSensors) == 0 {
		return section{}
	}
	return section{
		title: "Sensors that may be faulty" + strings.Replace(moreText(len(r.SuspectSensors)), "csv", "json", 1),
		text: fmt.Sprintf("Faulty is broken or shifted: before the measurements each was with probability %s.",
			report.Percent(r.SensorFaultyPrior)),
		columns: []string{"nodeId", "probability"},
		rows: rowsOf(r.SuspectSensors[:min(shownRows, len(r.SuspectSensors))], func(s report.Suspect) []any {
			return []any{string(s.NodeID), probability(s.Probability)}
		}),
	}
}

// first keeps only the first columns of a table.
func (s section) first(n int) section {
	rows := s.rows
	s.columns, s.rows = s.columns[:n], func(yield func([]any) bool) {
		for row := range rows {
			if !yield(row[:n]) {
				return
			}
		}
	}
	return s
}

// without drops the columns in which every row has the text that goes without saying.
func (s section) without(usual map[int]string) section {
	rows := slices.Collect(s.rows)
	alike := func(i int) bool {
		text, ok := usual[i]
		return ok && !slices.ContainsFunc(rows, func(row []any) bool { return fmt.Sprint(row[i]) != text })
	}
	keep := func(row []any) (out []any) {
		for i, v := range row {
			if !alike(i) {
				out = append(out, v)
			}
		}
		return out
	}
	var names []string
	for i, name := range s.columns {
		if !alike(i) {
			names = append(names, name)
		}
	}
	s.columns, s.rows = names, rowsOf(rows, keep)
	return s
}

// alternatives are other explanations of measurements that fit poorly.
func alternatives(f *report.Fit) section {
	if f == nil || len(f.Alternatives) == 0 {
		return section{}
	}
	return section{
		title:   "Other explanations than the model, by their evidence against it",
		columns: []string{"explanation", "logEvidence"},
		rows:    rowsOf(f.Alternatives, func(a report.Alternative) []any { return []any{a.Name, cell(a.LogEvidence, shownDigits)} }),
	}
}

// nameValueRows turns a section of one row into lines of name and value.
func nameValueRows(s section) iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		for row := range s.rows {
			for i, v := range row {
				if !yield([]any{s.columns[i], cell(v, shownDigits)}) {
					return
				}
			}
		}
	}
}

// briefRows are the facts that the table shows; the other formats have all.
func briefRows(s section) iter.Seq[[]any] {
	shown := []string{
		"runId", "nodeCount", "relationshipCount", "sensorCount", "epsilonSpent", "deltaSpent", "budgetScope", "ledgerHead", "sigmaMin",
		"sigmaMax", "uniformSigma", "sensitivityLower",
		"sensitivityUpper", "ceiling", "posteriorNodeId", "credibleSetSize", "credibleSetSizeKnownMass", "logOddsRunnerUp",
		"logOddsNoSource", "logOddsError", "sourcePValue", "fitPValue",
		"bpdnStatus", "bpdnGap", "bpdnRadiusRule", "bpdnRadius", "bpdnSupport", "computeMillis", "nodePropertiesWritten",
	}
	return func(yield func([]any) bool) {
		for pair := range nameValueRows(s) {
			if slices.Contains(shown, pair[0].(string)) && !yield(pair) {
				return
			}
		}
	}
}

func noteSection(r *report.Report) section {
	if len(r.Notes) == 0 {
		return section{}
	}
	return section{title: "Notes", text: onePerLine(r.Notes)}
}

// onePerLine puts each item on a line of its own.
func onePerLine(items []string) string {
	text := ""
	for _, item := range items {
		text += "- " + item + "\n"
	}
	return text
}

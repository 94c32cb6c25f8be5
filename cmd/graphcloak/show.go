// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/report"
)

// shownRows is the number of nodes or communities in a table; the other formats
// have all of them.
const shownRows = 20

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
	nodes := captioned(r, section{columns: report.StreamColumns(), rows: streamRows(r, table)})
	columns, row := r.Stats()
	facts := section{columns: columns, rows: slices.Values([][]any{row})}
	switch {
	case !table && mode == "stream":
		return a.render(streamReport{r, slices.Collect(r.Stream())}, nodes)
	case !table:
		return a.render(r, facts)
	}
	sections := []section{{text: r.Answer}, communities(r)}
	if len(r.SuspectSensors) > 0 {
		sections = append(sections, suspects(r))
	}
	if mode == "stream" {
		nodes.title = "Nodes" + moreText(r.NodeCount)
		sections = append(sections, nodes)
	}
	sections = append(sections, section{title: "Facts", columns: []string{"name", "value"}, rows: briefRows(facts)},
		section{title: "Guarantee", text: r.Guarantee}, section{title: "Not protected", text: onePerLine(r.NotProtected)})
	if notes := noteSection(r); notes.text != "" {
		sections = append(sections, notes)
	}
	return a.render(r, append(sections, extra...)...)
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

// streamRows are the nodes, the likeliest first few of them for a reader.
func streamRows(r *report.Report, few bool) iter.Seq[[]any] {
	if !few {
		return func(yield func([]any) bool) {
			for n := range r.Stream() {
				if !yield(n.Row()) {
					return
				}
			}
		}
	}
	all := slices.Collect(r.Stream())
	slices.SortStableFunc(all, func(x, y report.Node) int {
		switch {
		case x.SourceProbability > y.SourceProbability:
			return -1
		case x.SourceProbability < y.SourceProbability:
			return 1
		}
		return 0
	})
	return rowsOf(all[:min(shownRows, len(all))], report.Node.Row)
}

func communities(r *report.Report) section {
	return section{
		title:   "Communities, likeliest first" + strings.Replace(moreText(len(r.Communities)), "csv", "json", 1),
		columns: []string{"communityId", "name", "size", "probability", "sourceMass"},
		rows: rowsOf(r.Communities[:min(shownRows, len(r.Communities))], func(c report.Community) []any {
			return []any{c.CommunityID, c.Name, c.Size, probability(c.Probability), c.SourceMass}
		}),
	}
}

// suspects are the sensors that may be broken.
func suspects(r *report.Report) section {
	return section{
		title:   "Sensors that may be broken" + strings.Replace(moreText(len(r.SuspectSensors)), "csv", "json", 1),
		columns: []string{"nodeId", "probability"},
		rows: rowsOf(r.SuspectSensors[:min(shownRows, len(r.SuspectSensors))], func(s report.Suspect) []any {
			return []any{string(s.NodeID), s.Probability}
		}),
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
		"runId", "nodeCount", "relationshipCount", "sensorCount", "epsilonSpent", "deltaSpent", "budgetScope", "ledgerHead", "sigmaMin", "sigmaMax", "uniformSigma", "sensitivityLower",
		"sensitivityUpper", "ceiling", "posteriorNodeId", "credibleSetSize", "credibleSetSizeKnownMass", "logOddsRunnerUp", "logOddsNoSource", "logOddsError",
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

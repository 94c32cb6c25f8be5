// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/report"
)

// streamReport is a report with a row a node.
type streamReport struct {
	*report.Report
	Nodes []report.Node `json:"nodes"`
}

// show prints a report in its mode.
func (a *app) show(r *report.Report, mode string, extra ...term.Section) error {
	for _, n := range r.Notes {
		a.log.Info("note", "text", n)
	}
	columns, row := r.Stats()
	facts := term.Section{Columns: columns, Rows: slices.Values([][]any{row})}
	switch {
	case a.outputFormat() == "table":
		return a.render(r, a.reportSections(r, mode, facts, extra)...)
	case mode == "stream":
		nodes := slices.Collect(r.Stream())
		return a.render(streamReport{r, nodes}, captioned(r, term.Table(r.StreamColumns(), nodes, r.StreamRow)))
	}
	return a.render(r, facts)
}

// reportSections are what a reader sees of a report: the answer last, where the eye is,
// what a command adds before it, and the sums below.
func (a *app) reportSections(r *report.Report, mode string, facts term.Section, extra []term.Section) []term.Section {
	var sections []term.Section
	if mode == "stream" {
		sections = append(sections, a.likelyNodes(r))
	}
	sections = append(sections, a.communities(r), suspects(r), alternatives(r.Fit),
		briefFacts(facts),
		term.Section{Title: "Guarantee", Text: r.Guarantee, Detail: true},
		term.Section{Title: "Not protected", Text: term.OnePerLine(r.NotProtected), Detail: true},
		term.Section{Title: "Notes", Text: term.OnePerLine(r.Notes)})
	if !a.verbose() {
		sections = append(sections, exposed(r))
	}
	after := slices.DeleteFunc(slices.Clone(extra), func(s term.Section) bool { return !s.Last })
	before := slices.DeleteFunc(slices.Clone(extra), func(s term.Section) bool { return s.Last })
	return slices.Concat(sections, before, []term.Section{{Answer: r.Answer}}, after)
}

// likelyNodes are the nodes that a reader looks at: all columns under --verbose.
func (a *app) likelyNodes(r *report.Report) term.Section {
	all := slices.Collect(r.Stream())
	slices.SortStableFunc(all, func(x, y report.Node) int { return cmp.Compare(y.SourceProbability, x.SourceProbability) })
	all = all[:min(shownRows, len(all))]
	title := "Nodes, likeliest first" + moreText(r.NodeCount)
	if a.verbose() {
		return captioned(r, term.Section{Title: title, Columns: r.StreamColumns(), Rows: term.Rows(all, r.StreamRow)})
	}
	if r.Whisper != nil {
		return captioned(r, term.Section{
			Title: strings.Replace(title, "Nodes", "People", 1), Columns: []string{"nodeId", "probability", "communityId", "answer"},
			Rows: term.Rows(all, func(n report.Node) []any {
				return []any{string(n.NodeID), term.Probability(n.SourceProbability), n.CommunityID, n.Answer}
			}),
		})
	}
	at := func(name string) int { return slices.Index(r.StreamColumns(), name) }
	heat, sigma, community := at("privateHeat"), at("privateHeatSigma"), at("communityId")
	return captioned(r, term.Section{
		Title: title, Columns: []string{"nodeId", "probability", "communityId", "privateHeat", "sigma"},
		Rows: term.Rows(all, func(n report.Node) []any {
			row := r.StreamRow(n)
			return []any{row[0], term.Probability(n.SourceProbability), row[community], row[heat], row[sigma]}
		}),
	})
}

// captioned puts what a reader calls a node beside its id, where that is known.
func captioned(r *report.Report, s term.Section) term.Section {
	n := r.Nodes()
	if n.Captions == nil {
		return s
	}
	rows := s.Rows
	return term.Section{Columns: slices.Insert(s.Columns, 1, "caption"), Rows: func(yield func([]any) bool) {
		for row := range rows {
			i, _ := n.Graph.Index(graph.ID(row[0].(string)))
			if !yield(slices.Insert(row, 1, any(n.Captions[i]))) {
				return
			}
		}
	}}
}

// communities are ranked where the measurements say something of them, and in full detail in any case.
func (a *app) communities(r *report.Report) term.Section {
	if !r.Answers() && !a.verbose() {
		return term.Section{}
	}
	s := term.Section{
		Title:   "Communities, likeliest first" + strings.Replace(moreText(len(r.Communities)), "csv", "json", 1),
		Columns: []string{"communityId", "name", "size", "probability", "sourceMass"},
		Rows: term.Rows(r.Communities[:min(shownRows, len(r.Communities))], func(c report.Community) []any {
			return []any{c.CommunityID, c.Name, c.Size, term.Probability(c.Probability), c.SourceMass}
		}),
	}
	if !a.verbose() {
		s = s.Only([]int{0, 1, 2, 3}) // the mass is that of f̂, a fact
	}
	return s
}

// suspects are the sensors that may be faulty.
func suspects(r *report.Report) term.Section {
	if len(r.SuspectSensors) == 0 {
		return term.Section{}
	}
	return term.Section{
		Title: "Sensors that may be faulty" + strings.Replace(moreText(len(r.SuspectSensors)), "csv", "json", 1),
		Text: fmt.Sprintf("Faulty is broken or shifted: before the measurements each was with probability %s.",
			report.Percent(r.SensorFaultyPrior)),
		Columns: []string{"nodeId", "probability"},
		Rows: term.Rows(r.SuspectSensors[:min(shownRows, len(r.SuspectSensors))], func(s report.Suspect) []any {
			return []any{string(s.NodeID), term.Probability(s.Probability)}
		}),
	}
}

// alternatives are other explanations of measurements that fit poorly.
func alternatives(f *report.Fit) term.Section {
	if f == nil || len(f.Alternatives) == 0 {
		return term.Section{}
	}
	return term.Section{
		Title:   "Other explanations than the model, by their evidence against it",
		Columns: []string{"explanation", "logEvidence"},
		Rows: term.Rows(f.Alternatives, func(a report.Alternative) []any {
			return []any{a.Name, term.Cell(a.LogEvidence, term.Digits)}
		}),
	}
}

// briefFacts are the facts that a table shows; the other formats have all.
func briefFacts(s term.Section) term.Section {
	s = s.Facts(
		"runId", "nodeCount", "relationshipCount", "sensorCount", "epsilonSpent", "deltaSpent", "budgetScope", "ledgerHead",
		"round", "asked", "askedNow", "yes", "heard", "heardError", "among", "sigmaMin",
		"sigmaMax", "uniformSigma", "sensitivityLower",
		"sensitivityUpper", "ceiling", "posteriorNodeId", "credibleSetSize", "credibleSetSizeKnownMass", "logOddsRunnerUp",
		"logOddsNoSource", "logOddsError", "sourcePValue", "fitPValue",
		"bpdnStatus", "bpdnGap", "bpdnRadiusRule", "bpdnRadius", "bpdnSupport", "computeMillis", "nodePropertiesWritten",
	)
	s.Title, s.Detail = "Facts", true
	return s
}

// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/report/page"
)

// whisper is a report of 30 people of whom 24 answer, every third of them yes.
func whisper(t *testing.T) *report.Report {
	t.Helper()
	g := must.Get(graph.Cycle(30))(t)
	labels := make([]int, 30)
	for k := 15; k < 30; k++ {
		labels[k] = 1
	}
	r := sample(t, g, labels, 0)
	r.Guarantee, r.Promise = "Each answer is private, in words.", &privacy.Promise{Guarantee: privacy.PerPerson.String()}
	r.NotProtected, r.BPDN = report.ExposedByAnswers(), report.BPDN{}
	r.Epsilon, r.EpsilonSpent, r.Delta, r.DeltaSpent, r.Alpha, r.Metric, r.Tau, r.Laplacian, r.Ceiling = 2, 2, 0, 0, 0, "", 0, "", 0
	r.Presence = &report.Presence{Detected: true, Probability: 1, PValue: .005, FalseAlarm: .05, Trials: 199}
	r.Whisper = &report.Whisper{
		Rumour: "heard", Round: 2, Asked: 24, New: 20, Yes: 8, Heard: 6.72, HeardError: 2.1, Flip: 1 / (1 + math.Exp(2)), Among: 11.7,
	}
	nodes := r.Nodes()
	for i := range r.Whisper.Asked {
		nodes.Answering, nodes.Yes = append(nodes.Answering, i), append(nodes.Yes, i%3 == 0)
	}
	r.SensorCount = len(nodes.Answering)
	r.SetNodes(nodes)
	r.SetAnswer()
	return r
}

// visible is the text of a page.
func visible(html string) string {
	html = regexp.MustCompile(`(?s)<style>.*?</style>`).ReplaceAllString(html, "")
	html = regexp.MustCompile(`aria-label="([^"]*)"`).ReplaceAllString(html, ">$1<")
	return regexp.MustCompile(`<[^>]*>`).ReplaceAllString(html, " ")
}

// TestWhisperWords: a page of answers speaks of people, yes and no, whatever its verdict is, and never of the model of heat.
func TestWhisperWords(t *testing.T) {
	budget := &page.Budget{Scope: "property=heard", Releases: 2, Epsilon: 4, CapEpsilon: 6, Left: 2, PerPerson: true}
	for name, test := range map[string]struct {
		change func(*report.Report)
		wants  []string
	}{
		"named": {func(*report.Report) {}, []string{
			"The whisper most likely began in community 0 around", "Hidden among", "12 people", "about 7", "8 of 24 people say yes",
			"ε = 2 a person", "large circle: says yes (8); small circle: says no (16). The coin lies in 12\u00a0% of answers",
			"small square: somebody who was not asked", "thick ring: whoever started the whisper", "blue band",
			"blue star: who really started",
			"Likeliest people", "no row of it is a finding", "Yes: where nobody has heard anything", "more than 7.39 times as likely",
			"the coin lied: it turns an answer round with probability 12 %", "This run asked 20 people, and spent ε = 2 of each of them.",
			"The answers of 4 people were kept from before, and cost nothing.",
			"2 releases of the same data ( property=heard ) together spent ε = 4 for the person who was asked most.",
			"The limit is ε = 6 for each person; ε = 2 is left.", "round", "started by one of about", "6.72 ± 2.1",
		}},
		"perhaps": {func(r *report.Report) {
			r.Communities[0].Probability, r.Communities[0].Prior = .4, .1
		}, []string{"The whisper perhaps began in community 0 around", "expect to look elsewhere too"}},
		"undecided": {func(r *report.Report) {
			r.Communities[0].Probability, r.Communities[1].Probability = .55, .45
		}, []string{"No community stands out", "Act on none of the communities"}},
		"nothing": {func(r *report.Report) { r.Presence = &report.Presence{PValue: .4, FalseAlarm: .05, Trials: 199} }, []string{
			"No sign of a whisper", "So no place is named", "There is no sign of one: where nobody has heard anything",
		}},
		"supposed": {func(r *report.Report) { r.Presence.FalseAlarm = 1 }, []string{"supposed and not tested (--false-alarm 1)"}},
		"kept": {func(r *report.Report) { r.EpsilonSpent, r.Whisper.New, r.BudgetScope = 0, 0, "" }, []string{
			"This run asked nobody and spent nothing. The answers of 24 people were kept", "all answers were kept from before",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := whisper(t)
			test.change(r)
			r.SetAnswer()
			html := write(t, page.View{Report: r, Budget: budget, Truth: &page.Truth{Nodes: []int{3}, Text: "It was Ada."}})
			elements(t, html)
			text := visible(html)
			for _, want := range test.wants {
				if !strings.Contains(text, want) {
					t.Errorf("the page does not say %q", want)
				}
			}
			for _, not := range []string{"sensor", "σ", "f̂", "source", "measure", "Basis Pursuit", "Neighbours", "hop", "node", "δ ="} {
				if at := strings.Index(strings.ToLower(text), strings.ToLower(not)); at >= 0 {
					t.Errorf("the page speaks of %q: …%s…", not, text[max(0, at-60):min(len(text), at+60)])
				}
			}
		})
	}
}

// TestAnswersOnTheMap: each who answers is a circle, whose title says what, each other person a square, and no one is named on the map.
func TestAnswersOnTheMap(t *testing.T) {
	html := write(t, page.View{Report: whisper(t)})
	drawing, _, _ := strings.Cut(html, "</svg>")
	for what, want := range map[string]int{
		"<circle": 24, "<rect x=": 6, ", says yes</title>": 8, ", says no</title>": 16, ", not asked</title>": 6,
	} {
		if got := strings.Count(drawing, what); got != want {
			t.Errorf("%d of %q are drawn, want %d", got, what, want)
		}
	}
	if strings.Contains(drawing, `font-weight="700"`) {
		t.Error("the map names a person")
	}
}

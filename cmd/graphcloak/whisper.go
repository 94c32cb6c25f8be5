// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/report"
)

// wouldAsk says what a run on answers would cost and write.
func (a *app) wouldAsk(p *graphcloak.Whisper, job graphcloak.Job) error {
	names := []string{}
	if job.Write.Enabled {
		for _, c := range report.AnswerOutline(job.RunID, job.Write.Prefix, nil).Columns() {
			names = append(names, c.Name)
		}
	}
	epsilon := p.Epsilon
	if len(p.People) == 0 {
		epsilon = 0
	}
	result := struct {
		DryRun              bool     `json:"dryRun"`
		EpsilonWouldSpend   float64  `json:"epsilonWouldSpend"` // of each person who is asked
		Asked               int      `json:"asked"`
		Round               int      `json:"round"`
		Flip                float64  `json:"flip"`
		PropertiesWouldGain []string `json:"nodeProperties"`
		Guarantee           string   `json:"guarantee"`
		NotProtected        []string `json:"notProtected"`
	}{true, epsilon, len(p.People), p.Round, p.Flip(), names, p.Sentence(), report.ExposedByAnswers()}
	return a.render(result, term.Section{
		Title: "Dry run: nothing was asked, written or spent", Columns: []string{"name", "value"},
		Rows: slices.Values([][]any{
			{"asked now", len(p.People)},
			{"ε of each of them", term.Cell(epsilon, -1)},
			{"an answer is flipped with probability", term.Probability(p.Flip())},
			{"round", p.Round},
			{"nodeProperties", spaceJoined(names)},
		}),
	}, term.Section{Title: "Guarantee", Text: p.Sentence()})
}

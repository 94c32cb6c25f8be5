// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/privacy/answer"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/run"
)

// wouldAsk says what a run on answers would cost and write.
func (a *app) wouldAsk(p *graphcloak.Whisper, job graphcloak.Job) error {
	names := written(job, report.AnswerOutline(job.RunID, job.Write.Prefix, nil))
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
	facts := term.Fields(result, "dryRun", "guarantee", "notProtected")
	facts.Title = "Dry run: nothing was asked, written or spent"
	return a.render(result, facts, term.Section{Title: "Guarantee", Text: p.Sentence()})
}

// finishAnswers is publish for answers.
func (a *app) finishAnswers(ctx context.Context, m *graphcloak.Model, r *run.AnswerRelease, job graphcloak.Job) error {
	spent := fmt.Sprintf("ε = %v of each of %s", r.Plan.Epsilon, peopleOf(len(r.Plan.People)))
	return a.publish(job, spent, func() (int64, error) { return m.PublishAnswers(ctx, r, job) }, func() error { return a.showAnswers(r) })
}

func (a *app) showAnswers(r *run.AnswerRelease) error {
	all, yes := r.Answers(), 0
	for _, v := range all {
		if v.Yes {
			yes++
		}
	}
	return a.render(r,
		term.Section{Text: fmt.Sprintf("Release %s: %d of %s say yes; ε = %v of each person's answer is spent.", r.ID(), yes,
			peopleOf(len(all)), r.Plan.Epsilon)},
		term.Section{
			Title: "Answers, some of them flipped" + moreText(len(all)), Columns: []string{"nodeId", "yes"},
			Rows: term.Rows(fewRows(a, all), func(v answer.Answer) []any { return []any{string(v.ID), v.Yes} }),
		},
		term.Section{Title: "Guarantee", Text: r.Plan.Sentence(), Detail: true})
}

// undoneAnswers says what became of the answers of a run that was undone, "" where it had none.
func undoneAnswers(ctx context.Context, s graphStore, runID string) string {
	r, err := s.History().GetRun(ctx, runID)
	holds := func(column string) bool { return strings.HasSuffix(column, "Answer") }
	if err != nil || r.Write == nil || r.Write.Table == "" || !slices.ContainsFunc(r.Write.Columns, holds) {
		return ""
	}
	return " Its answers are kept no more: whoever is asked again answers afresh, and pays again."
}

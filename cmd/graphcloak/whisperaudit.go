// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/answer"
	"github.com/graphcloak/graphcloak/privacy/audit"
	"github.com/graphcloak/graphcloak/report"
)

// answerTrials are the answers to each truth that an audit draws unless it is told how many.
const answerTrials = 1_000_000

// auditAnswers attacks the coins of a question of yes or no, and fails where the guarantee is refuted.
func (a *app) auditAnswers(ctx context.Context, path string, trials int) error {
	p, err := a.questionToAudit(path)
	if err != nil {
		return err
	}
	noise, err := throwawayNoise(p.Randomness)
	if err != nil {
		return err
	}
	escrow, _ := noise.(*privacy.Escrow)
	r, err := audit.RunAnswers(ctx, p.Question, escrow, audit.Options{Trials: trials, Progress: a.progress})
	if err != nil {
		return asRefusal(err)
	}
	refuted := ""
	if r.Refuted {
		refuted = fmt.Sprintf("ε = %v of each answer: at least ε = %.3f", r.Epsilon, r.EpsilonShown)
	}
	return a.concludeAudit(struct {
		*audit.Answers
		Verdict      string   `json:"verdict"`
		Guarantee    string   `json:"guarantee"`
		NotProtected []string `json:"notProtected"`
	}{r, r.String(), p.Sentence(), report.ExposedByAnswers()}, r.String(), p.Sentence(), refuted)
}

// questionToAudit is the question of a plan, or of the settings, asked of nobody in particular.
func (a *app) questionToAudit(path string) (*answer.Plan, error) {
	if path != "" {
		var p graphcloak.Whisper
		err := a.readAnswerPlan(path, &p)
		return p.Plan, err
	}
	job, err := a.job()
	q := job.Asking
	return &answer.Plan{
		Question: answer.Question{Rumour: q.Rumour, Round: q.AtRound(), Epsilon: q.Epsilon, Randomness: q.Randomness},
		People:   []privacy.Sensor{{ID: "somebody"}},
	}, err
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/answer"
	"github.com/graphcloak/graphcloak/privacy/audit"
	"github.com/graphcloak/graphcloak/report"
)

// answerTrials are the answers to each truth that an audit draws unless it is told how many.
const answerTrials = 1_000_000

// auditRisk is the probability that an audit refutes a guarantee that holds, at most.
const auditRisk = 1e-6

// answersAudit is what an attack on answers found.
type answersAudit struct {
	Trials       int      `json:"trials"` // answers to each truth
	YesOfTrue    int      `json:"yesOfTrue"`
	YesOfFalse   int      `json:"yesOfFalse"`
	Epsilon      float64  `json:"epsilon"`      // of the plan
	EpsilonShown float64  `json:"epsilonShown"` // a lower bound, with probability 1 − auditRisk
	Refuted      bool     `json:"refuted"`
	Verdict      string   `json:"verdict"`
	Guarantee    string   `json:"guarantee"`
	NotProtected []string `json:"notProtected"`
}

// auditAnswers attacks the coins of a question of yes or no with the most powerful test of one answer, which believes it.
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
	r := answersAudit{Trials: trials, Epsilon: p.Epsilon, Guarantee: p.Sentence(), NotProtected: report.ExposedByAnswers()}
	for truth, count := range map[bool]*int{true: &r.YesOfTrue, false: &r.YesOfFalse} {
		if *count, err = a.countYes(ctx, p, truth, trials, escrow); err != nil {
			return asRefusal(err)
		}
	}
	r.judge()
	if err := a.render(r, term.Section{Title: "Audit", Text: r.Verdict}, term.Section{Title: "Guarantee", Text: r.Guarantee}); err != nil {
		return err
	}
	if !r.Refuted {
		return nil
	}
	return fail(exitValidation, "the audit refutes ε = %v of each answer: at least ε = %.3f", r.Epsilon, r.EpsilonShown).
		hint("run it again: chance alone does this once in a million times; if it stays, publish nothing and report it")
}

// questionToAudit is the question of a plan, or of the settings, asked of nobody in particular.
func (a *app) questionToAudit(path string) (*answer.Plan, error) {
	if path != "" {
		var p graphcloak.Whisper
		err := a.readAnswerPlan(path, &p)
		return p.Plan, err
	}
	job, err := a.job()
	if err != nil {
		return nil, err
	}
	q := job.Asking
	return &answer.Plan{
		Question: answer.Question{Rumour: q.Rumour, Round: q.AtRound(), Epsilon: q.Epsilon, Randomness: q.Randomness},
		People:   []privacy.Sensor{{ID: "somebody"}},
	}, nil
}

// countYes draws answers to one truth and counts yes.
func (a *app) countYes(ctx context.Context, p *answer.Plan, truth bool, trials int, escrow *privacy.Escrow) (yes int, err error) {
	const at = 1 << 15
	for done := 0; done < trials; done += at {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		a.progress("audit", int64(done), int64(trials))
		asked := answer.Plan{Question: p.Question}
		for i := range min(at, trials-done) {
			asked.People = append(asked.People, privacy.Sensor{Node: i, ID: graph.ID(fmt.Sprint(i))})
		}
		r, err := asked.Answer(slices.Repeat([]bool{truth}, len(asked.People)), fmt.Sprint("audit ", done), escrow)
		if err != nil {
			return 0, err
		}
		for _, v := range r.Answers() {
			if v.Yes {
				yes++
			}
		}
	}
	return yes, nil
}

// judge bounds ε from below by what yes says, and by what no says: both follow from two ends of intervals, of which each fails with
// half of the risk.
func (r *answersAudit) judge() {
	lowTrue, _ := audit.ClopperPearson(r.YesOfTrue, r.Trials, auditRisk/2)
	_, highFalse := audit.ClopperPearson(r.YesOfFalse, r.Trials, auditRisk/2)
	r.EpsilonShown = max(0, math.Log(lowTrue/highFalse), math.Log((1-highFalse)/(1-lowTrue)))
	r.Refuted = r.EpsilonShown > r.Epsilon
	held := "and never more than ε: the guarantee stands this attack"
	if r.Refuted {
		held = "which is MORE than ε: the guarantee is refuted"
	}
	r.Verdict = fmt.Sprintf("Of %d answers to each truth, %d to yes and %d to no were yes. The best test of one answer shows ε ≥ %.4f "+
		"(confidence 1 − 10⁻⁶) where %v is promised, %s.", r.Trials, r.YesOfTrue, r.YesOfFalse, r.EpsilonShown, r.Epsilon, held)
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/privacy/answer"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/run"
)

// recoverAnswers says where a whisper began, from a release file and the answers that are kept on the nodes.
func (a *app) recoverAnswers(ctx context.Context, s graphStore, path string) error {
	var r run.AnswerRelease
	if err := a.readAnswers(path, &r); err != nil {
		return err
	}
	return a.recoverFile(ctx, s, r.Plan.Model, r.Signal,
		func(_ *graphcloak.Model, job graphcloak.Job) report.Table {
			return report.AnswerOutline(job.RunID, job.Write.Prefix, r.Plan.Nodes())
		},
		func(m *graphcloak.Model, job graphcloak.Job) (*report.Report, error) {
			return m.CompleteAnswers(ctx, &r, job)
		})
}

// verifyAnswers is verify for answers: it stops at the first check that fails. The file's own statements were compared when it was read.
func (a *app) verifyAnswers(ctx context.Context, path, planPath string) error {
	var r run.AnswerRelease
	if err := a.readAnswers(path, &r); err != nil {
		return err
	}
	if err := answer.Verify(r.Release, r.Plan.Plan); err != nil {
		return asRefusal(err)
	}
	p := r.Plan
	findings := []finding{
		{"statements", "every derived number, sentence and hash of the file follows from the rest of it"},
		{"coin", fmt.Sprintf("an answer is flipped with probability %.6g, which is ε = %v of each person's answer, δ = 0", p.Flip(),
			p.Epsilon)},
		{"answers", fmt.Sprintf("%d of the %s who were asked, each once", len(r.Answers()), peopleOf(len(p.People)))},
	}
	if planPath != "" {
		if err := a.verifyAnswerPlan(&r, planPath); err != nil {
			return err
		}
		findings = append(findings, finding{"plan", "the release is of " + planPath + ", in question, people and model"})
	}
	if a.storeIsNamed() {
		more, err := a.verifyInStore(ctx, &r, p.Model, func(m *graphcloak.Model) ([]finding, error) {
			return []finding{{"graph", fmt.Sprintf("graph and %s are those of the release", peopleOf(len(p.People)))}}, m.MatchesWhisper(p)
		})
		if err != nil {
			return err
		}
		findings = append(findings, more...)
	}
	open := unchecked(planPath != "", a.storeIsNamed(), "that coins were tossed as stated, afresh, and by nobody who keeps them",
		"that the answers were drawn from what people really had heard")
	return a.showVerified(&r, findings, open, p.Sentence(), report.ExposedByAnswers())
}

// verifyAnswerPlan holds a release against a plan file.
func (a *app) verifyAnswerPlan(r *run.AnswerRelease, path string) error {
	p := *r.Plan
	if err := a.readAnswerPlan(path, &p); err != nil {
		return err
	}
	if err := answer.Verify(r.Release, p.Plan); err != nil {
		return asRefusal(err)
	}
	return sameIn("model", r.ID(), path, r.Plan, &p)
}

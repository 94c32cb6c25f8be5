// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/answer"
	"github.com/graphcloak/graphcloak/privacy/sensor"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/run"
)

// recoverAnswers says where a whisper began, from a release file and the answers that are kept on the nodes.
func (a *app) recoverAnswers(ctx context.Context, s graphStore, path string) error {
	var r run.AnswerRelease
	if err := a.readAnswers(path, &r); err != nil {
		return err
	}
	job, err := a.job()
	if err != nil {
		return err
	}
	job.Settings, job.Signal = chosen(r.Plan.Model, a.config.Recovery, a.config.Community), r.Signal
	if err := job.CheckSignal(); err != nil {
		return err
	}
	if job.RunID, err = run.NewRunID(); err != nil {
		return err
	}
	m, err := a.load(ctx, s, job)
	if err != nil {
		return err
	}
	if job.Write.Enabled {
		outline := report.AnswerOutline(job.RunID, job.Write.Prefix, r.Plan.Nodes())
		if err := s.Check(ctx, m.Graph, outline, job.Write.Force); err != nil {
			return err
		}
	}
	if err := a.preparePage(ctx, s, m.Graph, r.Signal, job.RunID); err != nil {
		return err
	}
	rep, err := m.CompleteAnswers(ctx, &r, job)
	return a.conclude(ctx, s, job, rep, err)
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
	digest, err := r.Digest()
	if err != nil {
		return err
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
		more, err := a.verifyAnswersInStore(ctx, &r, digest)
		if err != nil {
			return err
		}
		findings = append(findings, more...)
	}
	open := uncheckedAnswers(planPath != "", a.storeIsNamed())
	result := struct {
		ReleaseID    string         `json:"releaseId"`
		Digest       privacy.Digest `json:"digest"`
		Verified     bool           `json:"verified"`
		Findings     []finding      `json:"findings"`
		NotChecked   []string       `json:"notChecked"`
		Guarantee    string         `json:"guarantee"`
		NotProtected []string       `json:"notProtected"`
	}{r.ID(), digest, true, findings, open, p.Sentence(), report.ExposedByAnswers()}
	return a.render(result, term.Section{Text: fmt.Sprintf("Release %s: what was checked holds.", r.ID())},
		term.Table([]string{"check", "found"}, findings, func(f finding) []any { return []any{f.Check, f.Found} }),
		term.Section{
			Title: "Not checked", Columns: []string{"what"},
			Rows: term.Rows(open, func(what string) []any { return []any{what} }),
		},
		term.Section{Title: "The guarantee, if that holds too", Text: p.Sentence()})
}

// uncheckedAnswers lists what the checks leave open.
func uncheckedAnswers(plan, store bool) (open []string) {
	if !store {
		open = append(open, "that there is such a graph with these people: name the store", "that the release was paid for: name the store")
	}
	if !plan {
		open = append(open, "that it was made under a plan that you know: give --plan FILE")
	}
	return append(open, "that coins were tossed as stated, afresh, and by nobody who keeps them",
		"that the answers were drawn from what people really had heard")
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
	x, err := json.Marshal(r.Plan)
	y, err2 := json.Marshal(&p)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	if !bytes.Equal(x, y) {
		return fail(exitConflict, "the model of release %s is not that of %s", r.ID(), path)
	}
	return nil
}

// verifyAnswersInStore checks a release against a graph and its ledger.
func (a *app) verifyAnswersInStore(ctx context.Context, r *run.AnswerRelease, digest privacy.Digest) ([]finding, error) {
	s, err := a.openReading(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close(context.WithoutCancel(ctx))
	m, err := a.model(ctx, s, r.Plan.Model)
	if err != nil {
		return nil, err
	}
	if err := m.MatchesWhisper(r.Plan); err != nil {
		return nil, err
	}
	paid, err := a.verifyPayment(ctx, s, r, digest)
	return append([]finding{{"graph", fmt.Sprintf("graph and %s are those of the release", peopleOf(len(r.Plan.People)))}}, paid...), err
}

// revealAnswers is reveal for answers.
func (a *app) revealAnswers(ctx context.Context, path, key string) error {
	var r run.AnswerRelease
	if err := a.readAnswers(path, &r); err != nil {
		return err
	}
	secret, err := sensor.ReadKeyFile(key)
	if err != nil {
		return asRefusal(err)
	}
	deployment, epoch := r.Escrow()
	if deployment == "" {
		return fail(exitValidation, "release %s tossed its coins with the system's randomness: nobody can turn its answers back", r.ID()).
			hint("only releases with --deployment can be revealed")
	}
	escrow, err := privacy.NewEscrow(secret, deployment, epoch)
	if err != nil {
		return asRefusal(err)
	}
	truths, err := r.Reveal(escrow)
	if err != nil {
		return err
	}
	s, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer s.Close(context.WithoutCancel(ctx))
	entries, err := run.Payment(ctx, s.Ledger(), &r)
	if err != nil {
		return err
	}
	digest, err := r.Digest()
	if err != nil {
		return err
	}
	record, err := privacy.MarkRevealed(ctx, s.Ledger(), entries[0].Scope, r.ID(), digest)
	if err != nil {
		return fmt.Errorf("record the reveal: %w", err)
	}
	return a.showTruths(&r, truths, record)
}

func (a *app) showTruths(r *run.AnswerRelease, truths []bool, record privacy.Entry) error {
	type row struct {
		NodeID graph.ID `json:"nodeId"`
		Truth  bool     `json:"truth"`
	}
	rows := make([]row, len(truths))
	for k, v := range r.Answers() {
		rows[k] = row{v.ID, truths[k]}
	}
	shown := rows
	if a.outputFormat() == "table" {
		shown = rows[:min(shownRows, len(rows))]
	}
	deployment, epoch := r.Escrow()
	result := struct {
		ReleaseID  string         `json:"releaseId"`
		Deployment string         `json:"deployment"`
		Epoch      uint32         `json:"epoch"`
		Scope      string         `json:"budgetScope"`
		Entry      int64          `json:"ledgerEntry"`
		Hash       privacy.Digest `json:"ledgerHash"`
		Truths     []row          `json:"truths"`
	}{r.ID(), deployment, epoch, record.Scope, record.Seq, record.Hash, rows}
	a.secret = true
	return a.render(result,
		term.Section{Text: fmt.Sprintf("Release %s is revealed: this is what people had heard. Entry %d of the ledger's scope %q "+
			"records it.", r.ID(), record.Seq, record.Scope)},
		term.Section{
			Title: "Truths" + moreText(len(rows)), Columns: []string{"nodeId", "truth"},
			Rows: term.Rows(shown, func(v row) []any { return []any{string(v.NodeID), v.Truth} }),
		})
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/privacy/answer"
	"github.com/graphcloak/graphcloak/run"
)

// releaseAnswers makes one release of answers: of the truths in the store, or of what people sent.
func (a *app) releaseAnswers(ctx context.Context, path string, sensors fromSensors) error {
	var p graphcloak.Whisper
	if err := a.readAnswerPlan(path, &p); err != nil {
		return err
	}
	job, sent, err := a.answersJob(&p, sensors)
	if err != nil {
		return err
	}
	digest, err := p.Digest()
	if err != nil {
		return err
	}
	return a.onReleaseModel(ctx, job, p.GraphDigest, []any{digest, sent},
		func(s graphStore, m *graphcloak.Model, identity string) error {
			if !job.DryRun {
				if err := a.journal(ctx, s.Ledger(), &job, outputSize(m.Graph), identity); err != nil {
					return err
				}
			}
			r, err := m.ReleaseAnswers(ctx, &p, sent, job)
			if err != nil {
				return a.unspent(job.RunID, explain(job, asRefusal(err)))
			}
			if job.DryRun {
				if err := a.noteNewScope(ctx, s.Ledger(), run.Scope(job.Signal)); err != nil {
					return err
				}
				return a.wouldAsk(&p, job)
			}
			return a.finishAnswers(ctx, m, r, job)
		})
}

// answersJob reads what the command was given, before a store is opened.
func (a *app) answersJob(p *graphcloak.Whisper, sensors fromSensors) (job graphcloak.Job, sent []answer.Value, err error) {
	if job, err = a.jobOfFile(p.Model, graphcloak.Signal{AnswerProperty: p.Rumour}, sensors); err != nil {
		return job, nil, err
	}
	if sensors.path != "" {
		sent, err = readSent(a, sensors, sentAnswers, func(v answer.Value) string { return v.ReleaseID })
	} else {
		job.Noise, err = a.noise(p.Randomness)
	}
	if err == nil && !job.Write.Enabled {
		a.warn(answersNotKept)
	}
	return job, sent, err
}

// answersNotKept is the warning where answers are paid for and the store does not keep them.
const answersNotKept = "the answers are not kept on the nodes in this mode: the next run asks again, and pays again; " +
	"--mode write keeps them"

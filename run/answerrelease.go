// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy/answer"
	"github.com/graphcloak/graphcloak/report"
)

// ErrAnswered says that people would be asked again who have an answer of the round. It would be a second one, for ε again.
var ErrAnswered = errors.New("graphcloak: people have a kept answer already")

// ReleaseAnswers spends the budget of a plan and releases the answers of its people: of their truths in the store, or those that they
// sent who drew them themselves. [Model.PublishAnswers] writes it. A dry run ends before the payment, with no release. It returns
// [ErrMissingSignal] where people of the plan have no truth, [ErrAnswered] where some have a kept answer, [ErrRound] where it was
// drawn at another ε, [ErrPaidMeanwhile] where another run has asked since, and the errors of [plan.Model.MatchesWhisper],
// [answer.Plan.Collect] and [Model.Release].
func (m *Model) ReleaseAnswers(ctx context.Context, p *plan.Whisper, sent []answer.Value, job Job) (*AnswerRelease, error) {
	job.Asking = plan.Asking{Rumour: p.Rumour, Round: p.Round, Epsilon: p.Epsilon}
	job, err := job.begun(m.Source)
	if err != nil {
		return nil, err
	}
	if err := m.MatchesWhisper(p); err != nil {
		return nil, err
	}
	kept, job, err := m.keptBefore(ctx, job)
	if err != nil {
		return nil, err
	}
	if again := len(p.People) - len(kept.Unasked(p.People, p.Round)); again > 0 {
		return nil, fmt.Errorf("%w: %d of %d people of the plan have one of round %d or later", ErrAnswered, again, len(p.People), p.Round)
	}
	a, draw, err := m.answersToPay(ctx, p, sent, job)
	if err != nil {
		return nil, err
	}
	outline := report.AnswerReleaseOutline(job.RunID, job.Write.Prefix, m.answering(p.Nodes(), kept))
	if err := m.checkWhisper(ctx, p, job, outline); err != nil || job.DryRun {
		return nil, err
	}
	return pay(ctx, m, a, outline, job, draw, putAnswers, true)
}

// answersToPay prepares a release of answers for payment, and says how it is drawn then.
func (m *Model) answersToPay(ctx context.Context, p *plan.Whisper, sent []answer.Value, job Job) (
	*Attempt, func() (*AnswerRelease, error), error,
) {
	a := answerAttempt(p, job)
	if err := a.Signal.CheckPrivate(p.PublicProperties); err != nil {
		return nil, nil, err
	}
	if sent == nil {
		if err := checkKey(p.Randomness, job.Noise); err != nil {
			return nil, nil, err
		}
		truths, err := m.truthsOf(ctx, p, job.Signal)
		return a, func() (*AnswerRelease, error) { return drawAnswers(a, truths, job.Noise) }, err
	}
	r, err := p.Collect(sent)
	if err != nil {
		return nil, nil, err
	}
	digest, err := r.Digest()
	if err != nil {
		return nil, nil, err
	}
	a.ReleaseID, a.Token = r.ID(), digest.String()
	a.Answers = &AnswerRelease{Release: r, Plan: p, Signal: a.Signal}
	return a, func() (*AnswerRelease, error) { return a.Answers, nil }, nil
}

// PublishAnswers is [Model.Publish] for answers: they are kept on the nodes where the job says so, beside those that are there.
func (m *Model) PublishAnswers(ctx context.Context, r *AnswerRelease, job Job) (int64, error) {
	rep := m.newReport()
	m.describeAnswers(rep, r.Plan)
	rep.ReleaseID, rep.Signal, rep.EpsilonSpent = r.ID(), r.Signal.AnswerProperty, r.Plan.Epsilon
	return m.publish(ctx, r, rep, job, func() (report.Table, error) {
		kept, err := m.keptBeside(ctx, r, job)
		if err != nil {
			return report.Table{}, err
		}
		rep.Whisper = &report.Whisper{Rumour: r.Plan.Rumour, Round: r.Plan.Round, Asked: len(kept)}
		return report.NewAnswerReleaseTable(m.Graph, kept, rep, job.Write.Prefix), nil
	})
}

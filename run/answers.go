// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/answer"
	"github.com/graphcloak/graphcloak/report"
)

// truths reads the answer property: 1 for yes, 0 for no, NaN for who is not asked.
func (m *Model) truths(ctx context.Context, s plan.Signal) ([]float64, error) {
	if s.AnswerProperty == "" { // no other private property is ever read as answers
		return nil, fmt.Errorf("%w: it is about no answers", plan.ErrNoSignal)
	}
	if err := errors.Join(s.Validate(), s.CheckPrivate(m.PublicProperties())); err != nil {
		return nil, err
	}
	values, err := m.values(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("read answers: %w", err)
	}
	bad := 0
	for _, v := range values {
		if v != 0 && v != 1 && !math.IsNaN(v) {
			bad++
		}
	}
	if bad > 0 {
		return nil, badSignal(s.AnswerProperty, "is neither true nor false, 1 nor 0", bad)
	}
	return values, nil
}

// keptAnswers reads the published answers about the rumour that stand on the nodes.
func (m *Model) keptAnswers(ctx context.Context, job Job) (answer.Kept, error) {
	names := report.AnswerNames(job.Write.Prefix)
	about, err := m.Source.Labels(ctx, m.Graph, names.Rumour)
	if errors.Is(err, graph.ErrNoProperty) {
		return answer.Kept{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read kept answers: %w", err)
	}
	var columns [3][]float64
	for k, name := range []string{names.Answer, names.Round, names.Epsilon} {
		if columns[k], err = m.Source.Signal(ctx, m.Graph, name); err != nil {
			return nil, fmt.Errorf("read kept answers: %w", err)
		}
	}
	yes, rounds, epsilons := columns[0], columns[1], columns[2]
	kept := make(answer.Kept)
	for i, rumour := range about {
		if rumour != job.Asking.Rumour {
			continue
		}
		r := rounds[i]
		if yes[i] != 0 && yes[i] != 1 || !(r >= 1 && r <= math.MaxInt32 && r == math.Trunc(r)) || !(epsilons[i] > 0) {
			return nil, fmt.Errorf("%w: what stands in %s, %s and %s of some nodes is no kept answer", ErrBadSignal, names.Answer,
				names.Round, names.Epsilon)
		}
		kept[m.Graph.ID(i)] = answer.KeptAnswer{Yes: yes[i] == 1, Round: int(r), Epsilon: epsilons[i]}
	}
	return kept, nil
}

// ErrRound says that answers of a round were drawn under another ε than is asked for.
var ErrRound = errors.New("graphcloak: the round was asked at another epsilon")

// sameEpsilon refuses a question at another ε than its round was asked at, and leaves out answers of earlier rounds at another.
func sameEpsilon(kept answer.Kept, a plan.Asking) error {
	for id, k := range kept {
		switch {
		case k.Epsilon == a.Epsilon:
		case k.Round >= a.AtRound():
			return fmt.Errorf("%w: round %d at ε = %v, not %v", ErrRound, k.Round, k.Epsilon, a.Epsilon)
		default:
			delete(kept, id)
		}
	}
	return nil
}

// keptBefore reads the kept answers, and returns them with a job whose ledger pays only as long as no other run has asked since: who
// slept between asks nobody twice in a round.
func (m *Model) keptBefore(ctx context.Context, job Job) (kept answer.Kept, _ Job, err error) {
	if job.Ledger, _, err = Once(ctx, job.Ledger, Scope(job.Signal)); err != nil {
		return nil, job, err
	}
	if kept, err = m.keptAnswers(ctx, job); err == nil {
		err = sameEpsilon(kept, job.Asking)
	}
	return kept, job, err
}

func answerAttempt(p *plan.Whisper, job Job) *Attempt {
	s := job.Signal
	s.Values = nil
	return &Attempt{ReleaseID: job.RunID, Token: job.Attempt, Signal: s, Whisper: p}
}

func putAnswers(k *Kept, r *AnswerRelease) { k.Answers = r }

func drawAnswers(a *Attempt, truths []bool, noise privacy.Noise) (*AnswerRelease, error) {
	escrow, _ := noise.(*privacy.Escrow)
	r, err := a.Whisper.Answer(truths, a.ReleaseID, escrow)
	if err != nil {
		return nil, err
	}
	return &AnswerRelease{Release: r, Plan: a.Whisper, Signal: a.Signal}, nil
}

// redrawAnswers reads the truths of a paid attempt again and draws its answers. A person whose truth is gone meanwhile is an error.
func (m *Model) redrawAnswers(ctx context.Context, a *Attempt, job Job) (*AnswerRelease, error) {
	if err := m.MatchesWhisper(a.Whisper); err != nil || a.Answers != nil {
		return a.Answers, err
	}
	signal := a.Signal
	signal.Values = job.Signal.Values
	truths, err := m.truthsOf(ctx, a.Whisper, signal)
	if err != nil {
		return nil, err
	}
	return drawAnswers(a, truths, job.Noise)
}

// truthsOf reads the truths of the people of a plan. Those who have none are an error with their number.
func (m *Model) truthsOf(ctx context.Context, p *plan.Whisper, s plan.Signal) ([]bool, error) {
	values, err := m.truths(ctx, s)
	if err != nil {
		return nil, err
	}
	truths, missing := make([]bool, len(p.People)), 0
	for k, person := range p.People {
		truths[k] = values[person.Node] == 1
		if math.IsNaN(values[person.Node]) {
			missing++
		}
	}
	if missing > 0 {
		return nil, badSignal(s.AnswerProperty, "is missing", missing)
	}
	return truths, nil
}

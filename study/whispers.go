// SPDX-License-Identifier: Apache-2.0

package study

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy/answer"
	"github.com/graphcloak/graphcloak/recovery/whisper"
	"github.com/graphcloak/graphcloak/report"
)

// Whispers simulates whispers and the answers to a question. No answer of anybody is read.
type Whispers struct {
	Trials     int                                   // of each size, or ε; 0: 200
	FalseAlarm float64                               // of the presence test; outside (0, 1): .05
	Progress   func(stage string, done, total int64) // may be nil
}

// whispersSeed draws the whispers that are evaluated; those of a plan have another.
const whispersSeed = 2

// HeardBy is how well whispers are placed that From to To people have heard.
type HeardBy struct {
	From int `json:"from"`
	To   int `json:"to"`
	whisper.Evaluation
}

// AtEpsilon is how well whispers of all sizes are placed at one ε of each person.
type AtEpsilon struct {
	Epsilon float64 `json:"epsilon"`
	Flip    float64 `json:"flip"`
	whisper.Evaluation
}

// otherEpsilons are evaluated beside that of a plan. The least of triedEpsilons is found that reaches a target.
var (
	otherEpsilons = []float64{.5, 1, 2, 4}
	triedEpsilons = []float64{8, 6, 5, 4, 3, 2.5, 2, 1.5, 1.25, 1, .75, .5, .25}
)

// whisperSizes are the ranges of people who have heard that are told apart, each about three times as large as the one before, up to
// half of the graph or what the model knows of; or the number that is known.
func whisperSizes(n, reach int) (list []HeardBy) {
	if reach > 0 {
		return []HeardBy{{From: reach, To: reach}}
	}
	half := max(1, min(n/2, whisper.MostHeard))
	for from := min(3, half); from <= half; {
		next := 3*from + 1 // 3, 10, 31, 94, …
		if 2*next > half {
			next = half + 1
		}
		list = append(list, HeardBy{From: from, To: next - 1})
		from = next
	}
	return list
}

// Everybody marks all whom a model may ask, by node.
func Everybody(m *plan.Model) []bool {
	asked := make([]bool, m.Graph.Order())
	for _, i := range m.Sensors {
		asked[i] = true
	}
	return asked
}

func (w Whispers) options(o whisper.EvaluateOptions) whisper.EvaluateOptions {
	o.Trials, o.Seed = w.Trials, whispersSeed
	if w.FalseAlarm > 0 && w.FalseAlarm < 1 {
		o.Level = w.FalseAlarm
	}
	return o
}

func (w Whispers) progress(done, total int) {
	if w.Progress != nil {
		w.Progress("evaluate", int64(done), int64(total))
	}
}

// BySize evaluates a plan by how many people have heard. It returns [whisper.ErrInvalid] for a tempering of another question and the
// errors of [plan.Model.Partition].
func (w Whispers) BySize(ctx context.Context, m *plan.Model, p *plan.Whisper) ([]HeardBy, error) {
	list := whisperSizes(m.Graph.Order(), p.Reach)
	likelihood, err := m.AnswerLikelihood(ctx, p, Everybody(m))
	for k := 0; k < len(list) && err == nil; k++ {
		w.progress(k, len(list))
		heard := whisper.EvaluateOptions{From: list[k].From, To: list[k].To}
		list[k].Evaluation, err = likelihood.Evaluate(ctx, p.Tempering, w.options(heard))
	}
	return list, err
}

// ByEpsilon evaluates a plan at its own ε and at others. It returns the errors of [Whispers.BySize] and [plan.Model.PlanWhisper].
func (w Whispers) ByEpsilon(ctx context.Context, m *plan.Model, p *plan.Whisper) (list []AtEpsilon, err error) {
	all := slices.Compact(slices.Sorted(slices.Values(append([]float64{p.Epsilon}, otherEpsilons...))))
	for k, epsilon := range all {
		w.progress(k, len(all))
		at := p
		if epsilon != p.Epsilon {
			asking := plan.Asking{Rumour: p.Rumour, Round: p.Round, Epsilon: epsilon, Randomness: p.Randomness, Reach: p.Reach}
			if at, err = m.PlanWhisper(ctx, asking, nil, Everybody(m)); err != nil {
				return nil, err
			}
		}
		likelihood, err := m.AnswerLikelihood(ctx, at, Everybody(m))
		if err != nil {
			return nil, err
		}
		e, err := likelihood.Evaluate(ctx, at.Tempering, w.options(whisper.EvaluateOptions{}))
		if err != nil {
			return nil, err
		}
		list = append(list, AtEpsilon{epsilon, at.Flip(), e})
	}
	return list, nil
}

// EpsilonFor returns the least ε of each person, of thirteen from 0.25 to 8, at which simulated whispers are placed right this often.
// It returns [ErrTarget] where none is, and the errors of [whisper.LargestFlip].
func (w Whispers) EpsilonFor(ctx context.Context, m *plan.Model, asking plan.Asking, often float64) (float64, error) {
	part, err := m.Partition(ctx)
	if err != nil {
		return 0, err
	}
	var flips []float64
	for _, epsilon := range triedEpsilons {
		flips = append(flips, answer.Question{Epsilon: epsilon}.Flip())
	}
	flip, found, ok, err := whisper.LargestFlip(ctx, m.Graph,
		whisper.Options{Labels: part.Labels, Reach: asking.Reach, Asked: Everybody(m)}, flips, often, w.options(whisper.EvaluateOptions{}))
	if err != nil {
		return 0, err
	}
	epsilon := triedEpsilons[slices.Index(flips, flip)]
	if !ok {
		return 0, fmt.Errorf("%w: simulated whispers are placed right in %s at ε = %v, and %s is wanted", ErrTarget,
			report.Percent(found.Right), epsilon, report.Percent(often))
	}
	return epsilon, nil
}

// whisperSeconds is about what one core takes to place whispers, given so many vectors of answers, on a graph of n people: each column
// of the likelihood meets every yes, at some ten sizes. It was measured on graphs of 200 to 10,000 people. On large graphs a sample of
// the columns does, and it is at most that where every column reaches everybody.
func whisperSeconds(n int, flip float64, vectors int) float64 {
	if n > whisper.LargeGraph {
		return float64(min(n, 500_000)) * (5e-3 + 1e-5*flip*float64(vectors))
	}
	return 1e-8 * flip * float64(n) * float64(n) * float64(vectors)
}

// nullVectors are the answers without a whisper that a presence test compares with.
const nullVectors = 199

// AffordableWhispers is the number of trials of each size, at most those asked for, that one core does within a time by estimate;
// 0: fewer than [report.LeastTrials].
func AffordableWhispers(m *plan.Model, p *plan.Whisper, trials int, limit time.Duration) int {
	sizes := float64(len(whisperSizes(m.Graph.Order(), p.Reach)))
	for _, trials := range []int{trials, min(trials, report.LeastTrials)} {
		if sizes*whisperSeconds(len(m.Sensors), p.Flip(), 2*trials+nullVectors) <= limit.Seconds() {
			return trials
		}
	}
	return 0
}

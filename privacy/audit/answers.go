// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/answer"
)

// answersRisk is the probability that an audit of answers refutes a guarantee that holds, at most.
const answersRisk = 1e-6

// Answers is what an attack on answers of yes or no found.
type Answers struct {
	Trials       int     `json:"trials"` // answers to each truth
	YesOfTrue    int     `json:"yesOfTrue"`
	YesOfFalse   int     `json:"yesOfFalse"`
	Epsilon      float64 `json:"epsilon"`      // of the question
	EpsilonShown float64 `json:"epsilonShown"` // a lower bound, with probability 1 − 10⁻⁶
	Refuted      bool    `json:"refuted"`
}

// RunAnswers attacks the coins of a question with the most powerful test of one answer, which believes it. It draws so many
// answers to each truth; escrow is nil where the coins are the system's. It returns the errors of [answer.Plan.Answer].
func RunAnswers(ctx context.Context, q answer.Question, escrow *privacy.Escrow, opts Options) (*Answers, error) {
	r := &Answers{Trials: opts.Trials, Epsilon: q.Epsilon}
	for truth, count := range map[bool]*int{true: &r.YesOfTrue, false: &r.YesOfFalse} {
		var err error
		if *count, err = countYes(ctx, q, truth, escrow, opts); err != nil {
			return nil, err
		}
	}
	r.judge()
	return r, nil
}

// countYes draws answers to one truth and counts yes.
func countYes(ctx context.Context, q answer.Question, truth bool, escrow *privacy.Escrow, opts Options) (yes int, err error) {
	const at = 1 << 15
	for done := 0; done < opts.Trials; done += at {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		opts.report("audit", done, opts.Trials)
		asked := answer.Plan{Question: q}
		for i := range min(at, opts.Trials-done) {
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
func (r *Answers) judge() {
	lowTrue, _ := ClopperPearson(r.YesOfTrue, r.Trials, answersRisk/2)
	_, highFalse := ClopperPearson(r.YesOfFalse, r.Trials, answersRisk/2)
	r.EpsilonShown = max(0, math.Log(lowTrue/highFalse), math.Log((1-highFalse)/(1-lowTrue)))
	r.Refuted = r.EpsilonShown > r.Epsilon
}

// String is the verdict in words.
func (r *Answers) String() string {
	held := "and never more than ε: the guarantee stands this attack"
	if r.Refuted {
		held = "which is MORE than ε: the guarantee is refuted"
	}
	return fmt.Sprintf("Of %d answers to each truth, %d to yes and %d to no were yes. The best test of one answer shows ε ≥ %.4f "+
		"(confidence 1 − 10⁻⁶) where %v is promised, %s.", r.Trials, r.YesOfTrue, r.YesOfFalse, r.EpsilonShown, r.Epsilon, held)
}

// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"math"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/answer"
)

// TestAnswers: a sound coin stands the attack, which shows nearly all of its ε, and one that keeps four truths of five is refuted.
func TestAnswers(t *testing.T) {
	q := answer.Question{Rumour: "heard", Round: 1, Epsilon: 1, Randomness: privacy.SystemRandomness}
	r := must.Get(RunAnswers(t.Context(), q, nil, Options{Trials: 100_000}))(t)
	if r.Refuted || !(r.EpsilonShown > .9 && r.EpsilonShown <= 1) {
		t.Errorf("a sound coin: %v", r)
	}
	weak := &Answers{Trials: 100_000, YesOfTrue: 80_000, YesOfFalse: 20_000, Epsilon: 1}
	if weak.judge(); !weak.Refuted || !(weak.EpsilonShown > 1.3 && weak.EpsilonShown < math.Log(4)) {
		t.Errorf("a coin that keeps four truths of five: %v", weak)
	}
}

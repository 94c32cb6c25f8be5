// SPDX-License-Identifier: Apache-2.0

package sensor_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/cryptotest"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/answer"
	"github.com/graphcloak/graphcloak/privacy/sensor"
)

// asked is the package of one person for a round.
func asked(t *testing.T, round int, change func(*answer.Package)) answer.Package {
	t.Helper()
	p := &answer.Plan{
		Question: answer.Question{Rumour: "heard", Round: round, Epsilon: 0.5},
		People:   []privacy.Sensor{{Node: 3, ID: "Ann"}},
	}
	k := must.Get(p.Packages(fmt.Sprint("night ", round), 1, "", 0))(t)[0]
	if change != nil {
		change(&k)
	}
	return k
}

// TestAnswersAreKept: in a round a person says the same whatever the truth has become, at no cost; each of 40 people
// would be caught with a probability of at least a third were the answer drawn again. The state of people whose
// truth changed is that of people whose truth did not.
func TestAnswersAreKept(t *testing.T) {
	changed := 0
	for i := range 40 {
		var states [2][]byte
		for side := range states {
			cryptotest.SetGlobalRandom(t, uint64(i))
			opts := sensor.AnswerOptions{StateDir: t.TempDir()}
			first := must.Get(sensor.Answer(asked(t, 1, nil), false, opts))(t)
			for range 3 {
				later := asked(t, 1, func(k *answer.Package) { k.ReleaseID = "another night" })
				if again := must.Get(sensor.Answer(later, side == 1, opts))(t); again != first {
					t.Fatalf("person %d says %v, then %v in the same round", i, first, again)
				}
			}
			states[side] = must.Get(os.ReadFile(filepath.Join(opts.StateDir, "answers.db")))(t)
			second := must.Get(sensor.Answer(asked(t, 2, nil), false, opts))(t)
			if second.Yes != first.Yes {
				changed++
			}
		}
		if !bytes.Equal(states[0], states[1]) {
			t.Errorf("person %d: the state says whether the truth has changed", i)
		}
	}
	if changed < 8 || changed > 72 {
		t.Errorf("%d of 80 answers changed in a new round with fresh coins", changed)
	}
}

// TestAnswersHaveALimit: rounds cost ε each up to the person's limit, which no package raises; a round does not come back.
func TestAnswersHaveALimit(t *testing.T) {
	opts := sensor.AnswerOptions{StateDir: t.TempDir()}
	for round := 1; round <= 2; round++ {
		must.Get(sensor.Answer(asked(t, round, nil), true, opts))(t)
	}
	for name, c := range map[string]struct {
		k    answer.Package
		want error
	}{
		"a third round":    {asked(t, 3, nil), privacy.ErrExhausted},
		"a raised limit":   {asked(t, 3, func(k *answer.Package) { k.Limit *= 9 }), privacy.ErrExhausted},
		"the first round":  {asked(t, 1, nil), privacy.ErrMismatch},
		"somebody else":    {asked(t, 3, func(k *answer.Package) { k.Person = "Ben" }), privacy.ErrMismatch},
		"none of a person": {asked(t, 3, func(k *answer.Package) { k.Person = graph.ID("") }), nil},
	} {
		v, err := sensor.Answer(c.k, true, opts)
		if err == nil || c.want != nil && !errors.Is(err, c.want) || v != (answer.Value{}) {
			t.Errorf("%s: %v, %v, want %v", name, v, err, c.want)
		}
	}
	another := asked(t, 1, func(k *answer.Package) { k.Rumour = "another" })
	must.Get(sensor.Answer(another, true, opts))(t)
	opts = sensor.AnswerOptions{StateDir: t.TempDir(), EpsilonMax: 0.4}
	if _, err := sensor.Answer(another, true, opts); !errors.Is(err, privacy.ErrExhausted) {
		t.Errorf("an answer of ε = 0.5 to somebody who allows 0.4: %v, want ErrExhausted", err)
	}
}

// TestAnswersNeedTheirState: a damaged file, one in use and no directory at all answer nothing.
func TestAnswersNeedTheirState(t *testing.T) {
	if _, err := sensor.Answer(asked(t, 1, nil), true, sensor.AnswerOptions{}); err == nil {
		t.Error("an answer is drawn that nothing keeps")
	}
	opts := sensor.AnswerOptions{StateDir: t.TempDir()}
	must.Do(t, os.WriteFile(filepath.Join(opts.StateDir, "answers.db"), bytes.Repeat([]byte{7}, 4096), 0o600))
	if _, err := sensor.Answer(asked(t, 1, nil), true, opts); err == nil {
		t.Error("an answer is drawn beside a damaged state")
	}
}

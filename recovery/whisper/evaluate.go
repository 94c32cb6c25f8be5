// SPDX-License-Identifier: Apache-2.0

package whisper

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/graph"
)

// EvaluateOptions of [Model.Evaluate].
type EvaluateOptions struct {
	Trials   int     // simulated rumours, and as many answers without one; 0: 200
	Seed     uint64  // another than that of [Model.Temper]
	Nature   *Nature // nil: the mixture of a tempering
	From, To int     // people who have heard when the rumour is cut, log-uniform; 0: those of the model
	Level    float64 // of the presence test, in (0, 1); 0: .05
}

// Evaluation is how well sources of simulated rumours were found.
type Evaluation struct {
	Trials            int     `json:"trials"`
	Heard             float64 `json:"heard"`             // people, on average
	Right             float64 `json:"right"`             // share of rumours that began in the community that ranks first
	Chance            float64 `json:"chance"`            // the same of one who always names the largest community
	Confidence        float64 `json:"confidence"`        // mean probability of the community that ranks first
	CalibrationError  float64 `json:"calibrationError"`  // mean distance of probability and share, in ten bins
	ConfidentAndWrong float64 `json:"confidentAndWrong"` // share of rumours whose wrong community has a probability above .9
	Credible          float64 `json:"credible"`          // mean of [Result].Credible
	Covered           float64 `json:"covered"`           // share of rumours whose source is in the set of [Result].Credible people
	Among             float64 `json:"among"`             // mean of [Result].Among
	Found             float64 `json:"found"`             // share of rumours that the presence test finds
	FalseAlarms       float64 `json:"falseAlarms"`       // the same where there is none
}

// Evaluate simulates rumours and answers, and scores what [Model.Locate] makes of them.
func (m *Model) Evaluate(ctx context.Context, t Tempering, o EvaluateOptions) (Evaluation, error) {
	n := len(m.labels)
	if o.From == 0 && o.To == 0 {
		o.From, o.To = int(math.Ceil(m.smallest)), int(m.greatest)
	}
	if o.Trials == 0 {
		o.Trials = 200
	}
	if o.Level == 0 {
		o.Level = .05
	}
	switch {
	case o.Trials < 1 || o.Trials > 1<<20:
		return Evaluation{}, fmt.Errorf("%w: %d trials", ErrInvalid, o.Trials)
	case o.From < 1 || o.To < o.From || o.To > n:
		return Evaluation{}, fmt.Errorf("%w: from %d to %d people have heard, want 1 to %d", ErrInvalid, o.From, o.To, n)
	case !(o.Level > 0 && o.Level < 1):
		return Evaluation{}, fmt.Errorf("%w: the level is %v, want a number between 0 and 1", ErrInvalid, o.Level)
	case o.Nature != nil && (o.Nature.Law < SI || o.Nature.Law > SIR):
		return Evaluation{}, fmt.Errorf("%w: there is no law %d", ErrInvalid, o.Nature.Law)
	case o.Nature != nil && o.Nature.Law != SI && !(o.Nature.Passing > 0 && o.Nature.Passing < 1):
		return Evaluation{}, fmt.Errorf("%w: a relationship passes a rumour on with probability %v, want between 0 and 1",
			ErrInvalid, o.Nature.Passing)
	}
	if err := t.Check(m.flip); err != nil {
		return Evaluation{}, err
	}
	own := *m
	own.smallest, own.greatest = float64(o.From), float64(o.To)
	trials := m.simulate(2*o.Trials, func(k int, random *rand.Rand, c *Cascades) trial {
		if k >= o.Trials {
			return trial{yes: m.flipped(nil, random)}
		}
		source := random.IntN(n)
		heard := own.draw(o.Nature, source, random, c)
		return trial{source: source, heard: len(heard), yes: m.flipped(heard, random)}
	}, o.Seed)
	var yes [][]int32
	for _, x := range trials {
		yes = append(yes, x.yes)
	}
	s := tally{m: m, trials: trials[:o.Trials], level: o.Level}
	if err := m.locate(ctx, t, yes, LocateOptions{Nulls: int(math.Ceil(10/o.Level)) - 1, Seed: ^o.Seed}, s.add); err != nil {
		return Evaluation{}, err
	}
	return s.evaluation(), nil
}

// draw draws a cascade of a nature, or of the mixture.
func (m *Model) draw(nature *Nature, source int, random *rand.Rand, c *Cascades) []int32 {
	if nature == nil {
		heard, _ := m.mixed(source, random, c)
		return heard
	}
	return c.Run(*nature, source, Cut{Size: m.drawSize(random)}, random)
}

// tally counts what comes of trials.
type tally struct {
	m      *Model
	trials []trial
	level  float64 // of the presence test
	sums   Evaluation
	bins   [10][2]float64
}

// add counts the k-th result; those beyond the trials are of answers without a rumour.
func (s *tally) add(k int, r Result) {
	e, found := &s.sums, 0.0
	if r.Presence.Nobody <= s.level {
		found = 1
	}
	if k >= len(s.trials) {
		e.FalseAlarms += found
		return
	}
	best := floats.MaxIdx(r.Community)
	p, right := r.Community[best], 0.0
	if best == s.m.labels[s.trials[k].source] {
		right = 1
	} else if p > confident {
		e.ConfidentAndWrong++
	}
	if r.holds(s.trials[k].source) {
		e.Covered++
	}
	bin := &s.bins[min(len(s.bins)-1, int(p*float64(len(s.bins))))]
	bin[0], bin[1] = bin[0]+p, bin[1]+right
	e.Right, e.Found, e.Confidence = e.Right+right, e.Found+found, e.Confidence+p
	e.Heard += float64(s.trials[k].heard)
	e.Credible, e.Among = e.Credible+float64(r.Credible), e.Among+r.Among
}

// evaluation returns the shares and means.
func (s *tally) evaluation() Evaluation {
	e := s.sums
	e.Trials = len(s.trials)
	for _, b := range s.bins {
		e.CalibrationError += math.Abs(b[0] - b[1])
	}
	for _, sum := range []*float64{
		&e.Right, &e.Found, &e.FalseAlarms, &e.Confidence, &e.ConfidentAndWrong, &e.Covered, &e.Heard, &e.Credible, &e.Among,
		&e.CalibrationError,
	} {
		*sum /= float64(len(s.trials))
	}
	for _, k := range s.m.orders {
		e.Chance = max(e.Chance, float64(k)/float64(len(s.m.labels)))
	}
	return e
}

// holds reports whether a node is in the smallest set that holds 95 %.
func (r Result) holds(node int) bool {
	before := 0.0
	for _, p := range r.Probability {
		if p > r.Probability[node] {
			before += p
		}
	}
	return before < .95
}

// LargestFlip returns the largest of some flip probabilities, ascending, under which a share right of the rumours is placed right, with
// its evaluation: the least privacy loss is at the most flips. Accuracy falls as flips grow. It reports false, with the first flip
// probability, where that is too large already. o.Flip is not read; temperings take the seed after that of the evaluations.
func LargestFlip(ctx context.Context, g *graph.Graph, o Options, flips []float64, right float64, eo EvaluateOptions,
) (flip float64, e Evaluation, ok bool, err error) {
	if len(flips) == 0 || !slices.IsSorted(flips) {
		return 0, e, false, fmt.Errorf("%w: flip probabilities %v, want some in ascending order", ErrInvalid, flips)
	}
	try := func(k int) (e Evaluation, err error) {
		o.Flip = flips[k]
		m, err := New(g, o)
		if err != nil {
			return e, err
		}
		t, err := m.Temper(ctx, eo.Seed+1, 0)
		if err != nil {
			return e, err
		}
		return m.Evaluate(ctx, t, eo)
	}
	if e, err = try(0); err != nil || e.Right < right {
		return flips[0], e, false, err
	}
	low, high := 0, len(flips)-1 // the answer is within
	for low < high {
		middle := (low + high + 1) / 2
		x, err := try(middle)
		if err != nil {
			return 0, e, false, err
		}
		if x.Right >= right {
			low, e = middle, x
		} else {
			high = middle - 1
		}
	}
	return flips[low], e, true, nil
}

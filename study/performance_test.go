// SPDX-License-Identifier: Apache-2.0

package study

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/study/simulate"
)

// forecasts are n trials whose confidence c is uniform in [½, 1) and which are right
// with probability c − excess.
func forecasts(n int, excess float64, seed uint64) []simulate.Trial {
	random := rand.New(rand.NewPCG(seed, 0))
	trials := make([]simulate.Trial, n)
	for t := range trials {
		c := (1 + random.Float64()) / 2
		trials[t] = simulate.Trial{Confidence: c, Right: random.Float64() < c-excess}
	}
	return trials
}

// At a fresh seed fewer than 83 of 100 samples lie within a 95 % bound with probability
// 2e-6, by the binomial law; the mean errors agree within five standard errors.
func TestCalibrationOfForecasts(t *testing.T) {
	const repeats, least, n = 100, 83, 600
	for _, excess := range []float64{0, 0.1, -0.1} {
		inside, below, mean, chance := 0, 0, 0.0, 0.0
		for seed := range uint64(repeats) {
			c := calibrate(forecasts(n, excess, seed), seed)
			// The interval holds the true error |excess|, an underconfident one stopping at
			// 1: c + 0.1 > 1 in the last fifth, where the error is 1 − c, 0.05 in the mean.
			truth := math.Abs(excess)
			if excess < 0 {
				truth = 0.8*0.1 + 0.2*0.05
			}
			if c.Lower <= truth && truth <= c.Upper {
				inside++
			}
			if c.Error <= c.Limit {
				below++
			}
			mean, chance = mean+c.Error/repeats, chance+c.Chance/repeats
		}
		if inside < least {
			t.Errorf("excess %v: the 95 %% interval holds the error in %d of %d samples", excess, inside, repeats)
		}
		if excess == 0 && (below < least || math.Abs(mean-chance) > 0.18*chance) {
			t.Errorf("calibrated: %d of %d below the limit, mean error %v, expected by chance %v", below, repeats, mean, chance)
		}
		if excess != 0 && below > 0 {
			t.Errorf("excess %v: %d of %d samples pass for calibrated", excess, below, repeats)
		}
	}
}

// The error of four trials, by hand: bins 0.5 to 0.6 and 0.9 to 1.
func TestCalibrationByHand(t *testing.T) {
	trials := []simulate.Trial{{Confidence: .5, Right: true}, {Confidence: .59}, {Confidence: 1, Right: true}, {Confidence: .9}}
	c := calibrate(trials, 0)
	want := (math.Abs(1-1.09) + math.Abs(1-1.9)) / 4
	if math.Abs(c.Error-want) > 1e-15 || len(c.Bins) != 2 || c.Bins[0].Count != 2 || c.Bins[1].From != .9 {
		t.Errorf("error %v, want %v; bins %+v", c.Error, want, c.Bins)
	}
	if math.Abs(c.Bins[1].Confidence-.95) > 1e-15 || c.Bins[1].Right.Rate != .5 || math.Abs(c.MeanConfidence-.7475) > 1e-15 {
		t.Errorf("bins %+v, mean confidence %v", c.Bins, c.MeanConfidence)
	}
}

// The counts of a summary, by hand.
func TestSummarize(t *testing.T) {
	f := must.Get(Summarize([]simulate.Trial{
		{Confidence: .9, Right: true, Answered: true, Covered: true, CredibleSetSize: 3, Distance: 1},
		{Confidence: .8, Answered: true, Covered: true, CredibleSetSize: 5, Distance: 2},
		{Confidence: .4, Right: true, CredibleSetSize: 7, Distance: 6},
		{Confidence: .3, Covered: true, CredibleSetSize: 9, Distance: 3},
	}, 1))(t)
	if f.Right.Rate != .5 || f.Answered.Rate != .5 || f.Unanswered != 2 || f.RightAnswers.Rate != .5 || f.Coverage.Rate != .75 {
		t.Errorf("%+v", f)
	}
	if f.CredibleSetSize != 6 || f.MeanEMD != 3 {
		t.Errorf("credible set of %v nodes, distance %v; want 6 and 3", f.CredibleSetSize, f.MeanEMD)
	}
	if none, err := Summarize([]simulate.Trial{{Confidence: .5}}, 1); err != nil || none.RightAnswers != nil {
		t.Errorf("%+v", none)
	}
}

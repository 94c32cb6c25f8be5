// SPDX-License-Identifier: Apache-2.0

package study

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/recovery/posterior"
	"github.com/graphcloak/graphcloak/run"
)

// forecasts are n trials whose confidence c is uniform in [½, 1) and which are right
// with probability c − excess.
func forecasts(n int, excess float64, seed uint64) []Trial {
	random := rand.New(rand.NewPCG(seed, 0))
	trials := make([]Trial, n)
	for t := range trials {
		c := (1 + random.Float64()) / 2
		trials[t] = Trial{Confidence: c, Right: random.Float64() < c-excess}
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
			inside += indicator(c.Lower <= truth && truth <= c.Upper)
			below += indicator(c.Error <= c.Limit)
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
	trials := []Trial{{Confidence: .5, Right: true}, {Confidence: .59}, {Confidence: 1, Right: true}, {Confidence: .9}}
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
	f, err := Summarize([]Trial{
		{
			Confidence: .9, Right: true, Answered: true, Covered: true, CredibleSetSize: 3, Distance: 1,
			Denoised: &DenoisedTrial{Status: recovery.Optimal, Answered: true, Right: true, Distance: 2},
		},
		{Confidence: .8, Answered: true, Covered: true, CredibleSetSize: 5, Distance: 2, Denoised: &DenoisedTrial{Status: recovery.Zero}},
		{Confidence: .4, Right: true, CredibleSetSize: 7, Distance: 6, Denoised: &DenoisedTrial{Status: recovery.Infeasible}},
		{Confidence: .3, Covered: true, CredibleSetSize: 9, Distance: 3, Denoised: &DenoisedTrial{Answered: true, Distance: 4}},
	}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if f.Right.Rate != .5 || f.Answered.Rate != .5 || f.Unanswered != 2 || f.RightAnswers.Rate != .5 || f.Coverage.Rate != .75 {
		t.Errorf("%+v", f)
	}
	if f.CredibleSetSize != 6 || f.MeanEMD != 3 {
		t.Errorf("credible set of %v nodes, distance %v; want 6 and 3", f.CredibleSetSize, f.MeanEMD)
	}
	b := f.BPDN
	if b.Answered.Rate != .5 || b.Right.Rate != .25 || b.RightAnswers.Rate != .5 || b.Zero != 1 || b.Infeasible != 1 || b.Stalled != 1 ||
		*b.MeanEMD != 3 {
		t.Errorf("%+v", b)
	}
	if none, err := Summarize([]Trial{{Confidence: .5}}, 1); err != nil || none.RightAnswers != nil || none.BPDN != nil {
		t.Errorf("%+v", none)
	}
}

// TestCalibrationShowsAWrongPosterior: one that believes in less noise than there
// is claims too much, and one that believes in more too little; the right one passes.
func TestCalibrationShowsAWrongPosterior(t *testing.T) {
	m := loadExample(t, "net3", 2)
	p, err := m.Plan(t.Context(), plainNoise())
	if err != nil {
		t.Fatal(err)
	}
	s, err := newEvaluator(t.Context(), m, Options{Trials: 500, Seed: 5, Recover: analyst.Options{Amplitude: posterior.UniformAmplitude}})
	if err != nil {
		t.Fatal(err)
	}
	for _, scale := range []float64{.5, 1, 2} {
		r, err := s.newSimulation(t.Context(), p.Plan)
		if err != nil {
			t.Fatal(err)
		}
		floats.Scale(scale, r.u)
		floats.Scale(scale, r.norms.N)
		trials, err := r.run(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		if c := calibrate(trials, 0); (c.Error > c.Limit) != (scale != 1) || (c.Lower > 0) != (scale != 1) {
			t.Errorf("precision times %v: error %v from %v, chance gives at most %v", scale, c.Error, c.Lower, c.Limit)
		}
	}
}

// loadExample loads a shipped graph.
func loadExample(t *testing.T, name string, tau float64) *plan.Model {
	t.Helper()
	store, _ := testkit.Example(t, name)
	m, err := run.Load(t.Context(), store, plan.Settings{Tau: tau}, plan.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return m.Model
}

// plainNoise is uniform noise at ε = 4, δ = 0.1.
func plainNoise() plan.Options {
	return plan.Options{Budget: privacy.Budget{Epsilon: 4, Delta: .1}, Alpha: 1, Allocation: plan.Allocation{Uniform: true}}
}

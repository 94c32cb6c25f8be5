// SPDX-License-Identifier: Apache-2.0

package study

import (
	"errors"
	"math"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/combin"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/report"
)

// TestOutlook: it is the accuracy of Expect, by the same trials, and by more where 200 do not tell it from chance; a brief one counts
// the same trials too, fewer where the first look decides.
func TestOutlook(t *testing.T) {
	m := loadExample(t, "karate", 2)
	for epsilon, want := range map[float64]struct{ trials, least, most int }{
		.01: {ChanceTrials, ChanceTrials, ChanceTrials}, 400: {DefaultTrials, firstLook, firstLook},
		6: {DefaultTrials, firstLook + nextLook, briefTrials},
	} {
		opts := plainNoise()
		opts.Epsilon = epsilon
		p, err := m.Plan(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		a, err := Outlook(t.Context(), m, p, analyst.Options{}, 3, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if err := Expect(t.Context(), m, p, analyst.Options{}, Sample{Trials: DefaultTrials, Most: ChanceTrials, Seed: 3}); err != nil {
			t.Fatal(err)
		}
		if a.Trials != want.trials || a.Probability != p.Accuracy.Probability || a.Trials != p.Accuracy.Trials ||
			a.AtChance() != (epsilon < 1) {
			t.Errorf("ε = %v: %+v, where a plan is said to have %+v, want %d trials", epsilon, a, p.Accuracy, want.trials)
		}
		if u := p.Allocated; u != nil && u.Uniform.Accuracy.Trials != a.Trials {
			t.Errorf("ε = %v: %d trials of uniform noise beside %d", epsilon, u.Uniform.Accuracy.Trials, a.Trials)
		}
		if err := RefuseAtChance(t.Context(), m, p, analyst.Options{}); errors.Is(err, ErrAtChance) != a.AtChance() || err != nil &&
			!a.AtChance() {
			t.Errorf("ε = %v: refused with %v", epsilon, err)
		}
		s, err := newExpectation(t.Context(), m, analyst.Options{}, Sample{Trials: ChanceTrials, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		s.brief = true
		r, err := s.newSimulation(t.Context(), p.Plan)
		if err != nil {
			t.Fatal(err)
		}
		b, err := r.untilDecided(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		trials := planTrials(t, m, p, Sample{Trials: b.Trials, Seed: 3})
		right := 0
		for _, x := range trials {
			right += indicator(x.Right)
		}
		if math.Abs(b.Probability*float64(b.Trials)-float64(right)) > 1e-9 || !b.Possible() || b.Trials < want.least ||
			b.Trials > want.most {
			t.Errorf("ε = %v, briefly: %+v, where %d of these are right, want %+v", epsilon, b, right, want)
		}
		if _, err := Outlook(t.Context(), m, p, analyst.Options{}, 3, time.Microsecond); !errors.Is(err, ErrLong) {
			t.Errorf("within a microsecond: %v", err)
		}
		if _, err := LargeAccuracy(t.Context(), m, p, analyst.Options{}, Sample{Trials: 2}, time.Microsecond); !errors.Is(err, ErrLong) {
			t.Errorf("within a microsecond: %v", err)
		}
	}
}

// TestLooksDecideWrongRarely: of a plan just at what is asked of it, by the exact law of all sequences of trials, no more than 1.5 %
// end before the last look on one side, for any chance.
func TestLooksDecideWrongRarely(t *testing.T) {
	for _, chance := range []float64{.001, .05, .35, .7, .99} {
		p := report.Half(chance)
		alive, low, high := map[int]float64{0: 1}, 0.0, 0.0
		for n, step := firstLook, firstLook; n < briefTrials; n, step = n+nextLook, nextLook {
			next := map[int]float64{}
			for k, share := range alive {
				for j := range step + 1 {
					next[k+j] += share * math.Exp(combin.LogGeneralizedBinomial(float64(step), float64(j))+float64(j)*math.Log(p)+
						float64(step-j)*math.Log1p(-p))
				}
			}
			for k, share := range next {
				if !decided(k, n, p) {
					continue
				}
				if float64(k) < p*float64(n) {
					low += share
				} else {
					high += share
				}
				delete(next, k)
			}
			alive = next
		}
		if low > .015 || high > .015 || low+high == 0 && chance < .7 {
			t.Errorf("chance %v: %v and %v of all end early", chance, low, high)
		}
	}
	if decided(10, 20, .5) || !decided(20, 20, .5) || !decided(0, 20, .5) {
		t.Error("half of 20 decides, or none and all do not")
	}
}

// planTrials returns what came of each simulated release of the plan.
func planTrials(t *testing.T, m *plan.Model, p *plan.Plan, sample Sample) []Trial {
	t.Helper()
	s, err := newExpectation(t.Context(), m, analyst.Options{}, sample)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.newSimulation(t.Context(), p.Plan)
	if err != nil {
		t.Fatal(err)
	}
	trials, err := r.run(t.Context(), "simulate")
	if err != nil {
		t.Fatal(err)
	}
	return trials
}

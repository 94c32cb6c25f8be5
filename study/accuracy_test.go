// SPDX-License-Identifier: Apache-2.0

package study_test

import (
	"errors"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/study"
)

// TestOutlook: it is the accuracy of Expect, by the same trials, and by more where 200 do not tell it from chance; as much as there is
// time for, and none where that is too little.
func TestOutlook(t *testing.T) {
	for epsilon, trials := range map[float64]int{.01: study.ChanceTrials, 6: study.DefaultTrials} {
		job := karate()
		job.Plan.Epsilon, job.Communities.Property = epsilon, ""
		m, p := testkit.Planned(t, open(t, "karate"), job)
		sample := study.Sample{Trials: study.DefaultTrials, Most: study.ChanceTrials, Seed: 3}
		a := must.Get(study.Outlook(t.Context(), m.Model, p, analyst.Options{}, sample, time.Minute))(t)
		must.Do(t, study.Expect(t.Context(), m.Model, p, analyst.Options{}, sample))
		if a.Trials != trials || a.Probability != p.Accuracy.Probability || a.Trials != p.Accuracy.Trials || a.AtChance() != (epsilon < 1) {
			t.Errorf("ε = %v: %+v, where a plan is said to have %+v, want %d trials", epsilon, a, p.Accuracy, trials)
		}
		if err := study.RefuseAtChance(t.Context(), m.Model, p, analyst.Options{}); errors.Is(err, study.ErrAtChance) != a.AtChance() ||
			err != nil && !a.AtChance() {
			t.Errorf("ε = %v: refused with %v", epsilon, err)
		}
		if _, err := study.Outlook(t.Context(), m.Model, p, analyst.Options{}, sample, time.Microsecond); !errors.Is(err, study.ErrLong) {
			t.Errorf("within a microsecond: %v", err)
		}
	}
}

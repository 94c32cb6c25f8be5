// SPDX-License-Identifier: Apache-2.0

package study_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/study"
)

// A plan read back from its file is compared with the same uniform noise as the plan
// that was written, to the same bits.
func TestPlanFileKeepsTheComparison(t *testing.T) {
	job := karate()
	job.Plan.Allocation.Uniform = false
	m, p := testkit.Planned(t, open(t, "karate"), job)
	if p.Allocated == nil {
		t.Fatal("the noise is not allocated")
	}
	const trials = 20
	read := new(plan.Plan)
	testkit.RoundTrip(t, p, read)
	for _, q := range []*plan.Plan{p, read} {
		must.Do(t, study.Expect(t.Context(), m.Model, q, job.Recover, study.Sample{Trials: trials}))
	}
	if a, b := p.Allocated.Uniform.Accuracy, read.Allocated.Uniform.Accuracy; a == nil || !reflect.DeepEqual(a, b) {
		t.Errorf("uniform noise: %+v as planned, %+v as read", a, b)
	}
	if !reflect.DeepEqual(p.Accuracy, read.Accuracy) {
		t.Errorf("allocated noise: %+v as planned, %+v as read", p.Accuracy, read.Accuracy)
	}
	other, err := m.WithBudget(read, read.Budget)
	if err != nil || other.Allocated.Uniform.Sigma != p.Allocated.Uniform.Sigma {
		t.Errorf("uniform σ at the same budget: %v, %v, want %v", other, err, p.Allocated.Uniform.Sigma)
	}
}

// What cannot be simulated is refused, and the plan is left as it is.
func TestRefused(t *testing.T) {
	job := karate()
	m, p := testkit.Planned(t, open(t, "karate"), job)
	job.Communities.Property = ""
	_, other := testkit.Planned(t, open(t, "net3"), job)
	for _, c := range []struct {
		of     *plan.Plan
		trials int
		want   error
	}{{p, 0, recovery.ErrInvalid}, {p, -1, recovery.ErrInvalid}, {other, 5, plan.ErrGraphChanged}} {
		sample := study.Sample{Trials: c.trials}
		if err := study.Expect(t.Context(), m.Model, c.of, analyst.Options{}, sample); !errors.Is(err, c.want) || c.of.Accuracy != nil {
			t.Errorf("expected accuracy of %d trials: %v, %+v", c.trials, err, c.of.Accuracy)
		}
	}
	if _, err := study.PlanFor(t.Context(), m.Model, job.Plan, job.Recover, .8, study.Sample{}); !errors.Is(err,
		recovery.ErrInvalid) {
		t.Errorf("target by no trials: %v", err)
	}
	if _, err := study.Summarize(nil, 1); !errors.Is(err, recovery.ErrInvalid) {
		t.Errorf("summary of nothing: %v", err)
	}
}

// TestSampleSeed: another seed draws other releases of the same plan, and the same one the
// same; what the plan says of its accuracy follows.
func TestSampleSeed(t *testing.T) {
	m, p := testkit.Planned(t, open(t, "karate"), karate())
	said := make(map[float64]int)
	for _, seed := range []uint64{0, 0, 1, 2, 3} {
		must.Do(t, study.Expect(t.Context(), m.Model, p, analyst.Options{}, study.Sample{Trials: 100, Seed: seed}))
		said[p.Accuracy.MeanEMD]++
	}
	if len(said) != 4 {
		t.Errorf("seeds 0, 0, 1, 2 and 3 give %d results, want 4: %v", len(said), said)
	}
}

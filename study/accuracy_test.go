// SPDX-License-Identifier: Apache-2.0

package study_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/recovery/posterior"
	"github.com/graphcloak/graphcloak/study"
	"github.com/graphcloak/graphcloak/study/simulate"
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

// A plan says how many nodes hide a source from a reader who knows its mass: what an
// evaluation finds that assumes amplitude 1, on the same sources and noise.
func TestKnownMass(t *testing.T) {
	s := open(t, "karate")
	job := karate()
	m, p := testkit.Planned(t, s, job)
	of := func(a posterior.Amplitude) *study.Evaluation {
		o := options(100, simulate.Options{Amplitude: 1, Recover: analyst.Options{Amplitude: a}})
		return must.Get(study.Evaluate(t.Context(), m.Model, p, o))(t)
	}
	blind, knowing := of(posterior.UniformAmplitude), of(posterior.UnitAmplitude)
	if blind.KnownMassSetSize != knowing.CredibleSetSize || knowing.KnownMassSetSize != knowing.CredibleSetSize {
		t.Errorf("known mass: %v and %v nodes, want %v", blind.KnownMassSetSize, knowing.KnownMassSetSize, knowing.CredibleSetSize)
	}
	if !(blind.KnownMassSetSize < blind.CredibleSetSize) {
		t.Errorf("%v nodes with the mass known, %v without: knowing is to help", blind.KnownMassSetSize, blind.CredibleSetSize)
	}
}

// What the mean distance leaves out is said: of two components that are alike and have no
// sensor but one, which tells nothing of the other, the posterior puts a part in each.
func TestMassElsewhereIsCounted(t *testing.T) {
	dir := t.TempDir()
	var nodes, edges strings.Builder
	nodes.WriteString("id,group\n")
	edges.WriteString("source,target\n")
	for i := range 40 {
		fmt.Fprintf(&nodes, "%d,%d\n", i, i/10)
		if i%20 < 19 {
			fmt.Fprintf(&edges, "%d,%d\n", i, i+1)
		}
	}
	testkit.Write(t, dir, "nodes.csv", nodes.String())
	testkit.Write(t, dir, "relationships.csv", edges.String())
	s := testkit.Folder(t, dir)
	job := karate()
	job.Communities.Property = "group"
	job.Plan.Epsilon, job.Plan.Delta = 0.01, 1e-9 // next to nothing is told
	m, p := testkit.Planned(t, s, job)
	e := must.Get(study.Evaluate(t.Context(), m.Model, p, options(50, simulate.Options{Amplitude: 1, Recover: job.Recover})))(t)
	if math.Abs(e.Elsewhere-0.5) > 0.01 {
		t.Errorf("%v of the posterior is in the other of two components, want 0.5", e.Elsewhere)
	}
}

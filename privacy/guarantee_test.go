// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"strings"
	"testing"
)

// TestSentence: every choice of a plan that changes the promise changes the words.
func TestSentence(t *testing.T) {
	spec := testSpec(3)
	base := mustPlan(t, spec).Sentence()
	for _, want := range []string{
		"at most 1 hop.", "all published values together", "ε = 4 (e^ε is 54.6)", "δ = 0.1", "however long they compute",
		"total mass", "further apart than 1 hop", "the ledger counts them",
	} {
		if !strings.Contains(base, want) {
			t.Errorf("%q is missing in: %s", want, base)
		}
	}
	for _, c := range []struct {
		change func(*Spec)
		want   []string
		not    string
	}{
		{func(s *Spec) { s.Alpha = 2.5 }, []string{"at most 2.5 hops"}, "1 hop"},
		{func(s *Spec) { s.Metric = "metres" }, []string{`1 units of "metres"`}, "hop"},
		{func(s *Spec) { s.Epsilon = 100 }, []string{"ε = 100 and"}, "e^ε is"},
		{func(s *Spec) { s.ComponentCount = 3 }, []string{"which of the graph's 3 components"}, ""},
		{func(s *Spec) { s.Randomness = EscrowRandomness }, []string{"master secret can remove the noise exactly", "computational"}, "however long"},
		{func(s *Spec) { s.Guarantee, s.PerSensor = PerSensor, []float64{1, 1, 1} }, []string{"any single sensor", "No promise"}, "values together is"},
	} {
		s := testSpec(3)
		c.change(&s)
		got := mustPlan(t, s).Sentence()
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%q is missing in: %s", want, got)
			}
		}
		if c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%q does not belong in: %s", c.not, got)
		}
	}
}

func TestShortUp(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want string
	}{{0, "0"}, {1, "1"}, {1.00001, "1.001"}, {2.9121, "2.913"}, {54.59815, "54.6"}, {0.00123449, "0.001235"}, {99999, "1e+05"}} {
		if got := shortUp(c.x); got != c.want {
			t.Errorf("shortUp(%v) = %s, want %s", c.x, got, c.want)
		}
	}
}

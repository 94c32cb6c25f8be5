// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
)

// TestSentence: every choice of a plan that changes the promise changes the words.
func TestSentence(t *testing.T) {
	spec := testSpec(3)
	base := mustPlan(t, spec).Sentence()
	for _, want := range []string{
		"at most 1 hop.", "all published values together", "ε = 4 (e^ε is 54.6)", "δ = 0.1", "however long they compute",
		"total mass", "further apart than 1 hop: at twice the distance ε is 12.91 at the same δ", "the ledger counts them",
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
		{
			func(s *Spec) { s.Randomness = EscrowRandomness },
			[]string{"master secret can remove the noise exactly", "computational"},
			"however long",
		},
		{
			func(s *Spec) { s.Guarantee, s.PerSensor = PerSensor, []float64{1, 1, 1} },
			[]string{"any single sensor", "No promise"},
			"values together is",
		},
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

// TestFurtherApart: at k times the distance μ is k times as large, and ε grows faster:
// the numbers of the table in docs/PRIVACY.md, each by the plan of its row, and that
// the profile at kμ is at most δ there and above it for a ten-thousandth less, in exact
// arithmetic. For a random screen δ − β counts.
func TestFurtherApart(t *testing.T) {
	text := must.Get(os.ReadFile("../docs/PRIVACY.md"))(t)
	times := []float64{2, 3, 5, 10}
	for _, b := range []Budget{{4, 0.1}, {1, 0.01}, {1, 1e-5}, {1, 1e-11}} {
		spec := testSpec(1)
		spec.Budget = b
		spec.Sensitivity.Failure = min(1e-12, b.Delta/100)
		p := mustPlan(t, spec)
		row := fmt.Sprintf("| %v, %v |", b.Epsilon, short(b.Delta))
		for _, k := range times {
			eps := must.Get(p.EpsilonAt(k))(t)
			if eps <= k*b.Epsilon {
				t.Errorf("%+v at %v times the distance: ε = %v, no more than %v times", b, k, eps, k)
			}
			limit := new(big.Float).SetFloat64(p.net().Delta)
			if profile(eps, k*p.Mu).Cmp(limit) > 0 || profile(eps*0.9999, k*p.Mu).Cmp(limit) <= 0 {
				t.Errorf("%+v at %v times the distance: ε = %v is not where δ is met", b, k, eps)
			}
			row += " " + shortUp(eps) + " |"
		}
		if b.Delta > 1e-11 && !strings.Contains(string(text), row) {
			t.Errorf("docs/PRIVACY.md has no row %s", row)
		}
	}
	if _, err := mustPlan(t, testSpec(1)).EpsilonAt(0.5); err == nil {
		t.Error("sources closer than neighbours were taken")
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

// TestPromise: the short promise leaves out nothing that limits the long one, and has its
// numbers.
func TestPromise(t *testing.T) {
	plan := func(g Guarantee, measured bool, u Uncertainty) *Plan {
		p := &Plan{
			Public: Public{Tau: 2, Alpha: 1, ComponentCount: 1}, Budget: Budget{Epsilon: 4, Delta: .001}, Guarantee: g, Mu: 1,
			JointMu: 9, Uncertainty: u,
		}
		if !measured {
			p.EntryError = 1e-9
		}
		return p
	}
	for _, c := range []struct {
		p    *Plan
		want string
	}{
		{plan(Joint, false, Uncertainty{}), ""},
		{plan(PerSensor, false, Uncertainty{}), "of any single sensor's value; together all sensors promise ε = E"},
		{plan(Joint, true, Uncertainty{}), "as far as the process is the model, with τ = 2 and the stated weights"},
		{plan(Joint, true, Uncertainty{TauFrom: 1.5, TauTo: 2.5}), "for every τ from 1.5 to 2.5, as far as the process is the model " +
			"beside that"},
		{
			plan(Joint, true, Uncertainty{Alternatives: 2}),
			"for τ = 2, and for the graph or one of the 2 listed beside it, as far as the process is the model beside that",
		},
	} {
		q := c.p.Promise()
		if c.p.Guarantee == PerSensor && (q.Together == "" || !strings.Contains(c.p.Sentence(), "ε = "+q.Together+". ")) {
			t.Errorf("together %q is not that of %q", q.Together, c.p.Sentence())
		}
		want := strings.Replace(c.want, "ε = E", "ε = "+q.Together, 1)
		if got := q.Qualified(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := (Promise{Guarantee: "perSensor"}).Of(); !strings.HasSuffix(got, "nothing is promised") {
		t.Error(got)
	}
}

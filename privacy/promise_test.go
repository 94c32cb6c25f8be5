// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"strings"
	"testing"
)

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

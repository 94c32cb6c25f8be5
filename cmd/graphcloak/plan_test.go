// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/privacy"
)

// A sensitivity that is known roughly is told, with what would help.
func TestNoteBracket(t *testing.T) {
	for _, c := range []struct {
		lower, upper float64
		want         []string
	}{
		{1, 1.9, nil},
		{3e-7, 9e-6, []string{"factor of 30", "--tau"}},
		{0, 1, []string{"from above only", "--tau"}},
	} {
		var out bytes.Buffer
		a := &app{stderr: &out}
		a.noteBracket(&graphcloak.Plan{Plan: &privacy.Plan{
			Public:      privacy.Public{},
			Sensitivity: privacy.Sensitivity{Lower: c.lower, Upper: c.upper},
		}})
		for _, w := range c.want {
			if !strings.Contains(out.String(), w) {
				t.Errorf("%v to %v: %q, want %q", c.lower, c.upper, &out, w)
			}
		}
		if c.want == nil && out.Len() > 0 {
			t.Errorf("%v to %v: %q, want nothing", c.lower, c.upper, &out)
		}
	}
}

// TestEstimateSaysItsTau: what is estimated is at a τ, the given one or one that a search
// would try.
func TestEstimateSaysItsTau(t *testing.T) {
	kit(t)
	for _, c := range []struct{ tau, want string }{{"auto", "in the middle of what --tau auto tries"}, {"3", "At τ = 3."}} {
		for _, words := range [][]string{{"estimate"}, {"run", "--mode", "estimate"}} {
			if _, said, _ := called(t, append(words, "--from", "example:karate", "--tau", c.tau, "--format",
				"table")...); !strings.Contains(strings.ReplaceAll(said, "\n", " "), c.want) {
				t.Errorf("%v does not say %q: %s", words, c.want, said)
			}
		}
	}
	_, said, _ := called(t, "estimate", "--from", "example:karate", "--tau", "3", "--format", "json")
	if n := strings.Count(said, `"tau": 3`); n != 5 {
		t.Errorf("τ stands at %d of 5 commands: %s", n, said)
	}
}

// TestDistanceText: a distance that is rounding is none.
func TestDistanceText(t *testing.T) {
	for d, want := range map[float64]string{3.88e-119: "0", 0.00123: "0.00123", 2.5: "2.5", 0: "0"} {
		if got := distanceText(d); got != want {
			t.Errorf("%v is shown as %s, want %s", d, got, want)
		}
	}
}

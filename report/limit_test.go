// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/report"
)

func TestLimitSentence(t *testing.T) {
	ninety := .9
	for _, c := range []struct {
		right, gaussian float64
		most            *float64
		want            []string
		never           string
	}{
		{
			.08, .301, &ninety,
			[]string{"8 % right, chance 5 %", "more than 30.1 % of the time", "(1, 1e-05)-private more than 90 %"},
			"room",
		},
		{.08, .9, nil, []string{"more than 90 %"}, "private"},
		{.665, .9, nil, []string{"67 % right"}, "66"},
		{.85, .9, nil, []string{"85 % right", "of the time."}, "noise of"},
		{.44, .4231, nil, []string{"44 % right", "more than 42.4 % of the time; that the simulation shows 44 %, which is more, is the " +
			"noise of 200 runs"}, "room"},
	} {
		a := report.Accuracy{
			Trials: 200, Probability: c.right, Upper: c.right + .01, Chance: .05,
			Limit: &report.Limit{Gaussian: c.gaussian, AnyMechanism: c.most},
		}
		got := a.LimitSentence(1, 1e-5)
		for _, w := range c.want {
			if !strings.Contains(got, w) {
				t.Errorf("%q lacks %q", got, w)
			}
		}
		if strings.Contains(got, c.never) {
			t.Errorf("%q has %q", got, c.never)
		}
	}
}

// The narrower class is never said to be all that keep the guarantee.
func TestLimitClause(t *testing.T) {
	seventy := .6997
	a := report.Accuracy{Limit: &report.Limit{Gaussian: .4436, AnyMechanism: &seventy}}
	const want = "no mechanism with the guarantee of this noise is right more than 44.4 % of the time, and none " +
		"that is (ε, δ)-private more than 70 %"
	if got := a.LimitClause("(ε, δ)"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A limit that is no probability, or with the wider class below the narrower, is refused.
func TestLimitPossible(t *testing.T) {
	half := .5
	for _, c := range []struct {
		limit *report.Limit
		want  bool
	}{
		{nil, true},
		{&report.Limit{Gaussian: .4, AnyMechanism: &half}, true},
		{&report.Limit{Gaussian: .6, AnyMechanism: &half}, false},
		{&report.Limit{}, false},
		{&report.Limit{Gaussian: 1.1}, false},
	} {
		a := report.Accuracy{Trials: 10, Probability: .5, Chance: .2, Limit: c.limit}
		a.Lower, a.Upper = report.ScoreInterval(5, 10)
		if a.Possible() != c.want {
			t.Errorf("%+v: possible %v", c.limit, a.Possible())
		}
	}
}

// From a handful of trials nothing is concluded: only the bound, which is proven, is told.
func TestLimitSentenceOfFewTrials(t *testing.T) {
	a := report.Accuracy{Trials: report.LeastTrials - 1, Probability: 0, Upper: .1, Chance: .35, Limit: &report.Limit{Gaussian: .9}}
	const want = "Chance is 35 %; no mechanism with the guarantee of this noise is right more than 90 % of the time."
	if got := a.LimitSentence(1, 1e-5); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	a.Probability = 1
	if got := a.LimitSentence(1, 1e-5); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

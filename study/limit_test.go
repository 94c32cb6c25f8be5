// SPDX-License-Identifier: Apache-2.0

package study_test

import (
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/study"
)

// The tool is never right more often than its own limit, which grows with ε, and the
// limit says something where ε is small.
func TestLimit(t *testing.T) {
	for name, property := range map[string]string{"karate": "club", "net3": ""} {
		s := open(t, name)
		before := 0.0
		for _, eps := range []float64{.5, 4} {
			job := karate()
			job.Settings.Public.Communities = community.Options{Property: property}
			job.Settings.Tau = tau.At(6)
			job.Plan.Budget = privacy.Budget{Epsilon: eps, Delta: 1e-5}
			m, p := testkit.Planned(t, s, job)
			must.Do(t, study.Expect(t.Context(), m.Model, p, analyst.Options{}, study.Sample{Trials: 50}))
			a := p.Accuracy
			if a.Limit == nil || a.Limit.AnyMechanism == nil {
				t.Fatalf("%s: no limit", name)
			}
			if l := a.Limit.Gaussian; l < a.Probability || l < a.Chance || *a.Limit.AnyMechanism < l || l <= before {
				t.Errorf("%s, ε = %v: accuracy %v, limit %v, of any mechanism %v; before %v", name, eps, a.Probability, l,
					*a.Limit.AnyMechanism, before)
			}
			before = a.Limit.Gaussian
			if eps < 1 && before > .8 {
				t.Errorf("%s: the limit is %v at ε = %v", name, before, eps)
			}
			if text := a.LimitSentence(p.Epsilon, p.Delta); !strings.Contains(text, "no mechanism with the guarantee") {
				t.Errorf("%s: %q", name, text)
			}
		}
	}
}

// Where ε and δ are those of each sensor alone they bound nothing together.
func TestLimitPerSensor(t *testing.T) {
	job := karate()
	job.Plan.Guarantee = privacy.PerSensor
	m, p := testkit.Planned(t, open(t, "karate"), job)
	must.Do(t, study.Expect(t.Context(), m.Model, p, analyst.Options{}, study.Sample{Trials: 10}))
	if l := p.Accuracy.Limit; l.AnyMechanism != nil || l.Gaussian < p.Accuracy.Probability {
		t.Errorf("limit %+v", l)
	}
}

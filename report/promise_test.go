// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

// TestQualification: the sentence of a plan for each sensor, or for measured readings, is told
// from one that ε and δ say all of.
func TestQualification(t *testing.T) {
	for _, c := range []struct {
		kind   privacy.Guarantee
		errors float64 // 0: sensors measure
		want   []string
	}{
		{privacy.Joint, 1e-12, nil},
		{privacy.Joint, 0, []string{"as far as the process"}},
		{privacy.PerSensor, 1e-12, []string{"any single sensor"}},
		{privacy.PerSensor, 0, []string{"any single sensor", "as far as the process"}},
	} {
		p := privacy.Plan{Guarantee: c.kind, NormError: c.errors, Budget: privacy.Budget{Epsilon: 4, Delta: .01}}
		p.Alpha, p.Tau = 1, 2
		promise := p.Promise()
		got := (&report.Report{Guarantee: p.Sentence(), Promise: &promise}).Qualification()
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%v: %q, want %q", c, got, want)
			}
		}
		if c.want == nil && got != "" {
			t.Errorf("%v: %q, want nothing", c, got)
		}
	}
}

// TestPromiseThatIsNotSaid: of a report that does not say what its guarantee is of, nothing is
// guessed from its words, and neither is the most supposed.
func TestPromiseThatIsNotSaid(t *testing.T) {
	old := report.Report{Guarantee: "the published value of any single sensor"}
	if got := old.Qualification(); !strings.Contains(got, "an earlier version wrote this report") || old.EachSensor() ||
		!old.Conditional() {
		t.Errorf("%q, of each sensor %v, conditional %v", got, old.EachSensor(), old.Conditional())
	}
	if none := (&report.Report{}); none.Qualification() != "" || none.Conditional() {
		t.Errorf("without a guarantee: %q", none.Qualification())
	}
}

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
	if none := (&report.Report{Guarantee: "nothing is known"}); none.Qualification() != "" || none.Conditional() || none.EachSensor() {
		t.Errorf("without a promise: %q", none.Qualification())
	}
}

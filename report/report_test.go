// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/report"
)

func TestAnswer(t *testing.T) {
	tests := []struct {
		name        string
		communities []report.Community
		credible    int
		want        string
	}{
		{"one", []report.Community{{Name: "a", Size: 100, Probability: 1}}, 40, "single community"},
		{"clear", []report.Community{{Name: "a", Size: 50, Probability: 0.9}, {Name: "b", Size: 50, Probability: 0.1}}, 40, "most likely in community a (50 nodes), with probability 90 %"},
		{"chance", []report.Community{{Name: "a", Size: 50, Probability: 0.7}, {Name: "b", Size: 50, Probability: 0.3}}, 40, "No community stands out"},
		{"large by size alone", []report.Community{{Name: "a", Size: 90, Probability: 0.95}, {Name: "b", Size: 10, Probability: 0.05}}, 40, "No community stands out"},
		{"small lead", []report.Community{{Name: "a", Size: 5, Probability: 0.3}, {Name: "b", Size: 95, Probability: 0.7}}, 40, "more likely than not, the source is in another"},
		{"never certain", []report.Community{{Name: "a", Size: 50, Probability: 1}, {Name: "b", Size: 50, Probability: 0}}, 40, "over 99 %"},
		{"not hidden", []report.Community{{Name: "a", Size: 50, Probability: 0.9}, {Name: "b", Size: 50, Probability: 0.1}}, 1, "NOT hidden"},
	}
	for _, tt := range tests {
		r := report.Report{NodeCount: 100, Communities: tt.communities, Posterior: report.Posterior{CredibleSetSize: tt.credible}}
		r.SetAnswer()
		if !strings.Contains(r.Answer, tt.want) {
			t.Errorf("%s: %q does not say %q", tt.name, r.Answer, tt.want)
		}
	}
}

func TestDistribution(t *testing.T) {
	sizes := make([]int, 100)
	for i := range sizes {
		sizes[i] = i + 1
	}
	d := report.NewDistribution(sizes)
	if d.Min != 1 || d.Max != 100 || d.Mean != 50.5 || d.P50 != 50 || d.P90 != 90 || d.P999 != 100 {
		t.Errorf("sizes 1 to 100 are described as %+v", *d)
	}
	if d := report.NewDistribution([]int{7}); d.Min != 7 || d.P50 != 7 || d.P999 != 7 {
		t.Errorf("one size of 7 is described as %+v", *d)
	}
}

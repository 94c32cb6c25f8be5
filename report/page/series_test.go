// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/report/page"
)

// TestSeriesVerdicts: what speaks against an answer stands beside it, and no sign of a
// source has no probability.
func TestSeriesVerdicts(t *testing.T) {
	clear := []report.Community{{Name: "a", Prior: .5, Probability: .9}, {Name: "b", Prior: .5, Probability: .1}}
	var s page.Series
	s.Add(&report.Report{Communities: clear})
	s.Add(&report.Report{Communities: clear, Fit: &report.Fit{PValue: 1e-9}})
	s.Add(&report.Report{Communities: clear, Presence: &report.Presence{}})
	if got, want := strings.Join(s.Changes(), "\n"), ": from a (90 %) to a (90 %, but the measurements do not fit the model)\n"+
		": from a (90 %, but the measurements do not fit the model) to no sign of a source"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	var b strings.Builder
	if err := page.WriteSeries(&b, s); err != nil || !strings.Contains(b.String(), "<td>misfit</td>") ||
		strings.Contains(b.String(), ">0 %<") {
		t.Errorf("%v, %s", err, b.String())
	}
	s.Runs = s.Runs[1:2]
	if got := s.Changes()[0]; !strings.HasSuffix(got, "in every run, but the measurements do not fit the model.") {
		t.Error(got)
	}
	s.Runs = nil
	s.Add(&report.Report{Presence: &report.Presence{}})
	if got := s.Changes()[0]; got != "No run has a sign of a source." {
		t.Error(got)
	}
}

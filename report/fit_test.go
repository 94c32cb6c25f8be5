// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/report"
)

// Small rates of an answer without a source can be told apart.
func TestRareFalseAlarmIsWritten(t *testing.T) {
	r := report.Report{
		Presence:    &report.Presence{PValue: .0014, FalseAlarm: 1e-4},
		Communities: []report.Community{{Name: "a", Size: 2, Prior: .5, Probability: .6}, {Name: "b", Size: 2, Prior: .5, Probability: .4}},
	}
	r.SetAnswer()
	if !strings.Contains(r.Answer, "as clearly in 0.14 % of cases, and a false alarm is allowed in 0.01 %") {
		t.Error(r.Answer)
	}
}

// A factor of any size is one that can be read.
func TestHugeFactor(t *testing.T) {
	r := report.Report{
		Fit:         &report.Fit{Alternatives: []report.Alternative{{Name: report.SecondSource, LogEvidence: 7e203}}},
		Communities: []report.Community{{Name: "a", Size: 2, Prior: 1, Probability: 1}},
	}
	r.SetAnswer()
	if !strings.Contains(r.Answer, "by a factor of more than 10^1000000)") {
		t.Error(r.Answer)
	}
}

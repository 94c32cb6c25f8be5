// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/jobs"
)

// TestDoctorTellsMissedTimes: a job that nobody ran in time is not healthy, however its
// last run ended.
func TestDoctorTellsMissedTimes(t *testing.T) {
	for _, status := range []jobs.Status{"", jobs.Finished} {
		j := jobs.Job{
			Paused: true, Last: jobs.Claim{Outcome: jobs.Outcome{Status: status}}, Missed: 2,
			MissedLast: time.Date(2026, 6, 1, 2, 0, 0, 0, time.UTC),
		}
		if c := examineJob(j); c.OK || c.Fix == "" || !strings.Contains(c.Detail, "2 times") ||
			!strings.Contains(c.Detail, "2026-06-01T02:00:00Z") {
			t.Errorf("%s: %+v", status, c)
		}
		j.Missed = 0
		if c := examineJob(j); !c.OK {
			t.Errorf("%s, nothing missed: %+v", status, c)
		}
	}
}

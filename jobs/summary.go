// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"fmt"
	"strings"
	"time"
)

// Summary is a job as lists show it. Times are UTC.
type Summary struct {
	Name      string    `json:"name"`
	Status    JobStatus `json:"status"`
	Schedule  string    `json:"schedule,omitempty"`
	TimeZone  string    `json:"timeZone,omitempty"`
	Origin    string    `json:"origin"` // settings, or store
	Paused    bool      `json:"paused"`
	LastRun   time.Time `json:"lastRun,omitzero"` // nominal time
	LastRunID string    `json:"lastRunId,omitempty"`
	NextRun   time.Time `json:"nextRun,omitzero"` // nominal time
	RenewsAt  time.Time `json:"renewsAt,omitzero"`
	Missed    int       `json:"missedTimes,omitempty"` // since the last run, up to 100
	Message   string    `json:"message,omitempty"`
}

// Summary returns what is shown of a job.
func (j Job) Summary() Summary {
	s := Summary{
		Name: j.Name, Status: j.State.Status, Schedule: j.Definition.ScheduleText, TimeZone: j.Definition.TimeZone,
		Origin: "store", Paused: j.Paused, LastRun: j.State.LastRun, LastRunID: j.State.LastRunID, NextRun: j.State.NextRun,
		Message: j.State.Message,
	}
	if j.Origin == OriginSettings {
		s.Origin = OriginSettings
	}
	if j.Last.Status == WaitingForBudget {
		s.RenewsAt = j.Last.RenewsAt
	}
	if s.Missed = j.Missed; s.Missed > 0 {
		s.Message = strings.TrimPrefix(s.Message+"; "+j.MissedText(), "; ")
	}
	return s
}

// MissedText says what a job has missed.
func (j Job) MissedText() string {
	times, since := fmt.Sprintf("%d times", j.Missed), ""
	switch j.Missed {
	case 1:
		times = "once"
	case maxMissed:
		times = fmt.Sprintf("%d times or more", maxMissed)
	}
	if !j.State.LastRun.IsZero() {
		since = " since its last run"
	}
	return fmt.Sprintf("no server ran it in time %s%s, the latest at %s", times, since, j.MissedLast.Format(time.RFC3339))
}

// SPDX-License-Identifier: Apache-2.0

package jobs

import "time"

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
	Message   string    `json:"message,omitempty"`
}

// Summary returns what is shown of a job.
func (j Job) Summary() Summary {
	s := Summary{
		Name: j.Name, Status: j.State.Status, Schedule: j.Definition.ScheduleText, TimeZone: j.Definition.TimeZone,
		Origin: "store", Paused: j.Paused, LastRun: j.State.LastRun, LastRunID: j.State.LastRunID, NextRun: j.State.NextRun, Message: j.State.Message,
	}
	if j.Origin == OriginSettings {
		s.Origin = OriginSettings
	}
	if j.Last.Status == WaitingForBudget {
		s.RenewsAt = j.Last.RenewsAt
	}
	return s
}

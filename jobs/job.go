// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Job is a job as it stands: what its author wrote, and what became of it.
type Job struct {
	Target
	Origin     string     // [OriginSettings], or "" where it is filed in the store
	Definition Definition // without meaning where Problem is set
	Problem    error      // why it cannot run; nil: it can
	Paused     bool
	State      State   // as it stands in the store
	Last       Claim   // of the latest tick; zero: none
	Caution    Caution // what will refuse its first run, by [Options.Cautions]; zero: nothing known

	Missed     int       // times since its last run at which nobody ran it and that are not made up for; up to 100
	MissedLast time.Time // the latest of them

	pausedInSettings bool
	unread           bool // its state, too
}

// Caution is what will refuse the first run of a job.
type Caution struct {
	Status JobStatus // as it will end; "" is [Pending]
	Err    error
}

// ahead reports whether the latest tick is one of a time to come: the store's clock was
// put back by more than a little since it was claimed.
func (j Job) ahead(now time.Time) bool { return j.Last.NominalTime.After(now.Add(onTime)) }

// scheduled is the time since which a job counts: one that was invalid or paused is
// scheduled again, and so has missed nothing.
func (j Job) scheduled(now time.Time) time.Time {
	at, before := j.State.ScheduledSince, j.State.Status
	if at.IsZero() || at.After(now.Add(onTime)) || before == Invalid || before == Paused {
		return now
	}
	return at
}

// since is the time after which the job's next tick is.
func (j Job) since(now time.Time) time.Time {
	if at := j.scheduled(now); at.After(j.Last.NominalTime) {
		return at
	}
	return j.Last.NominalTime
}

// countMissed counts what a job has missed. While it runs, nothing is late but itself.
func (j *Job) countMissed(now time.Time) {
	if j.Problem == nil && !j.Paused && !j.Last.Open() {
		j.Missed, j.MissedLast = j.Definition.missed(j.since(now), now)
	}
}

// state is what there is to show of a job.
func (j Job) state(now time.Time) State {
	s := State{
		Status: JobStatus(j.Last.Status), Message: j.Last.Message, ScheduledSince: j.State.ScheduledSince,
		LastRun: j.Last.NominalTime, LastRunID: j.Last.RunID,
	}
	if s.Status == "" {
		s.Status = cmp.Or(j.Caution.Status, Pending)
		if j.Caution.Err != nil {
			s.Message = oneLine(j.Caution.Err.Error())
		}
	}
	switch {
	case j.Problem != nil:
		s.Status, s.Message = Invalid, oneLine(j.Problem.Error())
		return s
	case j.Paused:
		if !j.Last.Open() {
			s.Status = Paused
		}
		return s
	}
	s.ScheduledSince = j.scheduled(now)
	s.NextRun = j.Definition.upcoming(j.since(now), now)
	return s
}

// same compares what is shown, to the millisecond that stores keep.
func (s State) same(o State) bool {
	for _, t := range [][2]time.Time{{s.ScheduledSince, o.ScheduledSince}, {s.LastRun, o.LastRun}, {s.NextRun, o.NextRun}} {
		if !t[0].Truncate(time.Millisecond).Equal(t[1].Truncate(time.Millisecond)) {
			return false
		}
	}
	return s.Status == o.Status && s.Message == o.Message && s.LastRunID == o.LastRunID
}

// next is when to look at a job again; the zero time is whenever.
func (j Job) next(now time.Time) time.Time {
	switch {
	case j.Last.Open():
		if at := takeoverTime(j.Last); at.After(now) {
			return at
		}
	case j.Problem == nil && !j.Paused:
		return j.Definition.upcoming(j.since(now), now)
	}
	return time.Time{}
}

// takeoverTime is when an open tick may be taken over.
func takeoverTime(c Claim) time.Time {
	if c.RetryAt.After(c.LeaseUntil) {
		return c.RetryAt
	}
	return c.LeaseUntil
}

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

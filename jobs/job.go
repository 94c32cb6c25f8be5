// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Job is a job as it stands: what the settings file says, and what became of it.
type Job struct {
	Name       string
	Definition Definition // without meaning where Problem is set
	Problem    error      // why it cannot run; nil: it can
	Paused     bool       // by the settings file or by an operator
	Last       Claim      // of the latest tick; zero: none

	Missed     int       // times since its last run at which nobody ran it and that are not made up for; up to 100
	MissedLast time.Time // the latest of them

	pausedInSettings, enlisted bool
	scheduledSince, now        time.Time // now is the store's at the look
}

// ahead reports whether the latest tick is one of a time to come: the store's clock was
// put back by more than a little since it was claimed.
func (j Job) ahead() bool { return j.Last.NominalTime.After(j.now.Add(onTime)) }

// since is the time after which the job's next tick is.
func (j Job) since() time.Time {
	at := j.scheduledSince
	if at.IsZero() || at.After(j.now.Add(onTime)) {
		at = j.now
	}
	if at.After(j.Last.NominalTime) {
		return at
	}
	return j.Last.NominalTime
}

// countMissed counts what a job has missed. While it runs, nothing is late but itself.
func (j *Job) countMissed() {
	if j.Problem == nil && !j.Paused && !j.Last.Open() {
		j.Missed, j.MissedLast = j.Definition.missed(j.since(), j.now)
	}
}

// next is when to look at a job again; the zero time is whenever.
func (j Job) next() time.Time {
	switch {
	case j.Last.Open():
		if at := takeoverTime(j.Last); at.After(j.now) {
			return at
		}
	case j.Problem == nil && !j.Paused:
		return j.Definition.upcoming(j.since(), j.now)
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
		Name: j.Name, Status: JobStatus(j.Last.Status), Schedule: j.Definition.ScheduleText, TimeZone: j.Definition.TimeZone,
		Paused: j.Paused, LastRun: j.Last.NominalTime, LastRunID: j.Last.RunID, Message: j.Last.Message, Missed: j.Missed,
	}
	s.Status = cmp.Or(s.Status, Pending)
	switch {
	case j.Problem != nil:
		s.Status, s.Message = Invalid, oneLine(j.Problem.Error())
	case j.Paused && !j.Last.Open():
		s.Status = Paused
	case !j.Paused:
		s.NextRun = j.Definition.upcoming(j.since(), j.now)
	}
	if j.Last.Status == WaitingForBudget {
		s.RenewsAt = j.Last.RenewsAt
	}
	if s.Missed > 0 {
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
	if !j.Last.NominalTime.IsZero() {
		since = " since its last run"
	}
	return fmt.Sprintf("no server ran it in time %s%s, the latest at %s", times, since, j.MissedLast.Format(time.RFC3339))
}

// readJobs reads the jobs of the settings file, by name. Of two with one name neither runs.
func readJobs(settings []map[string]any, check func(Definition) error) (all []Job) {
	names := make(map[string]int)
	for i, fields := range settings {
		d, err := Define(fields)
		if err == nil {
			err = check(d)
		}
		if err != nil {
			d = Definition{Name: d.Name} // an open tick is not begun by it
		}
		name, _ := fields["name"].(string)
		j := Job{Name: cmp.Or(name, fmt.Sprintf("jobs[%d]", i)), Definition: d, Problem: err}
		j.pausedInSettings, _ = fields["paused"].(bool)
		names[j.Name]++
		all = append(all, j)
	}
	for i, j := range all {
		if n := names[j.Name]; n > 1 {
			all[i].Problem = errors.Join(j.Problem, fmt.Errorf("%d jobs of the settings file have the name %q", n, j.Name))
			all[i].Definition = Definition{Name: j.Name}
		}
	}
	slices.SortStableFunc(all, func(a, b Job) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

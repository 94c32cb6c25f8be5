// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"fmt"
	"time"
)

// The rules of [Claims] are functions of the job's latest record, for no tick before it
// can be open or claimed. A store locks the job's name, reads that record, applies a
// rule, and stores what it returns.

// Admit decides on [Claims.Claim]. Latest is the record of the latest nominal time that
// the job has, the zero Claim where it has none.
func Admit(latest Claim, t Tick, by Holder, now time.Time, lease time.Duration) (Claim, error) {
	same := latest.JobName == t.JobName && latest.NominalTime.Equal(t.NominalTime)
	switch {
	case latest.Status == "", !same && !latest.Open() && t.NominalTime.After(latest.NominalTime):
		return Claim{
			Tick: t, Instance: by.Instance, Token: by.Token, Attempts: 1, ClaimedAt: now, LeaseUntil: now.Add(lease),
			Outcome: Outcome{Status: Running},
		}, nil
	case !latest.Open() || t.NominalTime.Before(latest.NominalTime):
		return Claim{}, fmt.Errorf("%w: %s at %v", ErrPast, t.JobName, t.NominalTime)
	case same && latest.Token == by.Token:
		return latest, nil
	case latest.LeaseUntil.After(now), latest.RetryAt.After(now):
		return Claim{}, fmt.Errorf("%w: %s at %v, by %s", ErrHeld, latest.JobName, latest.NominalTime, latest.Instance)
	case !same:
		return Claim{}, fmt.Errorf("%w: %s at %v", ErrUnfinished, latest.JobName, latest.NominalTime)
	}
	latest.Instance, latest.Token, latest.Attempts = by.Instance, by.Token, latest.Attempts+1
	latest.LeaseUntil, latest.RetryAt = now.Add(lease), time.Time{}
	return latest, nil
}

// Owned returns [ErrLost] where the token is not that of an open claim: the rule of
// [Claims.Save], and the first of all others.
func (c Claim) Owned(t Tick, token string) error {
	if !c.Open() || token == "" || c.Token != token || c.JobName != t.JobName || !c.NominalTime.Equal(t.NominalTime) {
		return fmt.Errorf("%w: %s at %v", ErrLost, t.JobName, t.NominalTime)
	}
	return nil
}

// Renewed is the rule of [Claims.Renew].
func (c Claim) Renewed(t Tick, token string, now time.Time, lease time.Duration) (Claim, error) {
	if err := c.Owned(t, token); err != nil {
		return Claim{}, err
	}
	c.LeaseUntil = now.Add(lease)
	return c, nil
}

// Yielded is the rule of [Claims.Yield].
func (c Claim) Yielded(t Tick, token string, retryAt time.Time, message string) (Claim, error) {
	if err := c.Owned(t, token); err != nil {
		return Claim{}, err
	}
	c.Token, c.LeaseUntil, c.RetryAt, c.Message = "", time.Time{}, retryAt, message
	c.Attempts = 1 // it took no process down: the count begins again
	return c, nil
}

// Finished is the rule of [Claims.Finish].
func (c Claim) Finished(t Tick, token string, o Outcome, now time.Time) (Claim, error) {
	if !c.Open() && token != "" && c.Token == token && c.Outcome == o {
		return c, nil
	}
	if err := c.Owned(t, token); err != nil {
		return Claim{}, err
	}
	if o.Status == "" || o.Status == Running {
		return Claim{}, fmt.Errorf("jobs: a tick cannot end as %q", o.Status)
	}
	c.Outcome, c.EndedAt, c.Saved = o, now, nil
	c.LeaseUntil, c.RetryAt, c.CancelRequested = time.Time{}, time.Time{}, false
	return c, nil
}

// SPDX-License-Identifier: Apache-2.0

package jobs

import "time"

// due returns the nominal time of the tick of a job that is to be claimed at now, or
// the zero time. Last is the latest nominal time that has a record, or the time since
// which the job is scheduled.
//
// A tick is on time until [onTime] after its nominal time; later it is missed. Under [Skip]
// and [Once] the last tick counts alone: where several are due, those before it are left out.
func (d Definition) due(last, now time.Time) time.Time {
	from := now.Add(-d.within() - time.Nanosecond)
	if from.Before(last) {
		from = last
	}
	if d.MissedRuns != All {
		return d.Schedule.Last(from, now)
	}
	if t := d.Schedule.Next(from); !t.After(now) {
		return t
	}
	return time.Time{}
}

// within is how old a nominal time may be when its tick is claimed.
func (d Definition) within() time.Duration {
	if d.MissedRuns == Skip {
		return onTime
	}
	return d.MissedWithin
}

// maxMissed bounds the missed times that are counted.
const maxMissed = 100

// missed counts the nominal times after last that the policy no longer makes up for, up
// to [maxMissed], and returns the latest of them.
func (d Definition) missed(last, now time.Time) (n int, latest time.Time) {
	until := now.Add(-d.within() - time.Nanosecond)
	for t := d.Schedule.Next(last); !t.IsZero() && !t.After(until) && n < maxMissed; t = d.Schedule.Next(t) {
		n++
	}
	if n > 0 {
		latest = d.Schedule.Last(last, until)
	}
	return n, latest
}

// upcoming returns the first nominal time after now, or after last where that is later.
func (d Definition) upcoming(last, now time.Time) time.Time {
	if last.After(now) {
		now = last
	}
	return d.Schedule.Next(now)
}

// backoff is the pause before retry n, counted from 1: doubled each time, up to
// [maxDelay], and a part of it between a half and all, as coin in [0, 1) says.
func (d Definition) backoff(n int, coin float64) time.Duration {
	pause := min(max(d.RetryDelay, time.Second), maxDelay)
	for range n - 1 {
		if pause = 2 * pause; pause >= maxDelay {
			pause = maxDelay
			break
		}
	}
	return pause/2 + time.Duration(coin*float64(pause/2))
}

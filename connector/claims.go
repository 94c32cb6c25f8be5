// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/graphcloak/graphcloak/jobs"
)

// Claims implements [jobs.Claims] on a [Decider], the one transaction that differs
// between stores.
type Claims struct{ Decider }

// Decider updates the latest tick of a job in one transaction.
type Decider interface {
	// Decide locks the name of the job first; then reads the time of the store and the
	// record of the job's latest tick, the zero Claim where it has none; calls rule; and
	// stores what it returns under its tick, durably before Decide returns it. An error
	// of rule is returned as it is, and nothing is stored. What was saved is read where
	// it is asked for; it is stored where the rule returns some, and removed where the
	// tick has ended. Rule is pure and may be called again when the store repeats the
	// transaction, also after one that was stored and whose answer was lost.
	Decide(ctx context.Context, jobName string, saved bool, rule Rule) (jobs.Claim, error)
	// RemoveAhead locks the name of the job first; then removes the records of its ended
	// ticks whose nominal time is after the time of the store.
	RemoveAhead(ctx context.Context, jobName string) error
}

// Rule returns the record to store in place of the latest one, or as the next.
type Rule func(now time.Time, latest jobs.Claim) (jobs.Claim, error)

// Claim implements [jobs.Claims], with [jobs.ErrHeld], [jobs.ErrPast] and [jobs.ErrUnfinished].
func (c Claims) Claim(ctx context.Context, t jobs.Tick, by jobs.Holder, lease time.Duration) (jobs.Claim, error) {
	return c.Decide(ctx, t.JobName, true, func(now time.Time, latest jobs.Claim) (jobs.Claim, error) {
		return jobs.Admit(latest, t, by, now, lease)
	})
}

// Renew implements [jobs.Claims], with [jobs.ErrLost].
func (c Claims) Renew(ctx context.Context, t jobs.Tick, token string, lease time.Duration) (jobs.Claim, error) {
	claim, err := c.Decide(ctx, t.JobName, false, func(now time.Time, latest jobs.Claim) (jobs.Claim, error) {
		return latest.Renewed(t, token, now, lease)
	})
	claim.Saved = nil
	return claim, err
}

// Save implements [jobs.Claims], with [jobs.ErrLost].
func (c Claims) Save(ctx context.Context, t jobs.Tick, token string, saved []byte) error {
	_, err := c.Decide(ctx, t.JobName, false, func(_ time.Time, latest jobs.Claim) (jobs.Claim, error) {
		latest.Saved = saved
		return latest, latest.Owned(t, token)
	})
	return err
}

// Yield implements [jobs.Claims], with [jobs.ErrLost]. A transaction that is
// repeated after its commit finds the tick yielded, which is no error.
func (c Claims) Yield(ctx context.Context, t jobs.Tick, token string, retryAt time.Time, message string) error {
	yielded := false
	_, err := c.Decide(ctx, t.JobName, false, func(_ time.Time, latest jobs.Claim) (jobs.Claim, error) {
		if yielded && latest.Open() && latest.Token == "" && latest.NominalTime.Equal(t.NominalTime) {
			return latest, nil
		}
		next, err := latest.Yielded(t, token, retryAt, message)
		yielded = yielded || err == nil
		return next, err
	})
	return err
}

// Finish implements [jobs.Claims], with [jobs.ErrLost].
func (c Claims) Finish(ctx context.Context, t jobs.Tick, token string, o jobs.Outcome) error {
	_, err := c.Decide(ctx, t.JobName, false, func(now time.Time, latest jobs.Claim) (jobs.Claim, error) {
		return latest.Finished(t, token, o, now)
	})
	return err
}

// Cancel implements [jobs.Claims], with [jobs.ErrNoJob].
func (c Claims) Cancel(ctx context.Context, jobName string) (jobs.Tick, error) {
	claim, err := c.Decide(ctx, jobName, false, func(_ time.Time, latest jobs.Claim) (jobs.Claim, error) {
		if !latest.Open() {
			return latest, fmt.Errorf("%w: job %q has no run under way", jobs.ErrNoJob, clip(jobName))
		}
		latest.CancelRequested = true
		return latest, nil
	})
	return claim.Tick, err
}

// Rewind implements [jobs.Claims].
func (c Claims) Rewind(ctx context.Context, jobName string) error {
	if err := c.RemoveAhead(ctx, jobName); err != nil {
		return err
	}
	_, err := c.Decide(ctx, jobName, false, func(now time.Time, latest jobs.Claim) (jobs.Claim, error) {
		if !latest.Open() || !latest.NominalTime.After(now) {
			return latest, errNotAhead
		}
		latest.LeaseUntil, latest.RetryAt = time.Time{}, time.Time{}
		return latest, nil
	})
	if errors.Is(err, errNotAhead) {
		return nil
	}
	return err
}

var errNotAhead = errors.New("connector: no open tick is ahead of the clock")

// SelectTicks returns the records of ticks that a query asks for, in its order, without
// what was saved and without the tokens.
func SelectTicks(all []jobs.Claim, q jobs.TickQuery) []jobs.Claim {
	latest := map[string]time.Time{}
	all = slices.DeleteFunc(slices.Clone(all),
		func(c jobs.Claim) bool { return q.Ended && c.Open() || q.Status != "" && c.Status != q.Status })
	for _, c := range all {
		if at, ok := latest[c.JobName]; !ok || c.NominalTime.After(at) {
			latest[c.JobName] = c.NominalTime
		}
	}
	var chosen []jobs.Claim
	for _, c := range all {
		if q.JobName != "" && c.JobName != q.JobName || q.Open && !c.Open() || q.Latest && !c.NominalTime.Equal(latest[c.JobName]) {
			continue
		}
		c.Saved, c.Token = nil, ""
		chosen = append(chosen, c)
	}
	slices.SortFunc(chosen, func(a, b jobs.Claim) int {
		return cmp.Or(b.NominalTime.Compare(a.NominalTime), cmp.Compare(a.JobName, b.JobName))
	})
	return first(chosen, q.Limit)
}

// first returns the first few, all where the limit is 0.
func first[T any](all []T, limit int) []T {
	if limit > 0 && len(all) > limit {
		return all[:limit]
	}
	return all
}

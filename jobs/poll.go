// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"context"
	"slices"
	"time"
)

// turn is a tick that may be begun now.
type turn struct {
	definition Definition
	tick       Tick
	since      time.Time // its job waits since then
}

// Run schedules until the end of ctx, and returns once every run has ended or was
// abandoned within Drain, for another instance to take over. A store that fails is
// asked again.
func (e *Engine) Run(ctx context.Context) {
	e.mu.Lock()
	e.life = ctx
	e.mu.Unlock()
	for ctx.Err() == nil {
		wait, err := e.poll(ctx)
		e.recordPoll(ctx, err)
		e.sleep(ctx, wait)
	}
	e.work.Wait()
}

// recordPoll remembers whether the last poll of the store succeeded, and logs a change.
func (e *Engine) recordPoll(ctx context.Context, err error) {
	e.mu.Lock()
	before := e.polled
	e.polled = err
	e.mu.Unlock()
	switch {
	case ctx.Err() != nil:
	case err != nil && before == nil:
		e.Log.Warn("the store cannot be read; it is asked again", "error", err)
	case err == nil && before != nil:
		e.Log.Info("the store can be read again")
	}
}

func (e *Engine) sleep(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-e.wake:
	case <-ctx.Done():
	}
}

// begin claims a tick and starts it, if this instance runs no other.
func (e *Engine) begin(ctx context.Context, d Definition, t Tick) bool {
	if ctx.Err() != nil || !e.acquireSlot() {
		return false
	}
	c, err := e.claim(ctx, t)
	if err != nil {
		e.freeSlot()
		return false
	}
	e.work.Go(func() {
		defer e.Wake()
		defer e.freeSlot()
		e.hold(ctx, d, c)
	})
	return true
}

// poll looks at every job once and begins what is due, the job first that waits longest:
// one that is due all the time waits from its last end on, so it starves no other.
// It returns how long nothing will be due, at most Poll.
func (e *Engine) poll(ctx context.Context) (wait time.Duration, err error) {
	wait = e.Poll
	view, err := e.look(ctx)
	if err != nil {
		return wait, err
	}
	e.mu.Lock()
	e.last = view.now
	e.mu.Unlock()
	began := e.beginAll(ctx, e.turns(view))
	for _, j := range view.jobs {
		next := j.next()
		if began[j.Name] {
			next = view.now.Add(time.Millisecond) // its state has changed
		}
		if !j.enlisted && j.Problem == nil {
			if err := e.Store.Enlist(ctx, j.Name); err != nil {
				return wait, err
			}
		}
		e.log(j)
		if !next.IsZero() {
			wait = min(wait, max(next.Sub(view.now), 0))
		}
	}
	return max(wait, time.Millisecond), nil
}

// turns returns what may be begun, the longest wait first. An open tick whose job is not
// there is among it, so that what it saved is completed.
func (e *Engine) turns(v view) (all []turn) {
	for _, c := range v.orphans {
		if at := takeoverTime(c); c.Open() && !at.After(v.now) {
			all = append(all, turn{Definition{Name: c.JobName}, c.Tick, at})
		}
	}
	for _, j := range v.jobs {
		if at := takeoverTime(j.Last); j.Last.Open() {
			if !at.After(v.now) {
				all = append(all, turn{j.Definition, j.Last.Tick, at})
			}
			continue
		}
		if j.Problem != nil || j.Paused {
			continue
		}
		if at := e.due(j); !at.IsZero() {
			since := at
			if since.Before(j.Last.EndedAt) {
				since = j.Last.EndedAt
			}
			all = append(all, turn{j.Definition, NewTick(j.Name, at), since})
		}
	}
	slices.SortStableFunc(all, func(a, b turn) int { return a.since.Compare(b.since) })
	return all
}

// due is the nominal time at which a job is due: by its policy, or one that was due while
// this instance ran another.
func (e *Engine) due(j Job) time.Time {
	since := j.since()
	at := j.Definition.due(since, j.now)
	if kept := e.kept[j.Name]; at.IsZero() && kept.After(since) && j.now.Sub(kept) <= j.Definition.MissedWithin {
		return kept
	}
	return at
}

// beginAll begins one, and keeps in mind what has to wait for it.
func (e *Engine) beginAll(ctx context.Context, all []turn) map[string]bool {
	began := make(map[string]bool)
	for _, t := range all {
		if e.begin(ctx, t.definition, t.tick) {
			began[t.tick.JobName] = true
			delete(e.kept, t.tick.JobName)
		} else if len(e.slot) > 0 {
			e.kept[t.tick.JobName] = t.tick.NominalTime
		}
	}
	return began
}

// log logs what is wrong with a job where this instance has not logged it yet, and the
// times that it has missed since its last run, once each.
func (e *Engine) log(j Job) {
	if j.MissedLast.After(e.loggedMissed[j.Name]) {
		e.loggedMissed[j.Name] = j.MissedLast
		e.Log.Warn("times of a job were missed", "job", j.Name, "times", j.Missed, "latest", j.MissedLast)
	}
	if j.Problem == nil {
		delete(e.logged, j.Name)
	} else if text := oneLine(j.Problem.Error()); e.logged[j.Name] != text {
		e.logged[j.Name] = text
		e.Log.Warn("a job cannot run as it is", "job", j.Name, "reason", text)
	}
}

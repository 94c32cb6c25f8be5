// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// lateRunner is taken over while it runs, by an instance that ends the tick, and learns
// it from nobody: as a process that was suspended.
type lateRunner struct {
	*pay
	w      *world
	ending Ending
	gaveUp int
	taken  chan struct{}
}

func (r *lateRunner) GiveUp(context.Context, Work) error { r.gaveUp++; return nil }

func (r *lateRunner) Run(ctx context.Context, work Work) Ending {
	if err := work.Save(ctx, []byte("released 7")); err != nil {
		panic(err)
	}
	c := r.w.ticks[work.JobName][0]
	c.LeaseUntil = c.ClaimedAt
	r.w.ticks[work.JobName][0] = c
	other, err := r.w.memory.Claim(ctx, work.Tick, Holder{"b", "other"}, r.w.options.Lease)
	if err != nil || string(other.Saved) != "released 7" {
		panic("not taken over")
	}
	done := Outcome{Status: Finished, RunID: work.ReleaseID}
	r.w.memory.PutRun(ctx, Run{RunID: work.ReleaseID, Status: Finished, Report: []byte("{}")})
	if err := r.w.memory.Finish(ctx, work.Tick, other.Token, done); err != nil {
		panic(err)
	}
	close(r.taken)
	return r.ending
}

// awayStore cannot be asked about leases once a tick was taken over: as after a
// suspension that outlasted its connections.
type awayStore struct {
	*world
	taken chan struct{}
}

func (s awayStore) Renew(ctx context.Context, t Tick, token string, lease time.Duration) (Claim, error) {
	if closed(s.taken) {
		return Claim{}, errors.New("the connection was reset")
	}
	return s.world.Renew(ctx, t, token, lease)
}

// TestLateHolder: who was taken over and does not know it gives nothing up and tells
// nothing of the run, however its own attempt ended, and where it cannot ask too.
func TestLateHolder(t *testing.T) {
	for name, end := range map[string]Ending{
		"failed":      {Outcome: Outcome{Status: Failed, Message: "refused"}, Spent: true, Run: &Run{}},
		"interrupted": {Outcome: Outcome{Status: Failed, Message: "away"}, Spent: true, Retry: true, Run: &Run{}},
		"finished":    {Outcome: Outcome{Status: Finished}, Spent: true, Run: &Run{}},
		"cannot ask":  {Outcome: Outcome{Status: Failed, Message: "refused"}, Spent: true, Run: &Run{}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := worldAt(t, "2026-06-01T00:59:50Z", job("a", "@hourly", "maxRetries", 0))
				w.options.Lease = time.Minute
				r := &lateRunner{pay: w.runner, w: w, ending: end, taken: make(chan struct{})}
				id := NewTick("a", instant(t, "2026-06-01T01:00:00Z")).ReleaseID()
				r.ending.Run = &Run{RunID: id}
				ctx, cancel := context.WithCancel(t.Context())
				var store Store = w
				if name == "cannot ask" {
					store = awayStore{w, r.taken}
				}
				e := New(Options{Store: store, Runner: r, Instance: "a", Lease: time.Minute, Settings: w.options.Settings})
				done := make(chan struct{})
				go func() { e.Run(ctx); close(done) }()
				<-r.taken
				clockTo(t, "2026-06-01T01:00:05Z")
				cancel()
				<-done
				if r.gaveUp > 0 {
					t.Errorf("it gave up what the other instance published, %d times", r.gaveUp)
				}
				if got := w.runs[id]; got.Status != Finished || got.Report == nil {
					t.Errorf("the history tells %q with the report %q, want that of the other instance", got.Status, got.Report)
				}
			})
		})
	}
}

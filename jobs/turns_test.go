// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/graphcloak/graphcloak/internal/lockedbuffer"
	"github.com/graphcloak/graphcloak/internal/must"
	. "github.com/graphcloak/graphcloak/jobs"
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
	r.w.alter(work.JobName, func(c *Claim) { c.LeaseUntil = c.ClaimedAt })
	other, err := r.w.Claim(ctx, work.Tick, Holder{"b", "other"}, r.w.options.Lease)
	if err != nil || string(other.Saved) != "released 7" {
		panic("not taken over")
	}
	done := Outcome{Status: Finished, RunID: work.ReleaseID}
	r.w.PutRun(ctx, Run{RunID: work.ReleaseID, Status: Finished, Report: []byte("{}")})
	if err := r.w.Finish(ctx, work.Tick, other.Token, done); err != nil {
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
	select {
	case <-s.taken:
		return Claim{}, errors.New("the connection was reset")
	default:
		return s.world.Renew(ctx, t, token, lease)
	}
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
				if got := must.Get(w.GetRun(t.Context(), id))(t); got.Status != Finished || got.Report == nil {
					t.Errorf("the history tells %q with the report %q, want that of the other instance", got.Status, got.Report)
				}
			})
		})
	}
}

// TestTwinsRunNothing: of two filed jobs with one name neither is run, also where a tick
// of the name was begun before the second was filed.
func TestTwinsRunNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, "2026-06-01T01:05:00Z", job("a", "@hourly", "sourceProperty", "mine"))
		w.file(job("a", "@hourly", "sourceProperty", "theirs"))
		at := instant(t, "2026-06-01T01:00:00Z")
		must.Get(w.Claim(t.Context(), NewTick("a", at), Holder{Token: "dead"}, 0))(t)
		var ran []any
		w.runner.do = func(_ context.Context, work Work) Ending {
			ran = append(ran, work.Definition.Settings["sourceProperty"])
			return Ending{Outcome: Outcome{Status: Finished}}
		}
		stop := w.instance("a", w)
		time.Sleep(time.Minute)
		stop()
		if len(ran) > 0 || len(w.ended("a", Canceled)) != 1 {
			t.Errorf("ran the settings of %v; latest %+v", ran, w.latest("a"))
		}
	})
}

// TestClockThatWasAhead: a job whose last time is years ahead of the store's clock says so,
// and how to fix it, and goes on from then; also where who claimed it is gone.
func TestClockThatWasAhead(t *testing.T) {
	for name, gone := range map[string]bool{"the run has ended": false, "its holder is gone": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := worldAt(t, "2026-06-01T00:30:00Z")
				w.options.Poll = time.Minute
				w.file(job("a", "@hourly", "missedRuns", "all"))
				stop := w.instance("a", w)
				clockTo(t, "2026-06-01T02:30:00Z")
				w.Jump(10 * 365 * 24 * time.Hour)
				clockTo(t, "2026-06-01T03:30:00Z")
				if gone {
					now := must.Get(w.Now(t.Context()))(t)
					w.alter("a", func(c *Claim) { c.Outcome, c.LeaseUntil = Outcome{Status: Running}, now.Add(time.Hour) })
				}
				w.Jump(0)
				clockTo(t, "2026-06-01T06:30:00Z")
				if s := w.state("a"); s.Status != Invalid || !strings.Contains(s.Message, "job resume a") ||
					!strings.Contains(s.Message, "2036") {
					t.Errorf("the state is %+v", s)
				}
				e, before := w.engine(), len(w.ended("a", Finished))
				for range 2 {
					must.Do(t, e.Pause(t.Context(), "a", false))
					time.Sleep(2 * time.Minute) // an open tick is completed, and then ahead again
				}
				clockTo(t, "2026-06-01T09:30:00Z")
				stop()
				if got := w.ended("a", Finished)[2:]; len(got) != 3 || got[0].Hour() != 7 || got[0].Year() != 2026 {
					t.Errorf("after %d ticks it ran %v, want those of 7, 8 and 9 o'clock", before, got)
				}
				if s := w.state("a"); s.Status != JobStatus(Finished) {
					t.Errorf("the state is %+v", s)
				}
			})
		})
	}
}

// TestWaitIsOneEntry: a job that is refused at every tick has one entry in the history until
// its state changes, from its first refusal to its last, and every tick names an entry.
func TestWaitIsOneEntry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, "2026-06-01T00:30:00Z", job("a", "@daily"))
		ends := map[int]Status{4: Finished, 7: OverBudget, 8: OverBudget} // by day; else it waits
		w.runner.do = func(ctx context.Context, work Work) Ending {
			end := Ending{
				Outcome: Outcome{Status: WaitingForBudget, RunID: work.ReleaseID, ExitCode: 9},
				Run:     &Run{RunID: work.ReleaseID, ReleaseID: work.ReleaseID},
			}
			if s, ok := ends[work.Tick.NominalTime.Day()]; ok {
				end.Status = s
			}
			if end.Status == Finished {
				end.Spent, end.Run.Spent = true, true
			}
			return end
		}
		stop := w.instance("a", w)
		clockTo(t, "2026-06-08T00:30:00Z")
		stop()
		all := must.Get(w.ListRuns(t.Context(), RunQuery{JobName: "a"}))(t)
		slices.Reverse(all)
		var got [][2]int
		for k, want := range []Status{WaitingForBudget, Finished, WaitingForBudget, OverBudget} {
			if k >= len(all) || all[k].Status != want {
				t.Fatalf("entry %d is no %s: %+v", k, want, all)
			}
			got = append(got, [2]int{all[k].StartedAt.Day(), all[k].EndedAt.Day()})
		}
		if want := [][2]int{{2, 3}, {4, 4}, {5, 6}, {7, 8}}; !slices.Equal(got, want) {
			t.Errorf("entries from and to %v, want %v", got, want)
		}
		for _, c := range must.Get(w.Ticks(t.Context(), TickQuery{JobName: "a"}))(t) {
			if !slices.ContainsFunc(all, func(r Run) bool { return r.RunID == c.RunID }) {
				t.Errorf("the tick of %v names the run %s, which has no entry", c.NominalTime, c.RunID)
			}
		}
	})
}

// TestNoJobStarves: a job that is due all the time, whatever its name and its policy, leaves
// its turn to one that is due once a day.
func TestNoJobStarves(t *testing.T) {
	for name, greedy := range map[string]map[string]any{
		"as long as its period": job("aaa", "@every 1m"),
		"behind by many times":  job("aaa", "@every 1m", "missedRuns", "all"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := worldAt(t, "2026-06-01T12:00:30Z")
				w.options.Poll = time.Hour
				w.file(greedy)
				w.file(job("zzz", "30 2 * * *"))
				w.runner.do = func(context.Context, Work) Ending {
					time.Sleep(7 * time.Minute)
					return Ending{Outcome: Outcome{Status: Finished}}
				}
				stop := w.instance("a", w)
				clockTo(t, "2026-06-04T12:00:00Z")
				stop()
				if got := w.ended("zzz", Finished); len(got) != 3 {
					t.Errorf("the daily job ran %d times in 3 days, and the other %d times", len(got), len(w.ended("aaa", Finished)))
				}
			})
		})
	}
}

// TestMissedTimesAreTold: a time that nobody ran shows in the list, and in the log once.
func TestMissedTimesAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, "2026-06-01T00:30:00Z", job("a", "@daily"))
		var told lockedbuffer.Buffer
		w.options.Log = slog.New(slog.NewTextHandler(&told, nil))
		stop := w.instance("a", w)
		time.Sleep(time.Minute)
		stop()
		clockTo(t, "2026-06-04T00:30:00Z")
		stop = w.instance("a", w)
		time.Sleep(5 * time.Minute)
		all, _, err := w.engine().Jobs(t.Context())
		stop()
		if err != nil || len(all) != 1 || all[0].Missed != 3 || !all[0].MissedLast.Equal(instant(t, "2026-06-04T00:00:00Z")) {
			t.Errorf("the list tells %+v, %v, want 3 missed times", all, err)
		}
		if m := all[0].Summary().Message; !strings.Contains(m, "3 times") || !strings.Contains(m, "2026-06-04T00:00:00Z") {
			t.Errorf("the message is %q", m)
		}
		if n := strings.Count(told.String(), "times of a job were missed"); n != 1 {
			t.Errorf("the log tells %d times of missed times:\n%s", n, told.String())
		}
	})
}

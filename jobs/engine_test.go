// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/graphcloak/graphcloak/connector/storetest"
	"github.com/graphcloak/graphcloak/internal/lockedbuffer"
	"github.com/graphcloak/graphcloak/internal/must"
	. "github.com/graphcloak/graphcloak/jobs"
)

// pay is the work of a run as the ledger sees it: one payment for each release, one
// published value, and never a second of either.
type pay struct {
	mu        sync.Mutex
	paid      map[string]int // attempts that the ledger took, by release
	published map[string]string
	starts    map[string]int // by job
	at        map[string][]time.Time
	givenUp   []string

	do func(ctx context.Context, w Work) Ending // nil: it succeeds at once
}

func newPay() *pay {
	return &pay{paid: map[string]int{}, published: map[string]string{}, starts: map[string]int{}, at: map[string][]time.Time{}}
}

func (p *pay) Check(d Definition) error {
	if _, ok := d.Settings["noSuchKey"]; ok {
		return errors.New("noSuchKey is no setting")
	}
	return nil
}

func (p *pay) GiveUp(_ context.Context, w Work) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.givenUp = append(p.givenUp, w.ReleaseID)
	return nil
}

func (p *pay) Run(ctx context.Context, w Work) Ending {
	p.mu.Lock()
	p.starts[w.JobName]++
	p.at[w.JobName] = append(p.at[w.JobName], w.NominalTime)
	p.mu.Unlock()
	if p.do != nil {
		return p.do(ctx, w)
	}
	return p.release(ctx, w)
}

// release keeps the attempt, pays once, keeps the release and publishes it.
func (p *pay) release(ctx context.Context, w Work) Ending {
	retry := Ending{
		Outcome: Outcome{Status: Failed, RunID: w.ReleaseID, ExitCode: 8, Message: "interrupted"}, Retry: true,
		Spent: len(w.Saved) > 0,
	}
	value := strings.TrimPrefix(string(w.Saved), "released ")
	if !strings.HasPrefix(string(w.Saved), "released ") {
		if err := w.Save(ctx, []byte("attempt")); err != nil {
			return retry
		}
		p.spend(w.ReleaseID)
		retry.Spent = true
		value = fmt.Sprint(time.Now().UnixNano())
		if err := w.Save(ctx, []byte("released "+value)); err != nil {
			return retry
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if before, ok := p.published[w.ReleaseID]; ok && before != value {
		panic("two values of one release were published")
	}
	p.published[w.ReleaseID] = value
	return Ending{Outcome: Outcome{Status: Finished, RunID: w.ReleaseID}, Spent: true}
}

// spend pays, idempotently for one release as the ledger is for one attempt.
func (p *pay) spend(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.paid[id]++
}

// world is a store with instances that run until they are stopped or killed.
type world struct {
	storetest.JobStore
	runner  *pay
	options Options
	wait    sync.WaitGroup
}

// worldAt has the jobs, at a time of its clock, which is set forward to it.
func worldAt(t *testing.T, at string, jobs ...map[string]any) *world {
	clockTo(t, at)
	w := newWorld()
	w.options.Settings = jobs
	return w
}

func newWorld() *world { return &world{JobStore: storetest.NewJobStore(), runner: newPay()} }

// instance starts an engine and returns what stops it in order.
func (w *world) instance(name string, store Store) (stop func()) {
	o := w.options
	o.Store, o.Runner, o.Instance = store, w.runner, name
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	w.wait.Go(func() { New(o).Run(ctx); close(done) })
	return func() { cancel(); <-done }
}

// latest is the record of a job's latest tick.
func (w *world) latest(name string) Claim {
	all, err := w.Ticks(context.Background(), TickQuery{JobName: name, Latest: true})
	if err != nil || len(all) != 1 {
		panic(fmt.Sprint(all, err))
	}
	return all[0]
}

// alter changes the record of a job's latest tick, as another instance does.
func (w *world) alter(name string, change func(c *Claim)) {
	if _, err := w.Decide(context.Background(), name, true, func(_ time.Time, latest Claim) (Claim, error) {
		change(&latest)
		return latest, nil
	}); err != nil {
		panic(err)
	}
}

// ended returns the nominal times of a job's ticks with a status.
func (w *world) ended(name string, status Status) (times []time.Time) {
	all, err := w.Ticks(context.Background(), TickQuery{JobName: name, Status: status})
	if err != nil {
		panic(err)
	}
	for _, c := range slices.Backward(all) {
		times = append(times, c.NominalTime)
	}
	return times
}

// file adds a job to the settings of the instances that start later.
func (w *world) file(fields map[string]any) { w.options.Settings = append(w.options.Settings, fields) }

// engine is one that nobody has started.
func (w *world) engine() *Engine {
	o := w.options
	o.Store, o.Runner = cmp.Or(o.Store, Store(w)), cmp.Or(o.Runner, Runner(w.runner))
	return New(o)
}

// state is what is shown of a job.
func (w *world) state(name string) Summary {
	all, _, err := w.engine().Jobs(context.Background())
	if err != nil {
		panic(err)
	}
	i := slices.IndexFunc(all, func(j Job) bool { return j.Name == name })
	return all[i].Summary()
}

func job(name, schedule string, more ...any) map[string]any {
	fields := map[string]any{"name": name, "schedule": schedule}
	for i := 0; i < len(more); i += 2 {
		fields[more[i].(string)] = more[i+1]
	}
	return fields
}

// clockTo sets the clock of a bubble, which starts at 2000-01-01T00:00Z.
func clockTo(t *testing.T, text string) { time.Sleep(time.Until(instant(t, text))) }

// TestYear: two instances, a year of nights with both changes of the clock: every night
// is run once, at its nominal time.
func TestYear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, "2026-01-01T00:00:00Z")
		w.options.Poll = 6 * time.Hour
		w.file(job("nightly", "30 2 * * *", "timeZone", "Europe/Berlin"))
		w.file(job("hourly", "0 */6 * * *", "timeZone", "America/New_York"))
		stop, stopToo := w.instance("a", w), w.instance("b", w)
		clockTo(t, "2027-01-01T00:00:00Z")
		stop()
		stopToo()
		berlin := mustSchedule(t, "30 2 * * *", "Europe/Berlin")
		var want []time.Time
		for at := berlin.Next(instant(t, "2026-01-01T00:00:00Z")); at.Before(instant(t, "2027-01-01T00:00:00Z")); at = berlin.Next(at) {
			want = append(want, at)
		}
		if got := w.ended("nightly", Finished); !slices.Equal(got, want) || len(got) != 365 {
			t.Errorf("%d nights, want %d", len(got), len(want))
		}
		if got := w.ended("hourly", Finished); len(got) != 4*365 {
			t.Errorf("%d ticks every six hours, want %d", len(got), 4*365)
		}
		w.checkPaidOnce(t, 365+4*365)
		if s := w.state("hourly"); s.Status != JobStatus(Finished) || s.LastRun.IsZero() || !s.NextRun.After(s.LastRun) {
			t.Errorf("state %+v", s)
		}
	})
}

func mustSchedule(t *testing.T, spec, zone string) Schedule {
	t.Helper()
	return must.Get(ParseSchedule(spec, zone))(t)
}

// checkPaidOnce: as many releases as ticks, each paid and published once.
func (w *world) checkPaidOnce(t *testing.T, n int) {
	t.Helper()
	w.runner.mu.Lock()
	defer w.runner.mu.Unlock()
	if len(w.runner.paid) != n || len(w.runner.published) != n {
		t.Errorf("%d releases are paid for and %d published, want %d", len(w.runner.paid), len(w.runner.published), n)
	}
	for id, times := range w.runner.paid {
		if times != 1 {
			t.Errorf("release %s was paid for %d times", id, times)
		}
	}
}

// TestOutage: what is missed while nobody is there, under each policy.
func TestOutage(t *testing.T) {
	for policy, want := range map[Missed][]int{ // hours of the day that are run
		Skip: {1, 2, 10, 11}, Once: {1, 2, 9, 10, 11}, All: {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := worldAt(t, "2026-06-01T00:30:00Z", job("a", "@hourly", "missedRuns", string(policy)))
			stop := w.instance("a", w)
			clockTo(t, "2026-06-01T02:30:00Z")
			stop()
			clockTo(t, "2026-06-01T09:30:00Z")
			stop = w.instance("a", w)
			clockTo(t, "2026-06-01T11:30:00Z")
			stop()
			var got []int
			for _, at := range w.ended("a", Finished) {
				got = append(got, at.Hour())
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: hours %v, want %v", policy, got, want)
			}
		})
	}
}

// TestPauseMissesNothing: what falls into a pause is not made up for, under any policy.
func TestPauseMissesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, "2026-06-01T00:30:00Z", job("a", "@hourly", "missedRuns", "all"))
		stop := w.instance("a", w)
		clockTo(t, "2026-06-01T01:30:00Z")
		w.SetPaused(t.Context(), "a", true)
		clockTo(t, "2026-06-01T02:30:00Z")
		if s := w.state("a"); s.Status != Paused || !s.NextRun.IsZero() {
			t.Errorf("paused: %+v", s)
		}
		clockTo(t, "2026-06-01T05:30:00Z")
		w.SetPaused(t.Context(), "a", false)
		clockTo(t, "2026-06-01T06:30:00Z")
		stop()
		if got := w.ended("a", Finished); len(got) != 2 || got[0].Hour() != 1 || got[1].Hour() != 6 {
			t.Errorf("ticks %v, want those of 1 and 6 o'clock", got)
		}
	})
}

// TestClockJumps: the store's clock is put forward and back by a day; no tick is run
// twice, and the schedule goes on.
func TestClockJumps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, "2026-06-01T00:30:00Z", job("a", "@hourly"))
		stop := w.instance("a", w)
		clockTo(t, "2026-06-01T03:30:00Z")
		w.Jump(24 * time.Hour)
		clockTo(t, "2026-06-01T06:30:00Z")
		w.Jump(0)
		clockTo(t, "2026-06-03T06:30:00Z")
		stop()
		got := w.ended("a", Finished)
		if !slices.IsSortedFunc(got, time.Time.Compare) || len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Errorf("ticks %v", got)
		}
		// Three at first, three of the day after, and from its 7 o'clock on all again.
		if want := 3 + 3 + 24; len(got) != want {
			t.Errorf("%d ticks, want %d: %v", len(got), want, got)
		}
		w.checkPaidOnce(t, len(got))
	})
}

// TestSlowJob: a run longer than its period does not overlap with the next, at any
// instance, and its lease is kept.
func TestSlowJob(t *testing.T) {
	for policy, want := range map[Missed][]int{Skip: {1, 3, 5}, Once: {1, 2, 4}, All: {1, 2, 3}} {
		synctest.Test(t, func(t *testing.T) {
			w := worldAt(t, "2026-06-01T00:30:00Z")
			w.file(job("slow", "@hourly", "missedRuns", string(policy)))
			inside := 0
			w.runner.do = func(ctx context.Context, work Work) Ending {
				if inside++; inside > 1 {
					t.Error("a job overlaps with itself")
				}
				defer func() { inside-- }()
				select {
				case <-time.After(119*time.Minute + 30*time.Second):
					return w.runner.release(ctx, work)
				case <-ctx.Done():
					return Ending{Retry: true}
				}
			}
			stop, stopToo := w.instance("a", w), w.instance("b", w)
			clockTo(t, "2026-06-01T07:00:15Z")
			stop()
			stopToo()
			var got []int
			for _, at := range w.ended("slow", Finished) {
				got = append(got, at.Hour())
			}
			if len(got) < 3 || !slices.Equal(got[:3], want) {
				t.Errorf("%s: hours %v, want %v", policy, got, want)
			}
			if w.runner.starts["slow"] > 4 {
				t.Errorf("%d runs were begun", w.runner.starts["slow"])
			}
		})
	}
}

// TestFailingJob: what may pass is tried again with growing pauses, what will not is
// not; the schedule goes on in both cases, and other jobs do not notice.
func TestFailingJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, "2026-06-01T00:30:00Z")
		var log lockedbuffer.Buffer
		w.options.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
		w.file(job("broken", "@hourly"))
		w.file(job("flaky", "@hourly", "maxRetries", int64(2), "retryDelay", "1m"))
		w.file(job("good", "@hourly"))
		w.runner.do = func(ctx context.Context, work Work) Ending {
			switch {
			case work.JobName == "broken":
				return Ending{Outcome: Outcome{Status: Failed, ExitCode: 3, Message: "there is no node label"}}
			case work.JobName == "flaky" && work.NominalTime.Hour() != 2:
				return Ending{Outcome: Outcome{Status: Failed, ExitCode: 8, Message: "the server is away"}, Retry: true}
			}
			return w.runner.release(ctx, work)
		}
		stop := w.instance("a", w)
		clockTo(t, "2026-06-01T03:30:00Z")
		stop()
		if text := log.String(); strings.Count(text, "level=ERROR msg=\"a tick has ended\" job=broken") != 3 ||
			strings.Contains(text, "ended\" job=good") {
			t.Errorf("the log of warnings tells each failure once and nothing of good:\n%s", text)
		}
		if got := w.ended("broken", Failed); len(got) != 3 || w.runner.starts["broken"] != 3 {
			t.Errorf("broken: %v after %d starts", got, w.runner.starts["broken"])
		}
		if got := w.ended("flaky", Failed); len(got) != 2 || w.runner.starts["flaky"] != 3+1+3 {
			t.Errorf("flaky: %v after %d starts", got, w.runner.starts["flaky"])
		}
		if got := w.ended("flaky", Finished); len(got) != 1 || got[0].Hour() != 2 {
			t.Errorf("flaky: finished %v", got)
		}
		if got := w.ended("good", Finished); len(got) != 3 {
			t.Errorf("good: %v", got)
		}
		if s := w.state("broken"); s.Status != JobStatus(Failed) || s.Message != "there is no node label" || s.NextRun.Hour() != 4 {
			t.Errorf("state %+v", s)
		}
	})
}

// TestWaitingForBudget: a job whose budget is spent is tried at every tick, shows until
// when it waits, and goes on by itself.
func TestWaitingForBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, "2026-06-01T00:30:00Z", job("a", "@daily"))
		renews := instant(t, "2026-06-04T12:00:00Z")
		w.runner.do = func(ctx context.Context, work Work) Ending {
			if now, _ := w.Now(ctx); now.Before(renews) {
				return Ending{Outcome: Outcome{Status: WaitingForBudget, ExitCode: 9, Message: "its budget is spent", RenewsAt: renews}}
			}
			return w.runner.release(ctx, work)
		}
		stop := w.instance("a", w)
		clockTo(t, "2026-06-03T00:30:00Z")
		if s := w.state("a"); s.Status != JobStatus(WaitingForBudget) || s.NextRun.Day() != 4 {
			t.Errorf("state %+v", s)
		}
		clockTo(t, "2026-06-06T00:30:00Z")
		stop()
		if waiting, ended := w.ended("a", WaitingForBudget), w.ended("a", Finished); len(waiting) != 3 || len(ended) != 2 {
			t.Errorf("waited %v, ended %v", waiting, ended)
		}
		w.checkPaidOnce(t, 2)
	})
}

// cut is a store that an instance is cut off from: as if its process were killed or its
// machine stopped, for what it does then reaches nobody.
type cut struct {
	storetest.JobStore
	off *atomic.Bool
}

func (c cut) gone() error {
	if c.off.Load() {
		return errors.New("cut off")
	}
	return nil
}

func (c cut) Now(ctx context.Context) (time.Time, error) {
	now, err := c.JobStore.Now(ctx)
	return now, cmp.Or(c.gone(), err)
}

func (c cut) Renew(ctx context.Context, t Tick, token string, lease time.Duration) (Claim, error) {
	if err := c.gone(); err != nil {
		return Claim{}, err
	}
	return c.JobStore.Renew(ctx, t, token, lease)
}

func (c cut) Save(ctx context.Context, t Tick, token string, saved []byte) error {
	if err := c.gone(); err != nil {
		return err
	}
	return c.JobStore.Save(ctx, t, token, saved)
}

func (c cut) Finish(ctx context.Context, t Tick, token string, o Outcome) error {
	if err := c.gone(); err != nil {
		return err
	}
	return c.JobStore.Finish(ctx, t, token, o)
}

// TestTakeover: the holder is cut off before it keeps its attempt, after it has paid,
// and after it has kept its release. Another instance goes on with the same release,
// and there is one payment.
func TestTakeover(t *testing.T) {
	for _, stage := range []string{"before", "paid", "released"} {
		synctest.Test(t, func(t *testing.T) {
			w := worldAt(t, "2026-06-01T00:59:00Z", job("a", "@hourly", "missedRuns", "once"))
			broken := cut{w.JobStore, new(atomic.Bool)}
			w.runner.do = func(ctx context.Context, work Work) Ending {
				if broken.off.Load() || len(work.Saved) > 0 {
					if len(work.Saved) == 0 {
						return w.runner.release(ctx, work)
					}
					return w.runner.resume(ctx, work)
				}
				if stage != "before" {
					work.Save(ctx, []byte("attempt"))
					w.runner.spend(work.ReleaseID)
				}
				if stage == "released" {
					work.Save(ctx, []byte("released 7"))
				}
				broken.off.Store(true)
				<-ctx.Done()
				return Ending{Outcome: Outcome{Status: Failed, Message: "interrupted"}, Retry: true, Spent: stage != "before"}
			}
			stop := w.instance("a", broken)
			clockTo(t, "2026-06-01T01:00:30Z")
			if !broken.off.Load() {
				t.Fatal("the first instance did not begin")
			}
			stopToo := w.instance("b", w)
			clockTo(t, "2026-06-01T01:30:00Z")
			if got := w.ended("a", Finished); len(got) != 1 || got[0].Hour() != 1 {
				t.Errorf("%s: ended %v", stage, got)
			}
			w.checkPaidOnce(t, 1)
			if stage == "released" && w.runner.published[NewTick("a", instant(t, "2026-06-01T01:00:00Z")).ReleaseID()] != "7" {
				t.Errorf("another release than the kept one was published: %v", w.runner.published)
			}
			if c := w.latest("a"); c.Attempts != 2 || c.Instance != "b" {
				t.Errorf("%s: claim %+v", stage, c)
			}
			stop()
			stopToo()
		})
	}
}

// resume goes on from what was kept: a payment is not repeated.
func (p *pay) resume(ctx context.Context, w Work) Ending {
	if string(w.Saved) == "attempt" {
		if err := w.Save(ctx, []byte("released 8")); err != nil {
			return Ending{Retry: true, Spent: true}
		}
		w.Saved = []byte("released 8")
	}
	return p.release(ctx, w)
}

// TestStopAbandons: at the end of an instance its run has Drain to finish, and another
// instance goes on at once, not after the lease.
func TestStopAbandons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, "2026-06-01T00:59:00Z")
		w.options.Drain, w.options.Lease = 5*time.Second, time.Hour
		w.file(job("a", "@hourly"))
		w.runner.do = func(ctx context.Context, work Work) Ending {
			if w.runner.starts["a"] > 1 {
				return w.runner.release(ctx, work)
			}
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), ErrStopped) {
				t.Errorf("the run ended by %v", context.Cause(ctx))
			}
			return Ending{Outcome: Outcome{Status: Failed, Message: "interrupted"}, Retry: true}
		}
		stop := w.instance("a", w)
		clockTo(t, "2026-06-01T01:00:30Z")
		start := time.Now()
		stop()
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("the end took %v, want the drain's 5s", took)
		}
		stop = w.instance("b", w)
		clockTo(t, "2026-06-01T01:00:50Z")
		stop()
		if got := w.ended("a", Finished); len(got) != 1 {
			t.Errorf("ended %v", got)
		}
	})
}

// TestTimeout ends a run that takes too long, and not the schedule; one that is paid
// for is gone on with.
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, "2026-06-01T00:30:00Z")
		w.file(job("free", "@hourly", "timeout", "10m"))
		w.file(job("paid", "@hourly", "timeout", "10m", "retryDelay", "1s"))
		w.runner.do = func(ctx context.Context, work Work) Ending {
			if work.JobName == "paid" && len(work.Saved) > 0 {
				return w.runner.resume(ctx, work)
			}
			if work.JobName == "paid" {
				work.Save(ctx, []byte("attempt"))
				w.runner.spend(work.ReleaseID)
			}
			<-ctx.Done()
			return Ending{Outcome: Outcome{Status: Failed, Message: "interrupted"}, Retry: true, Spent: work.JobName == "paid"}
		}
		stop := w.instance("a", w)
		clockTo(t, "2026-06-01T02:30:00Z")
		stop()
		if got := w.ended("free", Failed); len(got) != 2 || w.runner.starts["free"] != 2 {
			t.Errorf("free: %v after %d starts", got, w.runner.starts["free"])
		}
		if s := w.state("free"); !strings.Contains(s.Message, "timeout of 10m0s") {
			t.Errorf("state %+v", s)
		}
		if got := w.ended("paid", Finished); len(got) != 2 {
			t.Errorf("paid: %v", got)
		}
		w.checkPaidOnce(t, 2)
	})
}

// TestLostRunIsNotGivenUp: a run that failed for good is given up by its holder,
// and by nobody else.
func TestLostRunIsNotGivenUp(t *testing.T) {
	for _, lost := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := worldAt(t, "2026-06-01T00:59:00Z", job("a", "@hourly"))
			w.runner.do = func(ctx context.Context, work Work) Ending {
				work.Save(ctx, []byte("attempt"))
				if lost {
					w.alter("a", func(c *Claim) { c.Token = "another's" })
				}
				return Ending{Outcome: Outcome{Status: Failed, Message: "the graph has changed"}, Spent: true}
			}
			stop := w.instance("a", w)
			clockTo(t, "2026-06-01T01:00:30Z")
			stop()
			if got := len(w.runner.givenUp); (got == 0) != lost {
				t.Errorf("lost %v: it was given up %d times", lost, got)
			}
			if open := w.latest("a").Open(); open != lost {
				t.Errorf("lost %v: the tick is open: %v", lost, open)
			}
		})
	}
}

// TestLostLeaseStopsTheRun: where another has the tick, or the store has not answered for a whole lease,
// the run is ended by then, for that reason.
func TestLostLeaseStopsTheRun(t *testing.T) {
	for what, c := range map[string]struct {
		lose   func(w *world, store cut)
		within time.Duration
	}{
		"taken over":  {func(w *world, _ cut) { w.alter("a", func(c *Claim) { c.Token = "another's" }) }, 20 * time.Second},
		"not renewed": {func(_ *world, store cut) { store.off.Store(true) }, time.Minute + 20*time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := worldAt(t, "2026-06-01T00:59:00Z", job("a", "@hourly"))
			store := cut{w.JobStore, new(atomic.Bool)}
			w.options.Store = store
			var took time.Duration
			var cause error
			w.runner.do = func(ctx context.Context, work Work) Ending {
				c.lose(w, store)
				start := time.Now()
				select {
				case <-ctx.Done():
				case <-time.After(time.Hour):
				}
				took, cause = time.Since(start), context.Cause(ctx)
				return Ending{Outcome: Outcome{Status: Failed, Message: "interrupted"}, Retry: true}
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() { w.engine().Run(ctx); close(done) }()
			clockTo(t, "2026-06-01T01:30:00Z")
			cancel()
			<-done
			if took > c.within || !errors.Is(cause, ErrLost) {
				t.Errorf("%s: the run ended after %v for %v, want within %v for ErrLost", what, took, cause, c.within)
			}
		})
	}
}

// TestCancel ends a run that is under way at another instance.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, "2026-06-01T00:30:00Z", job("a", "@hourly"))
		w.runner.do = func(ctx context.Context, work Work) Ending {
			<-ctx.Done()
			return Ending{Outcome: Outcome{Status: Failed, Message: "interrupted"}, Retry: true}
		}
		stop := w.instance("a", w)
		clockTo(t, "2026-06-01T01:05:00Z")
		must.Get(w.Cancel(t.Context(), "a"))(t)
		clockTo(t, "2026-06-01T01:06:00Z")
		if got := w.ended("a", Canceled); len(got) != 1 {
			t.Errorf("canceled %v", got)
		}
		if _, err := w.Cancel(t.Context(), "a"); !errors.Is(err, ErrNoJob) {
			t.Errorf("nothing to cancel: %v", err)
		}
		stop()
	})
}

// TestCancelBeforeTakeover: a tick that was cancelled while nobody was at it is not begun
// again, and what it left is taken back.
func TestCancelBeforeTakeover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.file(job("a", "@every 10h"))
		at := NewTick("a", time.Now())
		must.Get(w.Claim(t.Context(), at, Holder{Token: "dead"}, time.Second))(t)
		must.Do(t, w.Save(t.Context(), at, "dead", []byte("attempt")))
		must.Get(w.Cancel(t.Context(), "a"))(t)
		stop := w.instance("a", w)
		time.Sleep(time.Minute)
		stop()
		if got := w.ended("a", Canceled); len(got) != 1 || w.runner.starts["a"] != 0 ||
			!slices.Equal(w.runner.givenUp, []string{at.ReleaseID()}) {
			t.Errorf("cancelled %v after %d starts, given up %q", got, w.runner.starts["a"], w.runner.givenUp)
		}
	})
}

// TestCancelAtSpend: a run whose payment the store refuses, since somebody asked for its
// end, ends as cancelled and is not tried again.
func TestCancelAtSpend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, "2026-06-01T00:30:00Z", job("a", "@hourly"))
		w.runner.do = func(ctx context.Context, work Work) Ending {
			if _, err := w.Cancel(ctx, "a"); err != nil {
				t.Error(err)
			}
			f, _ := FenceOf(ctx)
			err := w.Fence(ctx) // as the store does in the transaction of a spend
			if !errors.Is(err, ErrCanceled) || f.Tick != work.Tick {
				t.Errorf("the fence %+v says %v, want ErrCanceled", f, err)
			}
			return Ending{Outcome: Outcome{Status: Failed, Message: err.Error()}}
		}
		stop := w.instance("a", w)
		clockTo(t, "2026-06-01T01:05:00Z")
		stop()
		if got := w.ended("a", Canceled); len(got) != 1 || w.runner.starts["a"] != 1 {
			t.Errorf("cancelled %v after %d starts", got, w.runner.starts["a"])
		}
	})
}

// TestBadJobs: each is named with what is wrong with it, and the good one runs.
func TestBadJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, "2026-06-01T00:30:00Z")
		var log lockedbuffer.Buffer
		w.options.Log = slog.New(slog.NewTextHandler(&log, nil))
		w.file(job("good", "@hourly"))
		w.file(job("line", "at night"))
		w.file(job("zone", "@daily", "timeZone", "Mars/Olympus"))
		w.file(job("type", "@daily", "timeout", int64(4)))
		w.file(map[string]any{"name": "missing"})
		w.file(map[string]any{"schedule": "@daily"})
		w.file(job("key", "@daily", "noSuchKey", 1))
		w.file(job("twin", "@daily"))
		w.file(job("twin", "@daily"))
		stop := w.instance("a", w)
		clockTo(t, "2026-06-01T01:30:00Z")
		stop()
		if got := w.ended("good", Finished); len(got) != 1 {
			t.Errorf("good: %v", got)
		}
		for name, want := range map[string]string{
			"line": "no cron expression", "zone": "Mars/Olympus", "type": "timeout is a number", "missing": "schedule is missing",
			"jobs[5]": "name", "key": "noSuchKey", "twin": "2 jobs of the settings file have the name",
		} {
			if s := w.state(name); s.Status != Invalid || !strings.Contains(s.Message, want) {
				t.Errorf("%q: %+v, want %q", name, s, want)
			}
			if n := strings.Count(log.String(), "job="+name+" "); n != 1 && name != "twin" {
				t.Errorf("the log names %s %d times: %s", name, n, log.String())
			}
		}
	})
}

// TestStoreDown: an engine whose store is away is not ready, says so, and goes on when
// the store is back.
func TestStoreDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, "2026-06-01T00:30:00Z", job("a", "@hourly", "missedRuns", "all"))
		store := cut{w.JobStore, new(atomic.Bool)}
		w.options.Store = store
		e := w.engine()
		if e.Ready() == nil {
			t.Error("it is ready before its first look")
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { e.Run(ctx); close(done) }()
		clockTo(t, "2026-06-01T01:30:00Z")
		if err := e.Ready(); err != nil {
			t.Error(err)
		}
		store.off.Store(true)
		clockTo(t, "2026-06-01T03:30:00Z")
		if e.Ready() == nil {
			t.Error("it is ready without its store")
		}
		store.off.Store(false)
		clockTo(t, "2026-06-01T04:30:00Z")
		if got := w.ended("a", Finished); len(got) != 4 {
			t.Errorf("ticks %v", got)
		}
		cancel()
		<-done
	})
}

// TestRunNow runs a paused job at once, refuses one that runs, and knows no other.
func TestRunNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, "2026-06-01T00:30:00Z", job("a", "@hourly", "paused", true))
		e := w.engine()
		c, end, err := e.RunNow(t.Context(), "a")
		if err != nil || end.Status != Finished || c.NominalTime != instant(t, "2026-06-01T00:30:00Z") {
			t.Errorf("%+v, %+v, %v", c, end, err)
		}
		if _, _, err := e.RunNow(t.Context(), "b"); !errors.Is(err, ErrNoJob) {
			t.Errorf("a job that is not there: %v", err)
		}
		must.Get(w.Claim(t.Context(), NewTick("a", time.Now().Add(time.Second)), Holder{"other", "t"}, time.Minute))(t)
		if _, _, err := e.RunNow(t.Context(), "a"); !errors.Is(err, ErrHeld) {
			t.Errorf("a job that is running: %v", err)
		}
	})
}

// TestPoison: a tick that takes its process down each time is not begun for ever, also
// where it has saved something. One that was handed on in order is.
func TestPoison(t *testing.T) {
	for _, c := range []struct {
		saved   string
		yielded bool
		status  Status
		starts  int
	}{{"", false, Failed, 0}, {"attempt", false, Failed, 0}, {"attempt", true, Finished, 1}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				w.file(job("a", "@every 10h"))
				tick := NewTick("a", time.Now())
				for i := range 10 { // as often as one is begun
					token := fmt.Sprint(i)
					must.Get(w.Claim(t.Context(), tick, Holder{"dying", token}, time.Minute))(t)
					if c.saved != "" {
						must.Do(t, w.Save(t.Context(), tick, token, []byte(c.saved)))
					}
					if c.yielded {
						must.Do(t, w.Yield(t.Context(), tick, token, time.Time{}, ""))
					}
					time.Sleep(time.Minute)
				}
				stop := w.instance("a", w)
				time.Sleep(time.Minute)
				stop()
				if got := w.ended("a", c.status); len(got) != 1 || w.runner.starts["a"] != c.starts {
					t.Errorf("%s %v after %d starts", c.status, got, w.runner.starts["a"])
				}
			})
		})
	}
}

// TestPanic: a fault of a run ends the run.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.file(job("a", "@hourly"))
		w.runner.do = func(context.Context, Work) Ending { panic("secret value") }
		stop := w.instance("a", w)
		time.Sleep(150 * time.Minute)
		stop()
		if got := w.ended("a", Failed); len(got) != 2 {
			t.Errorf("failed %v", got)
		}
		if s := w.state("a"); strings.Contains(s.Message, "secret") {
			t.Errorf("the store shows %q", s.Message)
		}
	})
}

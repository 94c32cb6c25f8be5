// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Runner does the work of a tick.
type Runner interface {
	// Check says what is wrong with the settings of a job, before it is ever due.
	Check(d Definition) error
	// Run does or resumes the work of a tick. Its context, and that of GiveUp, carry the
	// [Fence] of the tick.
	Run(ctx context.Context, w Work) Ending
	// GiveUp undoes what a run left that will not be completed. What it spent stays
	// spent.
	GiveUp(ctx context.Context, w Work) error
}

// Work is a tick to run.
type Work struct {
	Tick
	Definition Definition // of its job; without meaning where Saved is there
	ReleaseID  string     // of the release and of the run
	Saved      []byte     // what an earlier attempt kept; nil: there was none that had come so far
	// Save keeps what another instance needs to go on. It is durable when it returns, and
	// fails with [ErrLost] where another instance has taken the tick over.
	Save func(ctx context.Context, saved []byte) error
}

// Ending is how an attempt at a tick ended.
type Ending struct {
	Outcome
	Retry bool   // it may do better next time
	Spent bool   // budget is or may be spent: only an attempt that goes on from Saved can end the tick
	Hint  string // what to do, where the message does not say it; the records tell it after the message
	Run   *Run   // for the history; nil: nothing to tell

	Result any // what the runner made, for [Options.Ended]
}

// ErrInvalid: a job cannot run as it is; the message says why.
var ErrInvalid = errors.New("jobs: the job cannot run as it is")

// ErrPausedInSettings: a job of the settings file is paused there, and is resumed there.
var ErrPausedInSettings = fmt.Errorf("%w: its settings say that it is paused", ErrInvalid)

// Why a run's context ended, as [context.Cause] returns it.
var (
	ErrCanceled = errors.New("jobs: somebody asked for its end")
	ErrStopped  = errors.New("jobs: this instance is shutting down")
	ErrTimeout  = errors.New("jobs: it took longer than its timeout")
)

// Options of an [Engine]. Zero durations and numbers are the defaults.
type Options struct {
	Store    Store
	Runner   Runner
	Settings []map[string]any // jobs of the settings file, by key
	Instance string           // for people
	Lease    time.Duration    // of a claim; a minute
	Poll     time.Duration    // how often jobs are read; ten seconds
	Drain    time.Duration    // what runs may take after the end of the context; twenty seconds
	Parallel int              // runs at once, of different jobs; 1
	Log      *slog.Logger     // nil: none

	// Cautions says, by the name of the job, what will refuse the first run of each of these
	// jobs as the store stands. It spends nothing. nil: nothing is looked for.
	Cautions func(ctx context.Context, waiting []Definition) map[string]Caution

	// Began is told of every tick that this instance begins or goes on with, before it
	// does, and Ended of every tick that it ended. nil: nobody is told.
	Began func(ctx context.Context, d Definition, t Tick)
	Ended func(d Definition, t Tick, e Ending, took time.Duration)
}

// Engine runs the jobs of a store.
type Engine struct {
	Options
	slots chan struct{}
	wake  chan struct{}

	mu     sync.Mutex
	busy   map[string]bool // names of jobs that this instance is at
	polled error           // of the last look at the store
	last   time.Time       // when it succeeded, by the store; zero: never
	seen   []Job           // what it found then
	seenAt time.Time       // by this machine
	life   context.Context // of Run
	work   sync.WaitGroup

	// By the name of a job, of Run alone.
	kept map[string]time.Time // the tick that was due while every slot was taken
	told map[string]time.Time // the latest missed time that was logged
}

// New returns an engine that does nothing before [Engine.Run] or [Engine.RunNow].
func New(o Options) *Engine {
	if o.Lease <= 0 {
		o.Lease = time.Minute
	}
	if o.Poll <= 0 {
		o.Poll = 10 * time.Second
	}
	if o.Drain <= 0 {
		o.Drain = 20 * time.Second
	}
	if o.Parallel <= 0 {
		o.Parallel = 1
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Cautions == nil {
		o.Cautions = func(context.Context, []Definition) map[string]Caution { return nil }
	}
	if o.Began == nil {
		o.Began = func(context.Context, Definition, Tick) {}
	}
	if o.Ended == nil {
		o.Ended = func(Definition, Tick, Ending, time.Duration) {}
	}
	return &Engine{
		Options: o, slots: make(chan struct{}, o.Parallel), wake: make(chan struct{}, 1), busy: make(map[string]bool),
		kept: make(map[string]time.Time), told: make(map[string]time.Time),
	}
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

// Ready returns nil where the last look at the store succeeded.
func (e *Engine) Ready() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.polled == nil && e.last.IsZero() {
		return errors.New("jobs: the store was not read yet")
	}
	return e.polled
}

// Last returns the jobs as the last look at the store that succeeded found them, the store's time then, zero where there was none,
// and how long ago that was. It reads nothing.
func (e *Engine) Last() (all []Job, at time.Time, age time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.seen), e.last, time.Since(e.seenAt)
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

// Wake makes the engine look at the store now.
func (e *Engine) Wake() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// begin claims a tick and starts it, if this instance has a free slot.
func (e *Engine) begin(ctx context.Context, d Definition, t Tick) bool {
	if ctx.Err() != nil || !e.acquireSlot(t.JobName) {
		return false
	}
	c, err := e.claim(ctx, t)
	if err != nil {
		e.freeSlot(t.JobName)
		return false
	}
	e.work.Go(func() {
		defer e.Wake()
		defer e.freeSlot(t.JobName)
		e.hold(ctx, d, c)
	})
	return true
}

// claim takes a tick under a new token. Somebody else's claim is no failure.
func (e *Engine) claim(ctx context.Context, t Tick) (Claim, error) {
	c, err := e.Store.Claim(ctx, t, Holder{Instance: e.Instance, Token: rand.Text()}, e.Lease)
	switch {
	case err == nil && c.Attempts > 1:
		e.Log.Info("a tick is taken over", "job", t.JobName, "tick", t.NominalTime, "attempt", c.Attempts)
	case err == nil:
		e.Log.Info("a tick is claimed", "job", t.JobName, "tick", t.NominalTime)
	case errors.Is(err, ErrHeld), errors.Is(err, ErrPast), errors.Is(err, ErrUnfinished):
		e.Log.Debug("a tick is not ours", "job", t.JobName, "tick", t.NominalTime, "reason", err)
	case ctx.Err() == nil:
		e.Log.Warn("a tick cannot be claimed", "job", t.JobName, "tick", t.NominalTime, "error", err)
	}
	return c, err
}

// acquireSlot takes one of the Parallel slots for a job that has none.
func (e *Engine) acquireSlot(name string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.busy[name] {
		return false
	}
	select {
	case e.slots <- struct{}{}:
	default:
		return false
	}
	e.busy[name] = true
	return true
}

func (e *Engine) freeSlot(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.busy, name)
	<-e.slots
}

// RunNow runs a job at once, also one that is paused, or takes its unfinished tick over,
// and returns how it ended. [ErrNoJob]: there is none of this name; [ErrHeld]: it is
// running, or must not be tried again yet.
func (e *Engine) RunNow(ctx context.Context, name string) (Claim, Ending, error) {
	d, c, err := e.start(ctx, name)
	if err != nil {
		return c, Ending{}, err
	}
	defer e.freeSlot(name)
	return c, e.hold(ctx, d, c), nil
}

// Trigger starts a job at once, as RunNow, and does not wait for its end: the run lasts
// as long as [Engine.Run] does. [ErrStopped] where that has not begun or has ended.
func (e *Engine) Trigger(ctx context.Context, name string) (Claim, error) {
	e.mu.Lock()
	life := e.life
	e.mu.Unlock()
	if life == nil || life.Err() != nil {
		return Claim{}, ErrStopped
	}
	d, c, err := e.start(ctx, name)
	if err != nil {
		return c, err
	}
	e.work.Go(func() {
		defer e.Wake()
		defer e.freeSlot(name)
		e.hold(life, d, c)
	})
	return c, nil
}

// start claims the open tick of a job, or a tick whose nominal time is now.
func (e *Engine) start(ctx context.Context, name string) (Definition, Claim, error) {
	view, err := e.look(ctx)
	if err != nil {
		return Definition{}, Claim{}, err
	}
	j, err := view.find(name)
	if err != nil {
		return Definition{}, Claim{}, err
	}
	if j.Problem != nil {
		return Definition{}, Claim{}, fmt.Errorf("%w: %s: %w", ErrInvalid, name, j.Problem)
	}
	if !e.acquireSlot(name) {
		return Definition{}, Claim{}, ErrHeld
	}
	t := NewTick(name, view.now)
	if j.Last.Open() {
		t = j.Last.Tick
	}
	c, err := e.claim(ctx, t)
	if err != nil {
		e.freeSlot(name)
	}
	return j.Definition, c, err
}

// Pause pauses a job, or lets it go on, also one whose last time is ahead of the clock:
// what it missed meanwhile stays missed. [ErrNoJob]; [ErrPausedInSettings].
func (e *Engine) Pause(ctx context.Context, name string, paused bool) error {
	view, err := e.look(ctx)
	if err != nil {
		return err
	}
	j, err := view.find(name)
	if err != nil {
		return err
	}
	if j.pausedInSettings && !paused {
		return fmt.Errorf("%w: %s", ErrPausedInSettings, name)
	}
	defer e.Wake()
	if !paused && j.ahead(view.now) {
		// It is shown as invalid first: so it is scheduled from now on.
		if err := errors.Join(e.Store.SetState(ctx, j.Target, j.state(view.now)), e.Store.Rewind(ctx, name)); err != nil {
			return err
		}
	}
	return e.Store.SetPaused(ctx, j.Target, paused)
}

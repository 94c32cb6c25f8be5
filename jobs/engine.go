// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// ErrInvalid: a job cannot run as it is; the message says why.
var ErrInvalid = errors.New("jobs: the job cannot run as it is")

// Options of an [Engine]. Zero durations and numbers are the defaults.
type Options struct {
	Store    Store
	Runner   Runner
	Settings []map[string]any // jobs of the settings file, by key
	Instance string           // for people
	Lease    time.Duration    // of a claim; a minute
	Poll     time.Duration    // how often jobs are read; ten seconds
	Drain    time.Duration    // what runs may take after the end of the context; twenty seconds
	Log      *slog.Logger     // nil: none
}

// Engine runs the jobs of a store.
type Engine struct {
	Options
	slot chan struct{} // holds one while this instance is at a job
	wake chan struct{}

	roster []Job // as the settings file has them

	mu     sync.Mutex
	polled error           // of the last look at the store
	last   time.Time       // when it succeeded, by the store; zero: never
	life   context.Context // of Run
	work   sync.WaitGroup

	// By the name of a job, of Run alone.
	kept         map[string]time.Time // the tick that was due while another ran
	loggedMissed map[string]time.Time // the latest missed time that was logged
	logged       map[string]string    // what was logged to be wrong with it
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
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Engine{
		Options: o, slot: make(chan struct{}, 1), wake: make(chan struct{}, 1),
		kept: make(map[string]time.Time), loggedMissed: make(map[string]time.Time), logged: make(map[string]string),
		roster: readJobs(o.Settings, o.Runner.Check),
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

// Wake makes the engine look at the store now.
func (e *Engine) Wake() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
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

// acquireSlot takes the right to run a job, unless this instance is at one.
func (e *Engine) acquireSlot() bool {
	select {
	case e.slot <- struct{}{}:
		return true
	default:
		return false
	}
}

func (e *Engine) freeSlot() { <-e.slot }

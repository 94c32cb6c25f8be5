// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"context"
	"fmt"
)

// RunNow runs a job at once, also one that is paused, or takes its unfinished tick over,
// and returns how it ended. [ErrNoJob]: there is none of this name; [ErrHeld]: it is
// running, or must not be tried again yet.
func (e *Engine) RunNow(ctx context.Context, name string) (Claim, Ending, error) {
	d, c, err := e.start(ctx, name)
	if err != nil {
		return c, Ending{}, err
	}
	defer e.freeSlot()
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
		defer e.freeSlot()
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
	if !e.acquireSlot() {
		return Definition{}, Claim{}, ErrHeld
	}
	t := NewTick(name, view.now)
	if j.Last.Open() {
		t = j.Last.Tick
	}
	c, err := e.claim(ctx, t)
	if err != nil {
		e.freeSlot()
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
	if !paused && j.ahead() {
		if err := e.Store.Rewind(ctx, name); err != nil {
			return err
		}
	}
	return e.Store.SetPaused(ctx, name, paused)
}

// ErrPausedInSettings: a job of the settings file is paused there, and is resumed there.
var ErrPausedInSettings = fmt.Errorf("%w: its settings say that it is paused", ErrInvalid)

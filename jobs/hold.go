// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"
)

// settleTime bounds how long an instance tries to record how a tick ended.
const settleTime = 30 * time.Second

// maxAttempts is how often a tick is begun that never comes to an end of its own, nor is
// handed on in order: it may take its process down.
const maxAttempts = 10

// exitTransient is the exit code of what may pass, as of the command.
const exitTransient = 8

// exitTerminated is the exit code after SIGTERM.
const exitTerminated = 143

// holding is a tick that this instance has claimed.
type holding struct {
	e     *Engine
	d     Definition
	claim Claim
	ctx   context.Context // of the run
	stop  context.CancelCauseFunc
	over  <-chan struct{} // closed when the instance should end

	mu    sync.Mutex
	saved []byte
}

// hold runs a claimed tick to its end, or as far as this instance may, and records
// it. Parent's end is the instance's: the run then has Drain to finish.
func (e *Engine) hold(parent context.Context, d Definition, c Claim) Ending {
	ctx, stop := context.WithCancelCause(context.WithoutCancel(parent))
	h := &holding{e: e, d: d, claim: c, ctx: ctx, stop: stop, over: parent.Done(), saved: c.Saved}
	defer stop(nil)
	var beside sync.WaitGroup
	ended := make(chan struct{})
	beside.Go(func() { h.keepLease(ended) })
	beside.Go(func() { h.drain(ended) })
	start := time.Now()
	end := h.attempts()
	close(ended)
	beside.Wait()
	took := time.Since(start)
	h.settle(end, took)
	return end
}

// keepLease renews the lease, and ends the run where it was lost or somebody asks for
// its end. A lease that could not be renewed for its whole length counts as lost: the
// store alone knows, and refuses what is done under a token that is not the claim's.
func (h *holding) keepLease(ended <-chan struct{}) {
	every := time.NewTicker(h.e.Lease / 3)
	defer every.Stop()
	renewed := time.Now()
	for {
		select {
		case <-ended:
			return
		case <-h.ctx.Done():
			return
		case <-every.C:
		}
		asked := time.Now()
		ctx, cancel := context.WithTimeout(h.ctx, h.e.Lease/3)
		c, err := h.e.Store.Renew(ctx, h.claim.Tick, h.claim.Token, h.e.Lease)
		cancel()
		switch {
		case err == nil && c.CancelRequested:
			h.stop(ErrCanceled)
			return
		case err == nil:
			renewed = asked
		case errors.Is(err, ErrLost), time.Since(renewed) >= h.e.Lease:
			h.stop(ErrLost)
			return
		}
	}
}

// drain ends the run Drain after the instance should end.
func (h *holding) drain(ended <-chan struct{}) {
	select {
	case <-ended:
		return
	case <-h.over:
	}
	timer := time.NewTimer(h.e.Drain)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		h.stop(ErrStopped)
	}
}

// attempts runs the tick, again after errors that may pass, and returns how the last
// attempt ended.
func (h *holding) attempts() Ending {
	if end, ok := h.notBegun(); ok {
		return end
	}
	for n := 1; ; n++ {
		end := h.attempt()
		if !end.Retry || n > h.d.MaxRetries || h.ctx.Err() != nil {
			return end
		}
		pause := h.d.backoff(n, rand.Float64())
		h.e.Log.Warn("a run failed and is tried again", "job", h.d.Name, "tick", h.claim.NominalTime, "retry", n, "pause", pause,
			"reason", end.Message)
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-h.ctx.Done():
		case <-h.over: // another instance may try sooner
		}
		timer.Stop()
		if h.ctx.Err() != nil || closed(h.over) {
			return end
		}
	}
}

// notBegun ends a tick that should not be begun, or gone on with.
func (h *holding) notBegun() (Ending, bool) {
	saved := len(h.saved) > 0
	switch {
	case h.claim.CancelRequested:
		h.stop(ErrCanceled)
		return Ending{Spent: saved}, true
	case h.claim.Attempts > maxAttempts:
		message := fmt.Sprintf("it was begun %d times and never came to an end", h.claim.Attempts-1)
		if !saved {
			message += "; nothing was spent"
		}
		return Ending{Outcome: Outcome{Status: Failed, RunID: h.claim.ReleaseID(), ExitCode: 1, Message: message}, Spent: saved}, true
	case !saved && h.d.ScheduleText == "":
		return Ending{Outcome: Outcome{Status: Canceled, Message: "the job is gone or cannot run as it is; nothing was spent"}}, true
	}
	return Ending{}, false
}

// attempt runs the tick once, within its timeout.
func (h *holding) attempt() (end Ending) {
	ctx, cancel := h.ctx, context.CancelFunc(func() {})
	if h.d.Timeout > 0 {
		ctx, cancel = context.WithTimeoutCause(ctx, h.d.Timeout, ErrTimeout)
	}
	defer cancel()
	defer func() {
		if fault := recover(); fault != nil {
			h.e.Log.Error("a run failed inside", "job", h.d.Name, "fault", fault, "stack", string(debug.Stack()))
			end = Ending{
				Outcome: Outcome{Status: Failed, ExitCode: 1, Message: "internal error: the log has more"},
				Spent:   len(h.kept()) > 0,
			}
		}
	}()
	end = h.e.Runner.Run(h.fence(false).Within(ctx), h.workload())
	if end.Retry && !end.Spent && h.ctx.Err() == nil && errors.Is(context.Cause(ctx), ErrTimeout) {
		end.Retry = false
		end.Outcome = Outcome{
			Status: Failed, RunID: end.RunID, ExitCode: exitTransient,
			Message: fmt.Sprintf("it took longer than its timeout of %v; nothing was spent", h.d.Timeout),
		}
	}
	return end
}

// fence is the right to write for the tick, also for one whose end was asked for while
// what it left is taken back.
func (h *holding) fence(givingUp bool) Fence {
	return Fence{Tick: h.claim.Tick, Token: h.claim.Token, GivingUp: givingUp}
}

func (h *holding) workload() Work {
	return Work{Tick: h.claim.Tick, Definition: h.d, ReleaseID: h.claim.ReleaseID(), Saved: h.kept(), Save: h.save}
}

func (h *holding) kept() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.saved
}

// save keeps a run in the claim, under the token that fences it.
func (h *holding) save(ctx context.Context, saved []byte) error {
	if err := h.e.Store.Save(ctx, h.claim.Tick, h.claim.Token, saved); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.saved = saved
	return nil
}

// settle records how the tick ended: it ends, or is left to another attempt.
func (h *holding) settle(end Ending, took time.Duration) {
	cause := context.Cause(h.ctx)
	if errors.Is(cause, ErrLost) {
		h.lost()
		return
	}
	// The history is written under no token, so it is done within a lease that runs.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(h.ctx), min(settleTime, h.e.Lease))
	defer cancel()
	c, err := h.e.Store.Renew(ctx, h.claim.Tick, h.claim.Token, h.e.Lease)
	switch {
	case errors.Is(err, ErrLost):
		h.lost() // the run is another's to end by now
		return
	case err != nil: // or may be: a caller that cannot ask takes nothing back
		h.e.Log.Warn("the end of a tick could not be recorded; its lease runs out", "job", h.d.Name, "tick",
			h.claim.NominalTime, "error", err)
		return
	case c.CancelRequested: // the store has refused to spend or to write for it, or will
		h.stop(ErrCanceled)
		cause = context.Cause(h.ctx)
	}
	if end.Retry && !errors.Is(cause, ErrCanceled) && (end.Spent || h.ctx.Err() != nil || closed(h.over)) {
		h.yield(ctx, end, took)
		return
	}
	h.finish(ctx, end, took)
}

func (h *holding) lost() {
	h.e.Log.Warn("the claim of a tick was lost; another instance goes on with it", "job", h.d.Name, "tick", h.claim.NominalTime)
}

// yield leaves the tick open: at once where this instance is shutting down, after a
// pause where it was paid for and cannot go on now.
func (h *holding) yield(ctx context.Context, end Ending, took time.Duration) {
	var at time.Time
	if h.ctx.Err() == nil && !closed(h.over) {
		if now, err := h.e.Store.Now(ctx); err == nil {
			at = now.Add(h.d.backoff(h.d.MaxRetries+1, rand.Float64()))
		}
	}
	message := end.record()
	h.put(ctx, end, Running, message, took)
	if err := h.e.Store.Yield(ctx, h.claim.Tick, h.claim.Token, at, message); err != nil {
		h.e.Log.Warn("a tick could not be handed on; its lease runs out", "job", h.d.Name, "tick", h.claim.NominalTime, "error", err)
		return
	}
	h.e.Log.Info("a tick is left to another attempt", "job", h.d.Name, "tick", h.claim.NominalTime, "reason", message)
}

// finish ends the tick. A run that was begun and will not be completed is given up
// first.
func (h *holding) finish(ctx context.Context, end Ending, took time.Duration) {
	if errors.Is(context.Cause(h.ctx), ErrCanceled) && end.Status != Finished {
		end.Outcome = Outcome{Status: Canceled, RunID: end.RunID, ExitCode: exitTerminated, Message: "somebody asked for its end"}
	}
	if end.Status != Finished && len(h.kept()) > 0 {
		if err := h.e.Runner.GiveUp(h.fence(true).Within(ctx), h.workload()); err != nil {
			end.Message += fmt.Sprintf("; what it left could not be taken back: %v", err)
		} else if end.Spent {
			end.Message += "; it was given up, and what it spent stays spent"
		}
	}
	end.Message = end.record()
	if id := h.put(ctx, end, end.Status, end.Message, took); id != "" {
		end.RunID = id
	}
	if err := h.e.Store.Finish(ctx, h.claim.Tick, h.claim.Token, end.Outcome); err != nil {
		h.e.Log.Warn("the end of a tick could not be recorded", "job", h.d.Name, "tick", h.claim.NominalTime, "error", err)
		return
	}
	h.e.Log.Log(ctx, severity(end.Status), "a tick has ended", "job", h.d.Name, "tick", h.claim.NominalTime, "status", end.Status, "runId",
		end.RunID, "reason", end.Message)
}

// severity is the level at which the end of a tick is logged: a log of what needs
// somebody has every end that is no answer.
func severity(s Status) slog.Level {
	switch s {
	case Failed, OverBudget:
		return slog.LevelError
	case WaitingForBudget:
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// put adds the run to the history, and returns the id of its entry; "" where there is none.
func (h *holding) put(ctx context.Context, end Ending, status Status, message string, took time.Duration) string {
	if end.Run == nil {
		return ""
	}
	r := *end.Run
	now, err := h.e.Store.Now(ctx)
	if err != nil {
		h.e.Log.Warn("a run could not be added to the history", "job", h.d.Name, "runId", r.RunID, "error", err)
		return ""
	}
	r.JobName, r.NominalTime, r.Status, r.ExitCode, r.Message = h.d.Name, h.claim.NominalTime, status, end.ExitCode, message
	r = h.joined(ctx, r.Dated(now, took))
	if err := h.e.Store.PutRun(ctx, r); err != nil {
		h.e.Log.Warn("a run could not be added to the history", "job", h.d.Name, "runId", r.RunID, "error", err)
	}
	return r.RunID
}

// joined makes a refusal that spent nothing the entry of the one before it, where that was the
// same: a job that waits for budget is tried at every tick, and its wait is one entry.
func (h *holding) joined(ctx context.Context, r Run) Run {
	if r.Spent || r.Status != WaitingForBudget && r.Status != OverBudget {
		return r
	}
	last, err := h.e.Store.ListRuns(ctx, RunQuery{JobName: h.d.Name, Limit: 1})
	if err == nil && len(last) > 0 && last[0].Status == r.Status && !last[0].Spent {
		r.RunID, r.ReleaseID, r.StartedAt = last[0].RunID, last[0].ReleaseID, last[0].StartedAt
	}
	return r
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

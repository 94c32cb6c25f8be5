// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"context"
	"errors"
	"strings"
)

// Why a run's context ended, as [context.Cause] returns it.
var (
	ErrCanceled = errors.New("jobs: somebody asked for its end")
	ErrStopped  = errors.New("jobs: this instance is shutting down")
	ErrTimeout  = errors.New("jobs: it took longer than its timeout")
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
	Hint  string // what to do, where the message does not say it; the records have it after the message
	Run   *Run   // for the history; nil: none
}

// record is the message of the records: what happened, then what to do.
func (e Ending) record() string {
	if e.Hint == "" {
		return oneLine(e.Message)
	}
	return oneLine(e.Message + "; " + e.Hint)
}

// maxMessage bounds a message that is kept in the store, in runes.
const maxMessage = 500

// oneLine makes one line of a message, no longer than maxMessage.
func oneLine(text string) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	if r := []rune(text); len(r) > maxMessage {
		text = string(r[:maxMessage]) + "…"
	}
	return text
}

// SPDX-License-Identifier: Apache-2.0

package run

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
)

// Job is a whole run: plan, release, recover and write back.
type Job struct {
	plan.Settings
	Plan    plan.Options
	Signal  plan.Signal
	Asking  plan.Asking // of [plan.Signal].AnswerProperty, in place of Plan
	Recover analyst.Options
	Write   WriteOptions
	Ledger  privacy.Ledger // where the budget is spent; nil: the source's own
	// RequireCap refuses to spend from a scope without a cap, with [ErrNoCap].
	RequireCap bool

	Noise   privacy.Noise // nil: the operating system's
	RunID   string        // "": a new one
	Attempt string        // token of its payment: who repeats it, with the same plan, is not charged again; "": a new one
	Version string        // of the program, for the record

	// Planned is called with the plan before anything is made of the signal, unless nil. Its
	// error ends the run.
	Planned func(*plan.Plan) error
	// PlannedWhisper is Planned for a whisper.
	PlannedWhisper func(*plan.Whisper) error
	// AskFirst asks the ledger before anything is kept or reserved: a refusal leaves no trace.
	AskFirst bool
	// DryRun stops the run where it would begin to write and spend.
	DryRun bool
	// Keep stores the run durably: with its attempt before anything is reserved or spent, and with its release
	// in the attempt's place once that is drawn. An error of the first ends the run at no cost. [Held.Keep] and
	// [Kept.Pack] serve; nil: an interrupted run cannot be resumed.
	Keep func(*Kept) error
	// Identity says what is asked for, and Caller what the caller needs to ask for it again: both are kept with the run.
	Identity string
	Caller   json.RawMessage
	// Configuration is copied into the report.
	Configuration map[string]any
}

// NewRunID returns an id that sorts by time (UUID version 7). The time is a whole second,
// rounded up: it is published, as is the time of the payment, and between the two private
// values are read. Ids of one process keep their order within a second.
func NewRunID() (string, error) {
	id, err := uuid.NewRandom()
	if err != nil {
		return "", err
	}
	millis := binary.BigEndian.AppendUint64(nil, uint64(plan.NextSecond(time.Now()).UnixMilli()))
	copy(id[:6], millis[2:])
	binary.BigEndian.PutUint16(id[6:], 7<<12|uint16(idsMade.Add(1))&0xfff)
	return id.String(), nil
}

var idsMade atomic.Uint32

// CheckSignal refuses a job whose signal is among its public properties, with
// [plan.ErrSignalPublic]. It reads nothing; every function that takes a signal repeats it.
func (j Job) CheckSignal() error { return j.Signal.CheckPrivate(j.PublicProperties()) }

// sinkOf returns where a run is written back: to the given sink, or else to the source;
// nil where it is not.
func sinkOf(s plan.Source, w WriteOptions) (Sink, error) {
	if !w.Enabled || w.To != nil {
		return w.To, nil
	}
	if s, ok := s.(Sink); ok {
		return s, nil
	}
	return nil, fmt.Errorf("%w: %s takes no results", ErrNoSink, s.Name())
}

// begun returns the job of a run that begins: with ids, and the ledger and the sink that it uses.
func (job Job) begun(s plan.Source) (_ Job, err error) {
	if job.RunID == "" {
		if job.RunID, err = NewRunID(); err != nil {
			return job, err
		}
	}
	if job.Attempt == "" {
		job.Attempt = privacy.NewAttempt()
	}
	return job.resolved(s)
}

// resolved returns the job with the ledger and the sink that it uses: its own or those of
// the source.
func (job Job) resolved(s plan.Source) (_ Job, err error) {
	if job.Ledger, err = ledgerOf(s, job.Ledger); err != nil {
		return job, err
	}
	job.Write.To, err = sinkOf(s, job.Write)
	return job, err
}

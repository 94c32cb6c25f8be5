// SPDX-License-Identifier: Apache-2.0

package graphcloak

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

// Attempt is a release that is about to be paid for. With it on disk an interrupted
// run can go on: [Attempt.Paid] asks the ledger what became of it, [Model.Redeem]
// makes the release. It holds nothing private but what sensors made private
// themselves.
type Attempt struct {
	Scope     string   `json:"scope"`
	ReleaseID string   `json:"releaseId"`
	Token     string   `json:"attempt"`
	Signal    Signal   `json:"signal"`
	AllowZero bool     `json:"allowZero,omitempty"` // the signal's, which no file of a signal tells
	Plan      *Plan    `json:"plan"`
	Release   *Release `json:"release,omitempty"` // of sensors; nil: its noise is drawn once it is paid for
}

func (a *Attempt) charge() (privacy.Charge, error) {
	c, err := a.Plan.Charge(a.Scope, a.ReleaseID, a.Token)
	if c.Guarantee == privacy.PerSensor {
		c.NodeKey = nodeKey(a.Plan.Model.Selection)
	}
	return c, err
}

// nodeKey says what names a node, never "".
func nodeKey(s graph.Selection) string {
	if s.NodeKey == "" {
		return "the store's own id"
	}
	return "property=" + s.NodeKey
}

// Paid reports whether the attempt was paid for. It is final where the client that
// made the attempt is gone. [privacy.ErrReplay]: the release was given up.
func (a *Attempt) Paid(ctx context.Context, l privacy.Ledger) (bool, error) {
	c, err := a.charge()
	if err != nil {
		return false, err
	}
	return privacy.Paid(ctx, l, c)
}

// Spent says how much is known of a payment.
type Spent int

const (
	NotSpent Spent = iota // nothing was spent
	MaySpent              // the answer was lost
	IsSpent               // it is in the ledger
)

func (s Spent) String() string {
	return [...]string{"nothing was spent", "its budget may be spent", "its budget is spent"}[s]
}

// UnfinishedError says that a run stopped between its reservation and its end. Its
// attempt or its release is kept where the job has a journal.
type UnfinishedError struct {
	RunID string
	Spent Spent // NotSpent: only the reservation stands
	Err   error
}

func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("run %s is unfinished, %v: %v", e.RunID, e.Spent, e.Err)
}

func (e *UnfinishedError) Unwrap() error { return e.Err }

// cancelTime bounds how long a run that spent nothing tries to take its reservation back.
const cancelTime = 5 * time.Second

// pay is the part of a run that must not be done by halves: the attempt is kept, the
// run reserved, the budget spent, and only then the release drawn and kept. An error
// is an [UnfinishedError] where something of it stands.
//
// Proof: docs/proofs/ledger.md.
func (m *Model) pay(ctx context.Context, a *Attempt, outline report.Table, job Job, draw func() (*Release, error)) (*Release, error) {
	c, err := a.charge()
	if err != nil {
		return nil, err
	}
	if job.Begin != nil {
		if err := job.Begin(a); err != nil {
			return nil, fmt.Errorf("keep the attempt: %w", err)
		}
	}
	if job.Write.Enabled {
		outline = outline.With(report.Property{Name: "budgetScope", Value: a.Scope}, report.Property{Name: "releaseId", Value: a.ReleaseID},
			report.Property{Name: "version", Value: job.Version}, report.Property{Name: "startedAt", Value: time.Now().UTC().Format(time.RFC3339)})
		if err := m.store.Reserve(ctx, m.Graph, outline, job.Write.Force); err != nil {
			return nil, m.cancel(ctx, job, err)
		}
	}
	err = m.spend(ctx, c, job.RequireCap)
	if errors.Is(err, privacy.ErrUncertain) {
		return nil, &UnfinishedError{job.RunID, MaySpent, err}
	}
	if errors.Is(err, privacy.ErrReplay) && a.ReleaseID == job.RunID { // the reservation is that of the release which has this id
		return nil, err
	}
	if err != nil {
		return nil, m.cancel(ctx, job, err)
	}
	r, err := m.keep(draw, job)
	if err != nil {
		return nil, &UnfinishedError{job.RunID, IsSpent, err}
	}
	return r, nil
}

// keep draws a release that is paid for and stages it.
func (m *Model) keep(draw func() (*Release, error), job Job) (*Release, error) {
	r, err := draw()
	if err != nil {
		return nil, err
	}
	if job.Stage != nil {
		if err := job.Stage(r); err != nil {
			return nil, fmt.Errorf("stage the release: %w", err)
		}
	}
	return r, nil
}

// cancel takes back the reservation of a run that spent nothing, also after the end
// of its context, and returns the error that stopped it.
func (m *Model) cancel(ctx context.Context, job Job, why error) error {
	if !job.Write.Enabled {
		return why
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer stop()
	if err := m.store.Cancel(ctx, job.RunID); err != nil {
		return &UnfinishedError{job.RunID, NotSpent, errors.Join(why, fmt.Errorf("take back the reservation: %w", err))}
	}
	return why
}

// Redeem makes the release of an attempt that was interrupted before its release was
// kept: its noise is drawn from the signal as it is now. [ErrUnpaid]: nothing was
// spent, and the reservation is taken back. Only one process may hold an attempt.
//
// Proof: docs/proofs/ledger.md.
func (m *Model) Redeem(ctx context.Context, a *Attempt, job Job) (*Release, error) {
	if a.Release == nil {
		if err := checkKey(a.Plan, job.Noise); err != nil {
			return nil, err
		}
	}
	paid, err := a.Paid(ctx, m.store.Ledger())
	if errors.Is(err, privacy.ErrReplay) {
		return nil, err
	}
	if err != nil {
		return nil, &UnfinishedError{job.RunID, MaySpent, err}
	}
	if !paid {
		return nil, m.cancel(ctx, job, fmt.Errorf("%w %q", ErrUnpaid, a.ReleaseID))
	}
	r, err := m.keep(func() (*Release, error) { return m.redraw(ctx, a, job.Noise) }, job)
	if err != nil {
		return nil, &UnfinishedError{job.RunID, IsSpent, err}
	}
	return r, nil
}

// redraw reads the signal of a paid attempt again and draws its noise.
func (m *Model) redraw(ctx context.Context, a *Attempt, noise privacy.Noise) (*Release, error) {
	if err := m.Matches(a.Plan.Plan); err != nil || a.Release != nil {
		return a.Release, err
	}
	signal := a.Signal
	signal.AllowZero = a.AllowZero
	y, err := m.readings(ctx, a.Plan, signal)
	if err != nil {
		return nil, err
	}
	return m.draw(a, y, noise)
}

// draw adds the noise.
func (m *Model) draw(a *Attempt, y []float64, noise privacy.Noise) (*Release, error) {
	r, err := a.Plan.Perturb(y, a.ReleaseID, noise)
	if err != nil {
		return nil, err
	}
	return &Release{Release: r, Model: m.Settings, Signal: a.Signal, Allocated: a.Plan.Allocated}, nil
}

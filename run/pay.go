// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

// ErrKey says that a key is missing where noise is derived from one, or given
// where it is not.
var ErrKey = errors.New("graphcloak: a key goes with escrow randomness, and only there")

// attemptFromStore prepares a release for payment, and says how it is drawn then. What could
// stop it is checked first.
func (m *Model) attemptFromStore(p *plan.Plan, job Job, y []float64) (*Attempt, func() (*Release, error), error) {
	if err := checkKey(p.Randomness, job.Noise); err != nil {
		return nil, nil, err
	}
	if err := p.CheckReadings(y); err != nil {
		return nil, nil, err
	}
	s := job.Signal
	s.Values = nil // neither attempt nor release holds a private value
	a := &Attempt{
		ReleaseID: job.RunID, Token: job.Attempt, Signal: s, Plan: p,
	}
	return a, func() (*Release, error) { return m.draw(a, y, job.Noise) }, nil
}

func checkKey(asked privacy.Randomness, noise privacy.Noise) error {
	if _, escrow := noise.(*privacy.Escrow); escrow != (asked == privacy.EscrowRandomness) {
		return fmt.Errorf("%w: the plan asks for %s randomness", ErrKey, asked)
	}
	return nil
}

// pay is the part of a run that must not be done by halves: the attempt is kept, the
// run reserved, the budget spent, and only then the release drawn, and put into what is kept. An error
// is an [UnfinishedError] where something of it stands.
//
// Proof: docs/proofs/ledger.md.
func pay[R any](ctx context.Context, m *Model, a *Attempt, outline report.Table, job Job, draw func() (R, error), put func(*Kept, R),
	releaseOnly bool,
) (none R, err error) {
	c, err := a.charge()
	if err != nil {
		return none, err
	}
	k, err := m.keepAttempt(ctx, a, job, releaseOnly)
	if err != nil {
		return none, err
	}
	if job.Write.Enabled {
		outline = outline.With(report.Property{Name: "budgetScope", Value: c.Scope}, report.Property{Name: "releaseId", Value: a.ReleaseID},
			report.Property{Name: "version", Value: job.Version}, report.Property{Name: "startedAt", Value: m.Started.Format(time.RFC3339)})
		if err := job.Write.To.Reserve(ctx, m.Graph, outline, job.Write.Force); err != nil {
			return none, m.cancel(ctx, job, err)
		}
	}
	err = spend(ctx, job.Ledger, c, job.RequireCap)
	if errors.Is(err, privacy.ErrUncertain) {
		return none, &UnfinishedError{job.RunID, MaySpent, err}
	}
	if errors.Is(err, privacy.ErrReplay) && a.ReleaseID == job.RunID { // the reservation is that of the release which has this id
		return none, err
	}
	if err != nil {
		return none, m.cancel(ctx, job, err)
	}
	r, err := drawAndStage(ctx, draw, put, k, job)
	if err != nil {
		return none, &UnfinishedError{job.RunID, IsSpent, err}
	}
	return r, nil
}

// keepAttempt keeps what is known of the run before it costs anything.
func (m *Model) keepAttempt(ctx context.Context, a *Attempt, job Job, releaseOnly bool) (*Kept, error) {
	if job.Keep == nil {
		return nil, nil
	}
	k := &Kept{
		Store: m.Source.Name(), Identity: job.Identity, Attempt: a, ReleaseOnly: releaseOnly, Signal: a.Signal, Write: job.Write,
		Caller: job.Caller,
	}
	var err error
	if k.Ledger, err = job.Ledger.Identity(ctx); err == nil {
		err = job.Keep(k)
	}
	if err != nil {
		return nil, fmt.Errorf("keep the attempt: %w", err)
	}
	return k, nil
}

// spend pays from a ledger whose chain is whole, and from a scope that has a cap
// where that is required.
func spend(ctx context.Context, l privacy.Ledger, c privacy.Charge, capped bool) error {
	paying, err := checkCap(ctx, l, c.Scope, capped)
	if err != nil {
		return err
	}
	if _, err := privacy.VerifyLedger(ctx, l, paying.Scope); err != nil {
		return fmt.Errorf("check the ledger: %w", err)
	}
	_, err = privacy.Spend(ctx, l, c)
	return err
}

// drawAndStage draws a release that is paid for and keeps it in the place of its attempt.
func drawAndStage[R any](ctx context.Context, draw func() (R, error), put func(*Kept, R), k *Kept, job Job) (none R, err error) {
	r, err := draw()
	if err != nil || job.Keep == nil {
		return r, err
	}
	staged := *k
	staged.Attempt = nil
	put(&staged, r)
	if ledger, err := job.Ledger.Identity(ctx); err == nil { // the first spend has named it
		staged.Ledger = ledger
	}
	if err := job.Keep(&staged); err != nil {
		return none, fmt.Errorf("stage the release: %w", err)
	}
	return r, nil
}

// cancelTime bounds how long a run that spent nothing tries to take its reservation back.
const cancelTime = 5 * time.Second

// cancel takes back the reservation of a run that spent nothing, also after the end
// of its context, and returns the error that stopped it.
func (m *Model) cancel(ctx context.Context, job Job, why error) error {
	if !job.Write.Enabled {
		return why
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer stop()
	if err := job.Write.To.Cancel(ctx, job.RunID); err != nil {
		return &UnfinishedError{job.RunID, NotSpent, errors.Join(why, fmt.Errorf("take back the reservation: %w", err))}
	}
	return why
}

// Redeem makes the release of a run that was interrupted before it was kept, and puts it into k in the place of its attempt: noise is
// drawn for the signal as it is now. [ErrUnpaid]: nothing was spent, and the reservation is taken back. Only one process may hold a
// run. Other errors are those of [Model.Check], [ErrKey], [privacy.ErrReplay] where the release
// was given up or written, and an [UnfinishedError] where it stands.
//
// Proof: docs/proofs/ledger.md.
func (m *Model) Redeem(ctx context.Context, k *Kept, job Job) error {
	switch a := k.Attempt; {
	case a == nil:
		return nil
	case a.Release == nil && a.Answers == nil:
		if err := checkKey(k.Randomness(), job.Noise); err != nil {
			return err
		}
	}
	if k.Whisper() != nil {
		return redeem(ctx, m, k, job, m.redrawAnswers, putAnswers)
	}
	return redeem(ctx, m, k, job, m.redraw, putRelease)
}

func putRelease(k *Kept, r *Release) { k.Release = r }

// redeem draws what the kept attempt of k has paid for.
func redeem[R any](ctx context.Context, m *Model, k *Kept, job Job, redraw func(context.Context, *Attempt, Job) (R, error),
	put func(*Kept, R),
) error {
	job, err := job.resolved(m.Source)
	if err != nil {
		return err
	}
	paid, err := k.Paid(ctx, job.Ledger)
	if errors.Is(err, privacy.ErrReplay) {
		return err
	}
	if err != nil {
		return &UnfinishedError{job.RunID, MaySpent, err}
	}
	if !paid {
		return m.cancel(ctx, job, fmt.Errorf("%w %q", ErrUnpaid, k.Attempt.ReleaseID))
	}
	r, err := drawAndStage(ctx, func() (R, error) { return redraw(ctx, k.Attempt, job) }, put, k, job)
	if err != nil {
		return &UnfinishedError{job.RunID, IsSpent, err}
	}
	k.Attempt = nil
	put(k, r)
	return nil
}

// redraw reads the signal of a paid attempt again and draws its noise.
func (m *Model) redraw(ctx context.Context, a *Attempt, job Job) (*Release, error) {
	if err := m.Matches(a.Plan.Plan); err != nil || a.Release != nil {
		return a.Release, err
	}
	signal := a.Signal
	signal.Values = job.Signal.Values
	y, err := m.readings(ctx, a.Plan, signal)
	if err != nil {
		return nil, err
	}
	return m.draw(a, y, job.Noise)
}

// draw adds the noise.
func (m *Model) draw(a *Attempt, y []float64, noise privacy.Noise) (*Release, error) {
	r, err := a.Plan.Perturb(y, a.ReleaseID, noise)
	if err != nil {
		return nil, err
	}
	return &Release{Release: r, Model: m.Settings, Signal: a.Signal, Allocated: a.Plan.Allocated, Communities: a.Plan.Communities}, nil
}

// wholeSeconds rounds milliseconds up to whole seconds, at least one: of the time that
// was spent on private values a report says no more.
func wholeSeconds(millis int64) int64 { return max(1, (millis+999)/1000) * 1000 }

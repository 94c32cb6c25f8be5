// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graphcloak/graphcloak/privacy"
)

// ErrUnpaid says that a ledger has no payment for a release.
var ErrUnpaid = errors.New("graphcloak: the ledger has no payment for the release")

// Drawn is what a payment was for: a [Release] or an [AnswerRelease].
type Drawn interface {
	ID() string
	Digest() (privacy.Digest, error)
	scope() string
	paidBy(privacy.Entry) error
}

func (r *Release) scope() string { return Scope(r.Signal) }

func (r *Release) paidBy(e privacy.Entry) error { return privacy.VerifyEntry(r.Release, e) }

// Payment finds the entries of a ledger about a release, its payment first. It returns
// [ErrUnpaid], the [privacy.ErrMismatch] of a payment on other terms, and the errors of
// [privacy.Replay].
func Payment(ctx context.Context, l privacy.Ledger, r Drawn) ([]privacy.Entry, error) {
	entries, err := l.Entries(ctx, r.scope())
	if err != nil {
		return nil, err
	}
	about := slices.DeleteFunc(entries, func(e privacy.Entry) bool { return e.ReleaseID != r.ID() })
	if len(about) == 0 {
		return nil, fmt.Errorf("%w %q", ErrUnpaid, r.ID())
	}
	if err := r.paidBy(about[0]); err != nil {
		return nil, err
	}
	return about, nil
}

// openPayment is the payment for a release that may still be written: it returns [privacy.ErrReplay]
// where that was given up, and the errors of [Payment].
func openPayment(ctx context.Context, l privacy.Ledger, r Drawn) (privacy.Entry, error) {
	about, err := Payment(ctx, l, r)
	if err != nil {
		return privacy.Entry{}, err
	}
	if slices.ContainsFunc(about, func(e privacy.Entry) bool { return e.Kind == privacy.KindVoid }) {
		return privacy.Entry{}, fmt.Errorf("%w: %q was given up and is not written any more", privacy.ErrReplay, r.ID())
	}
	return about[0], nil
}

// markWritten closes the release's entry in the ledger.
func markWritten(ctx context.Context, r Drawn, job Job) error {
	digest, err := r.Digest()
	if err != nil {
		return err
	}
	paid, err := Payment(ctx, job.Ledger, r)
	if err != nil {
		return err
	}
	_, err = privacy.MarkWritten(ctx, job.Ledger, paid[0].Scope, r.ID(), digest)
	return err
}

// SPDX-License-Identifier: Apache-2.0

package graphcloak

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/graphcloak/graphcloak/privacy"
)

// Errors about payments.
var (
	ErrUnpaid    = errors.New("graphcloak: the ledger has no payment for the release")
	ErrAmbiguous = errors.New("graphcloak: several scopes hold a payment for the release")
)

// Payment finds the entries of a ledger about a release, its payment first: in one
// scope and those that went on in it, or, with "", in all of them. It returns
// [ErrUnpaid], [ErrAmbiguous], the [privacy.ErrMismatch] of a payment on other terms,
// and the errors of [privacy.ReplayLedger].
func Payment(ctx context.Context, l privacy.Ledger, r *Release, scope string) ([]privacy.Entry, error) {
	scopes, err := payingScopes(ctx, l, scope)
	if err != nil {
		return nil, err
	}
	var found []privacy.Entry
	var refused error
	var holders []string
	for _, s := range scopes {
		entries, err := l.Entries(ctx, s)
		if err != nil {
			return nil, err
		}
		about := slices.DeleteFunc(entries, func(e privacy.Entry) bool { return e.ReleaseID != r.ID() })
		if len(about) == 0 {
			continue
		}
		if err := privacy.VerifyEntry(r.Release, about[0]); err != nil {
			refused = err
			continue
		}
		found, holders = about, append(holders, fmt.Sprintf("%q", s))
	}
	switch {
	case len(holders) == 1:
		return found, nil
	case len(holders) > 1:
		return nil, fmt.Errorf("%w: %s", ErrAmbiguous, strings.Join(holders, ", "))
	case refused != nil:
		return nil, refused
	}
	return nil, fmt.Errorf("%w %q", ErrUnpaid, r.ID())
}

// openPayment is the payment for a release that may still be written: it returns [privacy.ErrReplay]
// where that was given up, and the errors of [Payment].
func openPayment(ctx context.Context, l privacy.Ledger, r *Release, scope string) (privacy.Entry, error) {
	about, err := Payment(ctx, l, r, scope)
	if err != nil {
		return privacy.Entry{}, err
	}
	if slices.ContainsFunc(about, func(e privacy.Entry) bool { return e.Kind == privacy.KindVoid }) {
		return privacy.Entry{}, fmt.Errorf("%w: %q was given up and is not written any more", privacy.ErrReplay, r.ID())
	}
	return about[0], nil
}

// payingScopes lists the scopes that may hold a payment.
func payingScopes(ctx context.Context, l privacy.Ledger, scope string) ([]string, error) {
	if scope == "" {
		return l.Scopes(ctx)
	}
	a, err := privacy.ReplayLedger(ctx, l, scope)
	return append([]string{scope}, a.Continues...), err
}

// markWritten closes the release's entry in the ledger.
func markWritten(ctx context.Context, r *Release, job Job) error {
	digest, err := r.Digest()
	if err != nil {
		return err
	}
	paid, err := Payment(ctx, job.Ledger, r, job.Scope)
	if err != nil {
		return err
	}
	_, err = privacy.MarkWritten(ctx, job.Ledger, paid[0].Scope, r.ID(), digest)
	return err
}

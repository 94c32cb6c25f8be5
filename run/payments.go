// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/graphcloak/graphcloak/privacy"
)

// Payments are entries of a ledger, in order.
type Payments []privacy.Entry

// PaymentsOf returns the entries of a scope; "": of all. The errors are those of the ledger.
func PaymentsOf(ctx context.Context, l privacy.Ledger, scope string) (all Payments, err error) {
	if scope != "" {
		return l.Entries(ctx, scope)
	}
	chains, err := l.All(ctx)
	for _, name := range slices.Sorted(maps.Keys(chains)) {
		all = append(all, chains[name]...)
	}
	return all, err
}

// About returns the entries about one release of the scope that paid for it first.
func (p Payments) About(releaseID string) Payments {
	k := slices.IndexFunc(p, func(e privacy.Entry) bool { return e.ReleaseID == releaseID })
	if k < 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p), func(e privacy.Entry) bool { return e.ReleaseID != releaseID || e.Scope != p[k].Scope })
}

// Find returns the first entry of a kind.
func (p Payments) Find(kind privacy.Kind) (privacy.Entry, bool) {
	for _, e := range p {
		if e.Kind == kind {
			return e, true
		}
	}
	return privacy.Entry{}, false
}

// Unfinished returns the payments after a time for releases that are neither written nor given up.
func (p Payments) Unfinished(after time.Time) (open Payments) {
	for _, e := range p {
		switch {
		case e.Kind == privacy.KindSpent && (after.IsZero() || e.Time.After(after)):
			open = append(open, e)
		case e.Kind == privacy.KindWritten || e.Kind == privacy.KindVoid:
			open = slices.DeleteFunc(open, func(o privacy.Entry) bool { return o.ReleaseID == e.ReleaseID && o.Scope == e.Scope })
		}
	}
	return open
}

// Finished returns the entry of the latest release that was written and was paid for after a time.
func (p Payments) Finished(after time.Time) (privacy.Entry, bool) {
	for _, e := range slices.Backward(p) {
		if e.Kind != privacy.KindWritten {
			continue
		}
		paid := func(o privacy.Entry) bool {
			return o.Kind == privacy.KindSpent && o.ReleaseID == e.ReleaseID && o.Scope == e.Scope
		}
		if k := slices.IndexFunc(p, paid); k >= 0 && p[k].Time.After(after) {
			return e, true
		}
	}
	return privacy.Entry{}, false
}

// Void marks a release in the ledger that was paid for and will never be written, and reports whether there is such a one: with
// this id, and of the account of a scope or of its data; "": of any. It returns the errors of [privacy.MarkVoid].
func Void(ctx context.Context, l privacy.Ledger, scope, releaseID string) (found bool, err error) {
	paid, err := PaymentsOf(ctx, l, "")
	for _, e := range paid.Unfinished(time.Time{}) {
		if e.ReleaseID == releaseID && (scope == "" || e.Scope == scope || e.Charge.Scope == scope) {
			_, err = privacy.MarkVoid(ctx, l, e.Scope, releaseID)
			return true, err
		}
	}
	return false, err
}

// ErrPaidMeanwhile says that another release of the same data was paid for since the ledger was read.
var ErrPaidMeanwhile = errors.New("graphcloak: another run of the same data was paid for meanwhile")

// Once reads the payments for the data of a scope, and returns them with a ledger that pays for no release once there is another
// payment for these data: it looks in the transaction of its own payment, which is then [ErrPaidMeanwhile].
func Once(ctx context.Context, l privacy.Ledger, scope string) (privacy.Ledger, Payments, error) {
	entries, err := l.Entries(ctx, scope)
	if err != nil {
		return nil, nil, err
	}
	account, err := privacy.Replay(scope, entries)
	return &once{l, account.Releases}, entries, err
}

type once struct {
	privacy.Ledger
	seen int64 // releases of the account
}

// Update implements [privacy.Ledger].
func (l *once) Update(ctx context.Context, scope, releaseID string, rule privacy.Rule) error {
	return l.Ledger.Update(ctx, scope, releaseID, func(a privacy.Account, prior []privacy.Entry) (*privacy.Entry, error) {
		e, err := rule(a, prior)
		if err == nil && e != nil && e.Kind == privacy.KindSpent && e.Seq > a.Entries && a.Releases != l.seen {
			return nil, ErrPaidMeanwhile
		}
		return e, err
	})
}

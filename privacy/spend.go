// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Spend pays for a release before its noise is drawn, from the account of its scope or
// the one in which that goes on. A repeated call with the
// same attempt returns the entry of the first one; another attempt with the same
// release id is [ErrReplay]; past the cap it is [ErrExhausted], past all of it alone [ErrOverBudget], and a [WaitError] where the
// cap slides and will have room. [ErrGuarantee]: the release has another guarantee than the account.
// [ErrJoin]: it has other names for its sensors. [ErrChain]: the chain does not hold. Nothing is refunded.
func Spend(ctx context.Context, l Ledger, c Charge) (Entry, error) {
	for {
		scopes, err := lineage(ctx, l, c.Scope)
		if err != nil {
			return Entry{}, err
		}
		e, err := spendFrom(ctx, l, scopes[len(scopes)-1], scopes[:len(scopes)-1], c)
		if !errors.Is(err, ErrMoved) {
			return e, err
		}
	}
}

// spendFrom pays from the open account in which closed ones go on, unless one of them paid.
func spendFrom(ctx context.Context, l Ledger, paying string, closed []string, c Charge) (Entry, error) {
	for _, name := range closed {
		entries, err := l.Entries(ctx, name)
		if err != nil {
			return Entry{}, err
		}
		prior := slices.DeleteFunc(entries, func(e Entry) bool { return e.ReleaseID != c.ReleaseID })
		if e, err := payment(prior, c); e != nil {
			return *e, nil
		} else if err != nil {
			return Entry{}, err
		}
	}
	if err := join(ctx, l, paying, closed); err != nil { // an interrupted Continue is completed
		return Entry{}, err
	}
	e, err := spend(ctx, l, paying, c, nil)
	if !errors.Is(err, errSliding) {
		return e, err
	}
	h, err := readChain(ctx, l, paying)
	if err != nil {
		return Entry{}, err
	}
	return spend(ctx, l, paying, c, h)
}

func spend(ctx context.Context, l Ledger, paying string, c Charge, h *chain) (Entry, error) {
	return update(ctx, l, paying, c.ReleaseID, func(a Account, prior []Entry) (*Entry, error) {
		if e, err := payment(prior, c); e != nil || err != nil {
			return e, err
		}
		return a.charge(c, h)
	})
}

// Paid reports whether the charge was paid, by the same attempt on the same terms.
// It waits for the holder of the accounts that can have paid, so that no transaction under way can
// still pay it; only a client that is alive can. [ErrReplay] where the release was paid for
// otherwise, where it will never be written, and where it was written: its noise was
// drawn, and a second draw would be a second release. [ErrChain]: scopes go on in a circle.
func Paid(ctx context.Context, l Ledger, c Charge) (paid bool, err error) {
	err = follow(c.Scope, func(scope string) (next string, err error) {
		err = l.Update(ctx, scope, c.ReleaseID, func(a Account, prior []Entry) (*Entry, error) {
			next, paid = a.MovedTo, find(prior, KindSpent) != nil
			if paid {
				next = ""
				_, err := payment(prior, c)
				return nil, err
			}
			return nil, nil
		})
		return next, err
	})
	return paid, err
}

// payment returns the payment for a release among its entries, if c made it and the
// release is neither written nor void; [ErrReplay] for any other payment.
func payment(prior []Entry, c Charge) (*Entry, error) {
	e := find(prior, KindSpent)
	if e == nil {
		return nil, nil
	}
	if find(prior, KindVoid) == nil && find(prior, KindWritten) == nil && e.Charge.equal(c) {
		return e, nil
	}
	return nil, fmt.Errorf("%w: %q in scope %q", ErrReplay, c.ReleaseID, c.Scope)
}

// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"context"
	"errors"
	"fmt"
)

// Spend pays for a release before its noise is drawn. A repeated call with the
// same attempt returns the entry of the first one; another attempt with the same
// release id is [ErrReplay]; past the cap it is [ErrExhausted], past all of it alone [ErrOverBudget], and a [WaitError] where the
// cap slides and will have room. [ErrGuarantee]: the release has another guarantee than the account.
// [ErrJoin]: it has other names for its sensors. [ErrChain]: the chain does not hold. Nothing is refunded.
func Spend(ctx context.Context, l Ledger, c Charge) (Entry, error) {
	e, err := spend(ctx, l, c, nil)
	if !errors.Is(err, errSliding) {
		return e, err
	}
	h, err := readChain(ctx, l, c.Scope)
	if err != nil {
		return Entry{}, err
	}
	return spend(ctx, l, c, h)
}

func spend(ctx context.Context, l Ledger, c Charge, h *chain) (Entry, error) {
	return update(ctx, l, c.Scope, c.ReleaseID, func(a Account, prior []Entry) (*Entry, error) {
		if e, err := payment(prior, c); e != nil || err != nil {
			return e, err
		}
		return a.charge(c, h)
	})
}

// Paid reports whether the charge was paid, by the same attempt on the same terms.
// It waits for the holder of the account, so that no transaction under way can
// still pay it; only a client that is alive can. [ErrReplay] where the release was paid for
// otherwise, where it will never be written, and where it was written: its noise was
// drawn, and a second draw would be a second release.
func Paid(ctx context.Context, l Ledger, c Charge) (paid bool, err error) {
	err = l.Update(ctx, c.Scope, c.ReleaseID, func(_ Account, prior []Entry) (*Entry, error) {
		e, err := payment(prior, c)
		paid = e != nil
		return nil, err
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

// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"context"
	"fmt"
	"slices"
)

// Continue moves the accounts of other scopes into scope: each of their chains ends
// with an entry that names scope, and scope gets an entry that carries the total and
// head of each. Nothing is lost, and repeated calls count nothing twice. It returns the errors of [Joined], and [ErrMoved] where scope
// itself goes on in another one.
func Continue(ctx context.Context, l Ledger, scope string, from []string) error {
	if _, err := Joined(ctx, l, scope, from); err != nil {
		return err
	}
	for _, name := range from {
		if err := moveTo(ctx, l, name, scope); err != nil {
			return err
		}
	}
	for _, name := range from {
		closed, err := ReplayLedger(ctx, l, name)
		if err != nil {
			return err
		}
		if err := addContinued(ctx, l, scope, closed); err != nil {
			return err
		}
	}
	return nil
}

// Joined returns the account of scope as [Continue] would leave it, and stores
// nothing. [ErrJoin]: their guarantees differ, or their caps where scope has none of
// its own, or one of them goes on elsewhere. Other errors are those of [ReplayLedger].
func Joined(ctx context.Context, l Ledger, scope string, from []string) (Account, error) {
	a, err := ReplayLedger(ctx, l, scope)
	if err != nil {
		return Account{}, err
	}
	capped := a.Cap != nil
	for _, name := range from {
		if slices.Contains(a.Continues, name) {
			continue
		}
		b, err := ReplayLedger(ctx, l, name)
		if err != nil {
			return Account{}, err
		}
		switch {
		case b.MovedTo != "" && b.MovedTo != scope:
			return Account{}, fmt.Errorf("%w: scope %q goes on in %q", ErrJoin, name, b.MovedTo)
		case capped:
			b.Cap = nil
		case a.Cap != nil && b.Cap != nil && *a.Cap != *b.Cap:
			return Account{}, fmt.Errorf("%w: scope %q has another cap than the others that go on in %q", ErrJoin, name, scope)
		}
		if a, err = a.absorb(b); err != nil {
			return Account{}, err
		}
	}
	return a, nil
}

// checkOpen refuses an account that goes on elsewhere.
func (a Account) checkOpen() error {
	if a.MovedTo != "" {
		return fmt.Errorf("%w: scope %q goes on as %q", ErrMoved, a.Scope, a.MovedTo)
	}
	return nil
}

// moveTo ends a scope, unless it ended in the same way before.
func moveTo(ctx context.Context, l Ledger, name, scope string) error {
	_, err := update(ctx, l, name, "", func(a Account, _ []Entry) (*Entry, error) {
		if a.MovedTo == scope {
			return &Entry{}, nil
		}
		if err := a.checkOpen(); err != nil {
			return nil, err
		}
		return a.next(Entry{Kind: KindMoved, To: scope}), nil
	})
	return err
}

// addContinued adds the account of a closed scope to that of scope, unless it is there.
func addContinued(ctx context.Context, l Ledger, scope string, closed Account) error {
	_, err := update(ctx, l, scope, "", func(a Account, _ []Entry) (*Entry, error) {
		if slices.Contains(a.Continues, closed.Scope) {
			return &Entry{}, nil
		}
		if err := a.checkOpen(); err != nil {
			return nil, err
		}
		b := closed
		if a.Cap != nil {
			b.Cap = nil
		}
		if _, err := a.absorb(b); err != nil {
			return nil, err
		}
		return a.next(Entry{Kind: KindContinues, Account: &b}), nil
	})
	return err
}

// verifyContinued checks that what went on in an account is what the entries of
// those scopes add up to.
func verifyContinued(ctx context.Context, l Ledger, a Account) error {
	if len(a.Continues) == 0 {
		return nil
	}
	entries, err := l.Entries(ctx, a.Scope)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Kind != KindContinues {
			continue
		}
		carried := *e.Account
		old, err := l.Entries(ctx, carried.Scope)
		if err != nil {
			return err
		}
		b, err := Replay(carried.Scope, old[:min(carried.Entries, int64(len(old)))])
		if err != nil {
			return err
		}
		carried.Cap = b.Cap // it may have given way to one of scope's own
		if b.MovedTo != a.Scope || !b.equal(carried) {
			return fmt.Errorf("%w: scope %q, entry %d is not what scope %q adds up to", ErrChain, a.Scope, e.Seq, carried.Scope)
		}
	}
	return nil
}

// PaidBefore looks for the payment of a release in the scopes that went on in its
// own. Like [Spend], it returns the entry where the same attempt paid, and
// [ErrReplay] where another one did; nil where none did.
func PaidBefore(ctx context.Context, l Ledger, a Account, c Charge) (*Entry, error) {
	for _, name := range a.Continues {
		entries, err := l.Entries(ctx, name)
		if err != nil {
			return nil, err
		}
		prior := slices.DeleteFunc(entries, func(e Entry) bool { return e.ReleaseID != c.ReleaseID })
		c.Scope = name
		if e, err := payment(prior, c); e != nil || err != nil {
			return e, err
		}
	}
	return nil, nil
}

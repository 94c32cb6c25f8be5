// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Ledger stores accounts and their entries, and nothing else: what may be written
// is decided by the rules of this package. A store implements the transaction.
type Ledger interface {
	// Update locks the account of scope first, in a step of its own; then loads it
	// (a new scope has the account NewAccount(scope)) with the entries that carry
	// releaseID; calls rule; and, where rule returns an entry, stores entry and
	// account.Append(entry) durably before it returns. An error of rule is returned
	// as it is, and nothing is stored. rule is pure and may be called again when the
	// store repeats a transaction, also after one that was stored and whose answer was
	// lost: it finds its own entry then. ErrUncertain where nobody knows whether the
	// entry was stored; any other error says that it was not.
	Update(ctx context.Context, scope, releaseID string, rule Rule) error
	// Entries returns the entries of scope in order of Seq; none for a new scope.
	Entries(ctx context.Context, scope string) ([]Entry, error)
	// Scopes returns the scopes that have entries, ascending.
	Scopes(ctx context.Context) ([]string, error)
	// Identity returns what others may know the ledger by, however it is reached.
	Identity(ctx context.Context) (Identity, error)
	// Now returns the time by the clock of what holds the ledger, which is one for all
	// who spend from it. It orders nothing: it says what counts against a sliding cap.
	Now(ctx context.Context) (time.Time, error)
}

// Identity names a ledger in two ways that do not depend on its address.
type Identity struct {
	Ledger string `json:"ledger,omitempty"` // drawn with its first entry, and goes where the entries go; "" before
	Place  string `json:"place,omitempty"`  // of what holds it: there before the first entry, and when all are lost; "": unknown
}

// Same reports whether both name one ledger, or a copy of it.
func (i Identity) Same(j Identity) bool {
	return i.Ledger != "" && i.Ledger == j.Ledger || i.Place != "" && i.Place == j.Place
}

// Names returns the names that there are.
func (i Identity) Names() []string {
	return slices.DeleteFunc([]string{i.Ledger, i.Place}, func(name string) bool { return name == "" })
}

// Rule returns the entry to append, or nil for none.
type Rule func(account Account, prior []Entry) (*Entry, error)

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

// SetCap limits what the releases of a scope may spend together, however old. It returns
// [ErrMoved] for a scope that goes on under another name.
func SetCap(ctx context.Context, l Ledger, scope string, limit Budget) (Entry, error) {
	return SetSlidingCap(ctx, l, scope, Cap{Budget: limit})
}

// SetSlidingCap limits what the releases of a scope may spend together in any time as
// long as the window of the cap. What was spent before the cap was set counts from when
// it was spent; releases of a version that kept no times count from now on. It returns
// [ErrMoved] for a scope that goes on under another name.
func SetSlidingCap(ctx context.Context, l Ledger, scope string, limit Cap) (Entry, error) {
	return update(ctx, l, scope, "", func(a Account, _ []Entry) (*Entry, error) {
		if err := limit.Validate(); err != nil {
			return nil, err
		}
		if err := a.checkOpen(); err != nil {
			return nil, err
		}
		return a.next(Entry{Kind: KindCap, Cap: &limit}), nil
	})
}

// MarkWritten records that a paid release was written, with the digest of its
// values. Doing it twice with the same digest is no error; [ErrReplay] with another one,
// or where the release was given up.
func MarkWritten(ctx context.Context, l Ledger, scope, releaseID string, values Digest) (Entry, error) {
	return mark(ctx, l, scope, releaseID, KindWritten, &values)
}

// MarkVoid records that a paid release will never be written; [ErrReplay] where it was.
func MarkVoid(ctx context.Context, l Ledger, scope, releaseID string) (Entry, error) {
	return mark(ctx, l, scope, releaseID, KindVoid, nil)
}

// MarkRevealed records that the noise of a release was removed. The errors are those of
// [MarkWritten].
func MarkRevealed(ctx context.Context, l Ledger, scope, releaseID string, values Digest) (Entry, error) {
	return mark(ctx, l, scope, releaseID, KindRevealed, &values)
}

// ReadAccount returns the account of a scope without changing it.
func ReadAccount(ctx context.Context, l Ledger, scope string) (Account, error) {
	var account Account
	err := l.Update(ctx, scope, "", func(a Account, _ []Entry) (*Entry, error) {
		account = a
		return nil, nil
	})
	return account, err
}

// ReplayLedger returns what the entries of a scope add up to, without a lock. It returns
// the errors of [Replay].
func ReplayLedger(ctx context.Context, l Ledger, scope string) (Account, error) {
	entries, err := l.Entries(ctx, scope)
	if err != nil {
		return Account{}, err
	}
	return Replay(scope, entries)
}

// VerifyLedger replays the chain of a scope and compares it with the account that
// the store holds, and so those of the scopes that went on in it. It returns [ErrChain]
// where they disagree, and the errors of [Replay]. Entries that others append meanwhile
// are read again.
func VerifyLedger(ctx context.Context, l Ledger, scope string) (Account, error) {
	a, err := verifyChain(ctx, l, scope)
	if err != nil {
		return Account{}, err
	}
	return a, verifyContinued(ctx, l, a)
}

func verifyChain(ctx context.Context, l Ledger, scope string) (Account, error) {
	for {
		entries, err := l.Entries(ctx, scope)
		if err != nil {
			return Account{}, err
		}
		want, err := Replay(scope, entries)
		if err != nil {
			return Account{}, err
		}
		got, err := ReadAccount(ctx, l, scope)
		if err != nil {
			return Account{}, err
		}
		if got.equal(want) {
			return want, nil
		}
		again, err := l.Entries(ctx, scope)
		if err != nil {
			return Account{}, err
		}
		if len(again) <= len(entries) {
			return Account{}, fmt.Errorf("%w: scope %q: the stored account is not what its entries add up to", ErrChain, scope)
		}
	}
}

// mark appends an entry about a release that was paid for.
func mark(ctx context.Context, l Ledger, scope, releaseID string, kind Kind, values *Digest) (Entry, error) {
	return update(ctx, l, scope, releaseID, func(a Account, prior []Entry) (*Entry, error) {
		if find(prior, KindSpent) == nil {
			return nil, fmt.Errorf("privacy: release %q was never paid for in scope %q", releaseID, scope)
		}
		written, void := find(prior, KindWritten), find(prior, KindVoid)
		switch {
		case kind == KindWritten && written != nil:
			if *written.Values != *values {
				return nil, fmt.Errorf("%w: release %q was written with other values", ErrReplay, releaseID)
			}
			return written, nil
		case kind == KindVoid && void != nil:
			return void, nil
		case kind == KindWritten && void != nil, kind == KindVoid && written != nil:
			return nil, fmt.Errorf("%w: release %q is %s already", ErrReplay, releaseID, prior[len(prior)-1].Kind)
		}
		return a.next(Entry{Kind: kind, ReleaseID: releaseID, Values: values}), nil
	})
}

// update runs rule and returns the entry that it chose, new or prior.
func update(ctx context.Context, l Ledger, scope, releaseID string, rule Rule) (Entry, error) {
	if err := CheckID("budget scope", scope); err != nil {
		return Entry{}, err
	}
	now, err := l.Now(ctx)
	if err != nil {
		return Entry{}, err
	}
	var chosen Entry
	err = l.Update(ctx, scope, releaseID, func(a Account, prior []Entry) (*Entry, error) {
		e, err := rule(a, prior)
		if err != nil {
			return nil, err
		}
		if chosen = *e; e.Seq <= a.Entries {
			return nil, nil // it is there already
		}
		chosen = a.stamp(*e, now)
		return &chosen, nil
	})
	if err != nil {
		return Entry{}, err
	}
	return chosen, nil
}

func find(entries []Entry, kind Kind) *Entry {
	for i := range entries {
		if entries[i].Kind == kind {
			return &entries[i]
		}
	}
	return nil
}

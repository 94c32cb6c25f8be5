// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"context"
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
	// All returns the entries of every scope that has any, as Entries does of one.
	All(ctx context.Context) (map[string][]Entry, error)
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

// SetCap limits what the releases of a scope may spend together, however old.
func SetCap(ctx context.Context, l Ledger, scope string, limit Budget) (Entry, error) {
	return SetSlidingCap(ctx, l, scope, Cap{Budget: limit})
}

// SetSlidingCap limits what the releases of a scope may spend together in any time as
// long as the window of the cap. What was spent before the cap was set counts from when
// it was spent; releases of a version that kept no times count from now on.
func SetSlidingCap(ctx context.Context, l Ledger, scope string, limit Cap) (Entry, error) {
	return update(ctx, l, scope, "", func(a Account, _ []Entry) (*Entry, error) {
		if err := limit.Validate(); err != nil {
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
// the store holds. It returns [ErrChain]
// where they disagree, and the errors of [Replay]. Entries that others append meanwhile
// are read again.
func VerifyLedger(ctx context.Context, l Ledger, scope string) (Account, error) {
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

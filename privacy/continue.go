// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"context"
	"fmt"
	"slices"
)

// Continue moves the accounts of other scopes into scope, under one cap: each of their chains
// ends with an entry that names scope, and scope gets an entry that carries the total and
// head of each. What they pay for next counts there. Nothing is lost, repeated calls count
// nothing twice, and an interrupted one is completed by the next [Spend]. The caps that they
// had count no more. It returns the errors of [Cap.Validate] and of [Joined].
func Continue(ctx context.Context, l Ledger, scope string, from []string, limit Cap) error {
	if _, err := Joined(ctx, l, scope, from); err != nil {
		return err
	}
	if _, err := SetSlidingCap(ctx, l, scope, limit); err != nil {
		return err
	}
	return join(ctx, l, scope, from)
}

// join is Continue without a cap.
func join(ctx context.Context, l Ledger, scope string, from []string) error {
	if len(from) == 0 {
		return nil
	}
	if _, err := Joined(ctx, l, scope, from); err != nil {
		return err
	}
	a, err := ReplayLedger(ctx, l, scope)
	if err != nil {
		return err
	}
	for _, name := range from {
		if slices.Contains(a.Continues, name) {
			continue
		}
		if err := moveTo(ctx, l, name, scope); err != nil {
			return err
		}
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

// Joined returns the account of scope with what others spent that are to go on in it, and
// stores nothing. [ErrMoved]: scope itself goes on in another one. [ErrJoin]: their guarantees
// differ, or one of them goes on elsewhere, or is scope. Other errors are those of [ReplayLedger].
func Joined(ctx context.Context, l Ledger, scope string, from []string) (Account, error) {
	a, err := ReplayLedger(ctx, l, scope)
	if err == nil {
		err = a.checkOpen()
	}
	if err != nil {
		return Account{}, err
	}
	for _, name := range from {
		if slices.Contains(a.Continues, name) {
			continue
		}
		b, err := ReplayLedger(ctx, l, name)
		switch {
		case err != nil:
			return Account{}, err
		case name == scope:
			return Account{}, fmt.Errorf("%w: scope %q cannot go on in itself", ErrJoin, name)
		case b.MovedTo != "" && b.MovedTo != scope:
			return Account{}, fmt.Errorf("%w: scope %q goes on in %q", ErrJoin, name, b.MovedTo)
		}
		b.Cap = nil
		if a, err = a.absorb(b); err != nil {
			return Account{}, err
		}
		a.Continues = slices.Concat(a.Continues, []string{name}, b.Continues)
	}
	return a, nil
}

// Paying returns the account that pays for the data of a scope: its own, or the one in which
// that goes on. It stores nothing, and returns the errors of [Joined].
func Paying(ctx context.Context, l Ledger, scope string) (Account, error) {
	if err := CheckID("budget scope", scope); err != nil {
		return Account{}, inputError{err}
	}
	scopes, err := lineage(ctx, l, scope)
	if err != nil {
		return Account{}, err
	}
	return Joined(ctx, l, scopes[len(scopes)-1], scopes[:len(scopes)-1])
}

// Releases returns the entries about the releases of the data of a scope, from whichever
// account they were paid, in the order of the accounts. It returns the errors of [Replay].
func Releases(ctx context.Context, l Ledger, scope string) ([]Entry, error) {
	scopes, err := lineage(ctx, l, scope)
	if err != nil {
		return nil, err
	}
	var found []Entry
	for _, name := range scopes {
		entries, err := l.Entries(ctx, name)
		if err != nil {
			return nil, err
		}
		own := make(map[string]bool)
		for _, e := range entries {
			if e.Kind == KindSpent && e.Charge.Scope == scope {
				own[e.ReleaseID] = true
			}
			if own[e.ReleaseID] {
				found = append(found, e)
			}
		}
	}
	return found, nil
}

// SpentOn returns the account of a scope with what its data spent since it went on in
// another one. It returns the errors of [Replay].
func SpentOn(ctx context.Context, l Ledger, scope string) (Account, error) {
	a, err := ReplayLedger(ctx, l, scope)
	if err != nil || a.MovedTo == "" {
		return a, err
	}
	entries, err := Releases(ctx, l, scope)
	for _, e := range entries {
		if err == nil && e.Kind == KindSpent && e.Scope != scope {
			a, err = a.add(*e.Charge)
		}
	}
	return a, err
}

// follow visits a scope and its successors, as long as visit names one.
func follow(scope string, visit func(scope string) (next string, err error)) error {
	for seen := []string{}; ; {
		if slices.Contains(seen, scope) {
			return fmt.Errorf("%w: scope %q goes on in itself", ErrChain, scope)
		}
		next, err := visit(scope)
		if err != nil || next == "" {
			return err
		}
		scope, seen = next, append(seen, scope)
	}
}

// lineage returns a scope and its successors in order, the open one last.
func lineage(ctx context.Context, l Ledger, scope string) (scopes []string, err error) {
	err = follow(scope, func(scope string) (string, error) {
		scopes = append(scopes, scope)
		a, err := ReplayLedger(ctx, l, scope)
		return a.MovedTo, err
	})
	return scopes, err
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
		closed.Cap = nil
		if _, err := a.absorb(closed); err != nil {
			return nil, err
		}
		return a.next(Entry{Kind: KindContinues, Account: &closed}), nil
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
		carried.Cap = b.Cap // the cap of the account that it went on in counts
		if b.MovedTo != a.Scope || !b.equal(carried) {
			return fmt.Errorf("%w: scope %q, entry %d is not what scope %q adds up to", ErrChain, a.Scope, e.Seq, carried.Scope)
		}
		if err := verifyContinued(ctx, l, b); err != nil {
			return err
		}
	}
	return nil
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

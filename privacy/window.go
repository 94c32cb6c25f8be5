// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// WaitError says that a sliding cap refuses a charge, and from which second on it
// grants it if nothing else is spent. It matches [ErrExhausted].
type WaitError struct {
	Until time.Time
	err   error
}

func (e *WaitError) Error() string {
	return fmt.Sprintf("%v; it has room for it from %s on", e.err, e.Until.Format(time.RFC3339))
}

func (e *WaitError) Unwrap() error { return e.err }

// chain is what a sliding cap is evaluated on: the entries as they were read, to which
// others may have been appended since, and the ledger's time just before the read.
type chain struct {
	entries []Entry
	now     time.Time
}

func readChain(ctx context.Context, l Ledger, scope string) (*chain, error) {
	now, err := l.Now(ctx)
	if err != nil {
		return nil, err
	}
	entries, err := l.Entries(ctx, scope)
	return &chain{entries, now}, err
}

// errSliding asks for the chain of a scope whose cap slides.
var errSliding = errors.New("privacy: the cap slides")

// Recent returns the account with what counts against its cap at a time. entries are
// those of its chain, or the first of them.
//
// An entry counts until a window has passed since its time. Times do not go back along
// a chain, so those that count are its end; one without a time counts until the next
// that has one does not. It returns [ErrChain] where the entries spent less than was
// counted before them, and the errors of [Replay].
//
// Proof: docs/proofs/ledger.md.
func (a Account) Recent(entries []Entry, now time.Time) (Account, error) {
	if a.Cap == nil || a.Cap.PerSeconds == 0 {
		return a, nil
	}
	begin, old := now.Add(-a.Cap.Window()), 0
	for i, e := range entries {
		if e.Time.After(begin) {
			break
		}
		if !e.Time.IsZero() {
			old = i + 1
		}
	}
	past, err := Replay(a.Scope, entries[:old])
	if err != nil {
		return Account{}, err
	}
	return a.since(past)
}

// since returns the account without the releases of past, an earlier state of it.
// It keeps all certificates.
func (a Account) since(past Account) (Account, error) {
	a.Releases -= past.Releases
	if len(a.Sensors) == 0 {
		a.Spent -= past.Spent
	} else {
		sensors, spent := maps.Clone(a.Sensors), Cost(0)
		for id, cost := range past.Sensors {
			sensors[id] -= cost
		}
		for _, cost := range sensors {
			spent = max(spent, cost)
		}
		a.Sensors, a.Spent = sensors, spent
	}
	if a.Releases < 0 || a.Spent < 0 || slices.ContainsFunc(slices.Collect(maps.Values(a.Sensors)), func(c Cost) bool { return c < 0 }) {
		return Account{}, fmt.Errorf("%w: scope %q has spent less than it had before", ErrChain, a.Scope)
	}
	return a, nil
}

// Grants returns the error with which [Spend] would refuse a charge to an account of the
// scope, such as [ErrGuarantee], or nil. It does not check the release id.
func Grants(ctx context.Context, l Ledger, a Account, c Charge) error {
	_, err := a.charge(c, nil)
	if !errors.Is(err, errSliding) {
		return err
	}
	h, err := readChain(ctx, l, a.Scope)
	if err != nil {
		return err
	}
	_, err = a.charge(c, h)
	return err
}

// availableFrom returns when a sliding cap has room for a charge that it refuses now, if
// nothing else is spent; ok is false where that is never, or cannot be told.
func (a Account) availableFrom(c Charge, h *chain) (t time.Time, ok bool) {
	past := NewAccount(a.Scope)
	for _, e := range h.entries {
		var err error
		if past, err = past.Append(e); err != nil {
			return t, false
		}
		if e.Time.IsZero() {
			continue
		}
		recent, err := a.since(past)
		if err != nil {
			return t, false
		}
		if granted, err := recent.hasRoom(c); err == nil && granted {
			return e.Time.Add(a.Cap.Window() + time.Second - 1).Truncate(time.Second), true
		}
	}
	return t, false
}

// hasRoom reports whether what counts against a cap leaves room for a charge.
func (a Account) hasRoom(c Charge) (bool, error) {
	first := a.Releases == 0 && a.Spent == 0
	after, err := a.add(c)
	return err == nil && (a.Cap == nil || after.withinCap(first, c.Budget)), err
}

// exhausted is the error of a charge that the cap refuses: [ErrOverBudget] where it refuses
// it to an account that has spent nothing.
func (a Account) exhausted(c Charge, recent Account, h *chain) error {
	unspent := NewAccount(a.Scope)
	unspent.Cap = a.Cap
	if granted, err := unspent.hasRoom(c); err == nil && !granted {
		return a.overBudget(c)
	}
	left, _ := recent.Remaining()
	err := fmt.Errorf("%w: scope %q has %s", ErrExhausted, a.Scope, c.amounts(left, *a.Cap))
	if a.Cap.PerSeconds == 0 {
		return err
	}
	if whole, bad := a.Epsilon(a.Cap.Delta); bad == nil {
		err = fmt.Errorf("%w; all its releases, however old, have spent ε = %.4g at that δ", err, whole)
	}
	if t, ok := a.availableFrom(c, h); ok {
		return &WaitError{t, err}
	}
	return err
}

// amounts says what is left of a cap and what the charge costs.
func (c Charge) amounts(left Cost, limit Cap) string {
	if c.Guarantee.pure() {
		return fmt.Sprintf("ε = %.4g of its %v left for the person who has least, an answer costs ε = %.4g",
			left.PureEpsilon(), limit, c.Cost.PureEpsilon())
	}
	eps, _ := left.Epsilon(limit.Delta)
	costs, _ := c.Cost.Epsilon(limit.Delta)
	return fmt.Sprintf("ρ = %.4g of its %v left (alone worth ε = %.4g), the release costs ρ = %.4g (ε = %.4g at the same δ)",
		left.Rho(), limit, eps, c.Cost.Rho(), costs)
}

// overBudget is the error of a charge that is above the whole cap.
func (a Account) overBudget(c Charge) error {
	if a.Guarantee = c.Guarantee; a.Guarantee.pure() {
		return fmt.Errorf("%w: the whole cap of scope %q is %v, an answer costs ε = %.4g", ErrOverBudget, a.Scope, a.Cap,
			c.Cost.PureEpsilon())
	}
	whole, _ := a.limit()
	costs, _ := c.Cost.Epsilon(a.Cap.Delta)
	return fmt.Errorf("%w: the whole cap of scope %q is %v (ρ = %.4g), the release costs ρ = %.4g (ε = %.4g at the same δ)",
		ErrOverBudget, a.Scope, a.Cap, whole.Rho(), c.Cost.Rho(), costs)
}

// charge returns the entry of a release, if the account has room for it. errSliding:
// the cap slides, and h, the chain that it needs, is nil.
func (a Account) charge(c Charge, h *chain) (*Entry, error) {
	if err := c.validate(); err != nil {
		return nil, inputError{err}
	}
	if a.Releases > 0 && a.Guarantee != c.Guarantee {
		return nil, fmt.Errorf("%w: %q holds %s releases, and a %s release does not add up with them", ErrGuarantee, a.Scope,
			a.Guarantee, c.Guarantee)
	}
	if err := a.sameKey(c.NodeKey, c.Sensors); err != nil {
		return nil, inputError{fmt.Errorf("privacy: %w; take the key of before", err)}
	}
	if _, err := a.add(c); err != nil {
		return nil, err
	}
	recent := a
	if a.Cap != nil && a.Cap.PerSeconds > 0 {
		if h == nil {
			return nil, errSliding
		}
		var err error
		if recent, err = a.Recent(h.entries, h.now); err != nil {
			return nil, err
		}
	}
	granted, err := recent.hasRoom(c)
	if err != nil {
		return nil, err
	}
	if !granted {
		return nil, a.exhausted(c, recent, h)
	}
	return a.next(Entry{Kind: KindSpent, ReleaseID: c.ReleaseID, Charge: &c}), nil
}

// withinCap reports whether the account is below its cap. A first release whose own
// budget lies within the cap needs no conversion to ρ, which rounds up.
func (a Account) withinCap(first bool, b Budget) bool {
	if first && b.Epsilon <= a.Cap.Epsilon && b.Delta <= a.Cap.Delta {
		return true
	}
	limit, err := a.limit()
	return err == nil && a.Spent <= limit
}

// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// HighWater keeps, in a place of its own, how far the chains of ledgers had come:
// their high-water marks. A ledger that was restored from an older copy, or one of
// two clones that are both spent from, is whole by itself; the marks show more.
type HighWater interface {
	// Scopes returns the scopes of which anything is remembered under the names of a ledger.
	Scopes(names []string) ([]string, error)
	// Marks returns what is remembered of a scope under the names of a ledger.
	Marks(names []string, scope string) ([]Mark, error)
	// Put remembers m of a scope under each of the names, in place of what was where
	// m goes further: see [Mark.Follows]. It looks and replaces in one step, since other
	// processes put marks too.
	Put(names []string, scope string, m Mark) error
}

// Mark is the furthest that a chain was seen to have come.
type Mark struct {
	Account Account  `json:"account"` // as it stood then
	Heads   []Digest `json:"heads"`   // hashes of its entries in their order, and lost heads that they account for
}

// Follows reports whether m is of the chain that was remembered before, and no less
// far. [ErrRollback] where neither is a part of the other.
func (m Mark) Follows(before Mark) (bool, error) {
	switch {
	case before.Account.Entries == 0 || slices.Contains(m.Heads, before.Account.Head):
		return true, nil
	case slices.Contains(before.Heads, m.Account.Head):
		return false, nil
	}
	return false, fmt.Errorf("%w: scope %q was seen here a moment ago with %d entries and the head %s, which these %d do not hold",
		ErrRollback, m.Account.Scope, before.Account.Entries, before.Account.Head, m.Account.Entries)
}

// Contains reports whether a chain holds an entry with this hash, or accounts for its
// loss.
func Contains(entries []Entry, head Digest) bool {
	return slices.ContainsFunc(entries, func(e Entry) bool {
		return e.Hash == head || e.Kind == KindReconciled && e.Account.Head == head
	})
}

// Check refuses a chain that does not hold the mark, or adds up to less, with
// [ErrRollback], and one that [Replay] refuses, with its errors.
func (m Mark) Check(scope string, entries []Entry) error {
	if m.Account.Entries == 0 {
		return nil
	}
	a, err := Replay(scope, entries)
	if err != nil {
		return err
	}
	if Contains(entries, m.Account.Head) && a.Spent >= m.Account.Spent {
		return nil
	}
	return fmt.Errorf("%w: scope %q had %d entries and the head %s when it was last seen here, and its %d entries do not hold that",
		ErrRollback, scope, m.Account.Entries, m.Account.Head, len(entries))
}

// Watch returns a ledger that refuses, with [ErrRollback], to work on a chain that
// does not hold the high-water marks, and moves them on. Before a new chain all marks of
// the ledger are checked: where it was deleted, no other scope begins again from nothing.
// A mark that cannot be put stops an Update unless its entry is stored by then: missed gets the error.
func Watch(l Ledger, w HighWater, missed func(error)) Ledger {
	return &watched{Ledger: l, marks: w, missed: missed, seen: make(map[string]Mark)}
}

type watched struct {
	Ledger
	marks  HighWater
	missed func(error)
	mu     sync.Mutex
	seen   map[string]Mark // of chains that hold what was remembered of them
	whole  atomic.Bool     // all chains held it once
}

// Entries implements [Ledger].
func (w *watched) Entries(ctx context.Context, scope string) ([]Entry, error) {
	return w.entries(ctx, scope, w.whole.Load())
}

// entries reads a chain, and before a new one all others, unless they were found whole before and nothing is about to be
// stored. The marks are read first: they never run ahead of what is stored.
func (w *watched) entries(ctx context.Context, scope string, whole bool) ([]Entry, error) {
	id, err := w.Identity(ctx)
	if err != nil {
		return nil, err
	}
	marks, err := w.marks.Marks(id.Names(), scope)
	if err != nil {
		return nil, err
	}
	entries, err := w.Ledger.Entries(ctx, scope)
	if err != nil {
		return nil, err
	}
	if err := checkMarks(marks, scope, entries); err != nil {
		return nil, err
	}
	if len(entries) == 0 && !whole {
		if _, err := w.checkAll(ctx, id.Names()); err != nil {
			return nil, err
		}
	}
	seen, err := markOf(scope, entries)
	if err != nil {
		return nil, err
	}
	return entries, w.put(ctx, map[string]Mark{scope: seen})
}

// All implements [Ledger], with the same checks.
func (w *watched) All(ctx context.Context) (map[string][]Entry, error) {
	id, err := w.Identity(ctx)
	if err != nil {
		return nil, err
	}
	all, err := w.checkAll(ctx, id.Names())
	if err != nil {
		return nil, err
	}
	seen := make(map[string]Mark)
	for scope, entries := range all {
		if seen[scope], err = markOf(scope, entries); err != nil {
			return nil, err
		}
	}
	return all, w.put(ctx, seen)
}

// checkAll reads the chains of the ledger and holds all that are remembered against their marks.
func (w *watched) checkAll(ctx context.Context, names []string) (map[string][]Entry, error) {
	scopes, err := w.marks.Scopes(names)
	if err != nil {
		return nil, err
	}
	marks := make(map[string][]Mark)
	for _, scope := range scopes {
		if marks[scope], err = w.marks.Marks(names, scope); err != nil {
			return nil, err
		}
	}
	all, err := w.Ledger.All(ctx)
	if err != nil {
		return nil, err
	}
	for _, scope := range scopes {
		if err := checkMarks(marks[scope], scope, all[scope]); err != nil {
			return nil, err
		}
	}
	w.whole.Store(true)
	return all, nil
}

// markOf is the mark of a whole chain.
func markOf(scope string, entries []Entry) (m Mark, err error) {
	if m.Account, err = Replay(scope, entries); err != nil {
		return m, err
	}
	for _, e := range entries {
		m.Heads = append(m.Heads, e.heads()...)
	}
	return m, nil
}

func checkMarks(marks []Mark, scope string, entries []Entry) error {
	for _, m := range marks {
		if err := m.Check(scope, entries); err != nil {
			return err
		}
	}
	return nil
}

// heads returns the hash of an entry, preceded by the lost head that it accounts for.
func (e Entry) heads() []Digest {
	if e.Kind == KindReconciled {
		return []Digest{e.Account.Head, e.Hash}
	}
	return []Digest{e.Hash}
}

// Update implements [Ledger]. A chain that others have appended to is read again before the rule
// decides: it may be another one. So is one that was new when it was read: the others may be gone since.
func (w *watched) Update(ctx context.Context, scope, releaseID string, rule Rule) error {
	seen, ok := w.mark(scope)
	ok = ok && seen.Account.Entries > 0
	for {
		if ok {
			if err := w.updateFrom(ctx, seen, scope, releaseID, rule); !errors.Is(err, errGrown) {
				return err
			}
		}
		if _, err := w.entries(ctx, scope, false); err != nil {
			return err
		}
		before := seen.Account.Entries
		if seen, _ = w.mark(scope); ok && seen.Account.Entries == before {
			return fmt.Errorf("%w: scope %q: the stored account has more entries than its chain", ErrChain, scope)
		}
		ok = true
	}
}

// errGrown says that the chain has entries that were not seen yet. Nothing was stored.
var errGrown = errors.New("privacy: the chain has grown")

// updateFrom runs a rule on an account that is as it was seen.
func (w *watched) updateFrom(ctx context.Context, seen Mark, scope, releaseID string, rule Rule) error {
	var after Account
	var ours *Entry
	stored := false
	err := w.Ledger.Update(ctx, scope, releaseID, func(a Account, prior []Entry) (*Entry, error) {
		after = a
		if a.Entries < seen.Account.Entries || a.Entries == seen.Account.Entries && a.Head != seen.Account.Head {
			return nil, fmt.Errorf("%w: scope %q has %d entries, and had %d others a moment ago", ErrRollback, scope, a.Entries,
				seen.Account.Entries)
		}
		if ours == nil && a.Entries > seen.Account.Entries {
			return nil, errGrown
		}
		e, err := rule(a, prior)
		if err != nil || e == nil { // a repetition finds what the first call stored
			stored = ours != nil && (a.Head == ours.Hash || Contains(prior, ours.Hash))
			return nil, err
		}
		ours, stored = e, true
		after, err = a.Append(*e)
		return e, err
	})
	if err != nil {
		return err
	}
	if stored && after.Entries == seen.Account.Entries+1 {
		err = w.put(ctx, map[string]Mark{scope: {after, append(slices.Clip(seen.Heads), ours.heads()...)}})
	} else if after.Entries > seen.Account.Entries { // others appended too
		_, err = w.Entries(ctx, scope)
	}
	if err != nil && stored {
		w.missed(err)
		return nil
	}
	return err
}

func (w *watched) mark(scope string) (Mark, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m, ok := w.seen[scope]
	return m, ok
}

// put remembers the marks, by scope, that are further than those before.
func (w *watched) put(ctx context.Context, marks map[string]Mark) error {
	further := make(map[string]Mark)
	w.mu.Lock()
	for scope, m := range marks {
		if before, ok := w.seen[scope]; ok && before.Account.Entries >= m.Account.Entries {
			continue
		}
		w.seen[scope] = m
		if m.Account.Entries > 0 {
			further[scope] = m
		}
	}
	w.mu.Unlock()
	if len(further) == 0 {
		return nil
	}
	id, err := w.Identity(ctx) // that of the first entry, which was stored since
	if err != nil {
		return err
	}
	for scope, m := range further {
		if err := w.marks.Put(id.Names(), scope, m); err != nil {
			return err
		}
	}
	return nil
}

// Reconcile charges what a mark holds and the chain of its scope has lost: all that was
// spent after the last entry that both have. Where entries in between were never
// seen, more is charged than was lost, never less. The mark's cap applies again as far as it is the
// stricter one, unless one was set since. A chain that holds the mark is left as it is.
// The errors are those of [Replay] and [Mark.Check].
//
// Proof: docs/proofs/ledger.md.
func Reconcile(ctx context.Context, l Ledger, scope string, m Mark) (booked Cost, err error) {
	if _, err := VerifyLedger(ctx, l, scope); err != nil {
		return 0, err
	}
	entries, err := l.Entries(ctx, scope)
	if err != nil || m.Check(scope, entries) == nil {
		return 0, err
	}
	lost, err := m.missingFrom(scope, entries)
	if err != nil {
		return 0, err
	}
	id := "reconciled " + lost.Head.String()
	_, err = update(ctx, l, scope, id, func(a Account, prior []Entry) (*Entry, error) {
		if e := find(prior, KindReconciled); e != nil {
			return e, nil
		}
		b := lost
		b.Cap = stricterCap(a.Cap, lost.Cap)
		if _, err := a.absorb(b); err != nil {
			return nil, err
		}
		return a.next(Entry{Kind: KindReconciled, ReleaseID: id, Account: &b}), nil
	})
	return lost.Spent, err
}

// stricterCap returns a cap that allows only what both allow; nil where neither is
// set.
func stricterCap(a, b *Cap) *Cap {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	per := max(a.PerSeconds, b.PerSeconds)
	if a.PerSeconds == 0 || b.PerSeconds == 0 {
		per = 0 // for ever is the longest
	}
	return &Cap{Budget{min(a.Epsilon, b.Epsilon), min(a.Delta, b.Delta)}, per}
}

// missingFrom returns what the account of the mark has beyond the last of its entries that
// the chain holds.
func (m Mark) missingFrom(scope string, entries []Entry) (Account, error) {
	common := 0
	for i, e := range entries {
		if slices.Contains(m.Heads, e.Hash) {
			common = i + 1
		}
	}
	kept, err := Replay(scope, entries[:common])
	if err != nil {
		return Account{}, err
	}
	lost, err := m.Account.since(kept)
	if err != nil {
		return Account{}, err
	}
	if slices.ContainsFunc(entries[common:], func(e Entry) bool { return e.Kind == KindCap }) {
		lost.Cap = nil
	}
	return lost, nil
}

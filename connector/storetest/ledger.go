// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/privacy"
)

var budget = privacy.Budget{Epsilon: 1, Delta: 1e-5}

func token() string { return rand.Text() }

func charge(scope, release, attempt string, cost privacy.Cost) privacy.Charge {
	return privacy.Charge{Scope: scope, ReleaseID: release, Attempt: attempt, Guarantee: privacy.Joint, Budget: budget, Cost: cost}
}

// room sets a cap and returns it as a cost.
func room(t *testing.T, l privacy.Ledger, scope string) privacy.Cost {
	t.Helper()
	if _, err := privacy.SetCap(t.Context(), l, scope, budget); err != nil {
		t.Fatal(err)
	}
	a, err := privacy.ReadAccount(t.Context(), l, scope)
	if err != nil {
		t.Fatal(err)
	}
	left, ok := a.Remaining()
	if !ok {
		t.Fatal("the cap is not there")
	}
	return left
}

func testLedger(t *testing.T, s Suite) {
	st := s.Open(t, nodesCSV, relationshipsCSV)
	ctx, l, scope := t.Context(), st.Ledger(), "scope "+token()
	if a, err := privacy.ReadAccount(ctx, l, scope); err != nil || a.Entries != 0 {
		t.Errorf("a new account: %+v, %v", a, err)
	}
	if scopes, err := l.Scopes(ctx); err != nil || slices.Contains(scopes, scope) {
		t.Errorf("reading an account made the scope: %q, %v", scopes, err)
	}
	cost := room(t, l, scope) / 2
	first, err := privacy.Spend(ctx, l, charge(scope, "r1", "attempt 1", cost))
	if err != nil {
		t.Fatal(err)
	}
	if same, err := privacy.Spend(ctx, l, charge(scope, "r1", "attempt 1", cost)); err != nil || same.Hash != first.Hash {
		t.Errorf("the same attempt again: %v, want the first entry", err)
	}
	if _, err := privacy.Spend(ctx, l, charge(scope, "r1", "attempt 2", cost)); !errors.Is(err, privacy.ErrReplay) {
		t.Errorf("another attempt at one release: %v, want ErrReplay", err)
	}
	other := s.Reopen(t, st).Ledger()
	if _, err := privacy.Spend(ctx, other, charge(scope, "r2", "attempt 1", cost)); err != nil {
		t.Fatal(err)
	}
	if _, err := privacy.Spend(ctx, l, charge(scope, "r3", "attempt 1", cost)); !errors.Is(err, privacy.ErrExhausted) {
		t.Errorf("past the cap: %v, want ErrExhausted", err)
	}
	if _, err := privacy.MarkWritten(ctx, l, scope, "r1", privacy.Digest{1}); err != nil {
		t.Error(err)
	}
	if _, err := privacy.MarkWritten(ctx, l, scope, "r3", privacy.Digest{1}); err == nil {
		t.Error("a release that was not paid for was marked as written")
	}
	a, err := privacy.VerifyLedger(ctx, other, scope)
	if err != nil || a.Releases != 2 || a.Entries != 4 || a.Spent != 2*cost {
		t.Errorf("the ledger holds %+v, %v; want two releases in four entries", a, err)
	}
	if scopes, err := l.Scopes(ctx); err != nil || !slices.Contains(scopes, scope) || !slices.IsSorted(scopes) {
		t.Errorf("scopes %q, %v", scopes, err)
	}
	if entries, err := l.Entries(ctx, scope+"x"); err != nil || len(entries) != 0 {
		t.Errorf("entries of an unknown scope: %v, %v", entries, err)
	}
}

// testLedgerRace lets 16 writers with handles of their own spend from one cap
// that has room for exactly 100.
func testLedgerRace(t *testing.T, s Suite) {
	const writers, each, granted = 16, 20, 100
	st := s.Open(t, nodesCSV, relationshipsCSV)
	scope := "race " + token()
	cost := room(t, st.Ledger(), scope) / granted
	var paid, refused atomic.Int64
	var wg sync.WaitGroup
	for w := range writers {
		l := s.Reopen(t, st).Ledger()
		wg.Go(func() {
			for k := range each {
				c := charge(scope, fmt.Sprintf("release %d of writer %d", k, w), token(), cost)
				_, err := privacy.Spend(t.Context(), l, c)
				for errors.Is(err, connector.ErrTransient) {
					_, err = privacy.Spend(t.Context(), l, c)
				}
				switch {
				case err == nil:
					paid.Add(1)
				case errors.Is(err, privacy.ErrExhausted):
					refused.Add(1)
				default:
					t.Errorf("writer %d: %v", w, err)
				}
			}
		})
	}
	wg.Wait()
	if paid.Load() != granted || refused.Load() != writers*each-granted {
		t.Errorf("granted %d and refused %d, want %d and %d", paid.Load(), refused.Load(), granted, writers*each-granted)
	}
	if a, err := privacy.VerifyLedger(t.Context(), st.Ledger(), scope); err != nil || a.Releases != granted {
		t.Errorf("the ledger holds %d releases, %v, want %d", a.Releases, err, granted)
	}
}

// testLedgerTogether lets four writers spend from two scopes while these are put under one cap
// that has room for two releases more: every release is counted there, once.
func testLedgerTogether(t *testing.T, s Suite) {
	const writers, each = 4, 4
	st := s.Open(t, nodesCSV, relationshipsCSV)
	ctx, l, name := t.Context(), st.Ledger(), token()
	together, parts := "together "+name, []string{"a " + name, "b " + name}
	cost := room(t, l, "measure "+name) / (writers*each + 2)
	spend := func(l privacy.Ledger, scope, id string) (privacy.Entry, error) {
		c := charge(scope, id, "attempt", cost)
		e, err := privacy.Spend(ctx, l, c)
		for errors.Is(err, connector.ErrTransient) {
			e, err = privacy.Spend(ctx, l, c)
		}
		return e, err
	}
	var wg sync.WaitGroup
	for w := range writers {
		l := s.Reopen(t, st).Ledger()
		wg.Go(func() {
			for k := range each {
				if _, err := spend(l, parts[k%2], fmt.Sprintf("%d of writer %d", k, w)); err != nil {
					t.Errorf("writer %d: %v", w, err)
				}
				if w > 0 || k != 1 {
					continue
				}
				err := privacy.Continue(ctx, l, together, parts, privacy.Cap{Budget: budget})
				for errors.Is(err, connector.ErrTransient) {
					err = privacy.Continue(ctx, l, together, parts, privacy.Cap{Budget: budget})
				}
				if err != nil {
					t.Errorf("together: %v", err)
				}
			}
		})
	}
	wg.Wait()
	for k, scope := range append(parts, parts...) {
		e, err := spend(l, scope, fmt.Sprint("later ", k))
		if k < 2 && (err != nil || e.Scope != together) || k >= 2 && !errors.Is(err, privacy.ErrExhausted) {
			t.Errorf("release %d behind them, of %q: from %q, %v", k, scope, e.Scope, err)
		}
	}
	a, err := privacy.VerifyLedger(ctx, l, together)
	if err != nil || a.Releases != writers*each+2 || a.Spent != cost*(writers*each+2) {
		t.Errorf("together they hold %+v, %v, want %d releases", a, err, writers*each+2)
	}
}

// testLedgerIdentity reaches one ledger by several names: it is one identity and one
// cap.
func testLedgerIdentity(t *testing.T, s Suite) {
	st := s.Open(t, nodesCSV, relationshipsCSV)
	ctx, scope := t.Context(), "identity "+token()
	before, err := st.Ledger().Identity(ctx)
	if err != nil {
		t.Fatal(err)
	}
	cost := room(t, st.Ledger(), scope) / 2
	first, err := st.Ledger().Identity(ctx)
	if err != nil || first.Ledger == "" || first.Place == "" || first.Place != before.Place {
		t.Errorf("with an entry the identity is %+v, %v, before %+v", first, err, before)
	}
	for k, other := range []Store{st, s.Reopen(t, st), s.Alias(t, st)} {
		if id, err := other.Ledger().Identity(ctx); err != nil || id != first {
			t.Errorf("%s is %+v, %v, want %+v", other.Name(), id, err, first)
		}
		_, err := privacy.Spend(ctx, other.Ledger(), charge(scope, fmt.Sprint(k), token(), cost))
		if k < 2 && err != nil || k == 2 && !errors.Is(err, privacy.ErrExhausted) {
			t.Errorf("release %d, by %s: %v", k, other.Name(), err)
		}
	}
}

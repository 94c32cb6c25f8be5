// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/ledgertest"
)

var budget = privacy.Budget{Epsilon: 1, Delta: 1e-5}

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

// testLedger opens the store's ledger again for each writer and for anyone who looks.
func testLedger(t *testing.T, s Suite) {
	st := s.Open(t, nodesCSV, relationshipsCSV)
	ledgertest.Run(t, func(t *testing.T) privacy.Ledger { return patient{s.Reopen(t, st).Ledger()} })
}

// patient repeats an update that the store could not make just then, as its callers do.
type patient struct{ privacy.Ledger }

func (p patient) Update(ctx context.Context, scope, releaseID string, rule privacy.Rule) error {
	for {
		if err := p.Ledger.Update(ctx, scope, releaseID, rule); !errors.Is(err, connector.ErrTransient) {
			return err
		}
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

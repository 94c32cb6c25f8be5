// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"context"
	"errors"
	"fmt"
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

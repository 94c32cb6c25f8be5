// SPDX-License-Identifier: Apache-2.0

package privacy_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/ledgertest"
)

const unit privacy.Cost = 1 << 30

func pay(t *testing.T, l privacy.Ledger, scope, id string) {
	t.Helper()
	if _, err := privacy.Spend(context.Background(), l, ledgertest.Charge(scope, id, "a", unit)); err != nil {
		t.Fatal(err)
	}
}

// TestContinueKeepsEverySpend joins two scopes with spends, a cap and an open
// payment: at every repetition the sum is theirs, once.
func TestContinueKeepsEverySpend(t *testing.T) {
	ctx := context.Background()
	var l privacy.MemoryLedger
	limit := privacy.Budget{Epsilon: 3, Delta: 1e-5}
	pay(t, &l, "old a", "1")
	pay(t, &l, "old a", "2")
	pay(t, &l, "old b", "3")
	if _, err := privacy.SetCap(ctx, &l, "old b", limit); err != nil {
		t.Fatal(err)
	}
	pay(t, &l, "new", "4")
	old := []string{"old a", "old b"}
	preview, err := privacy.Joined(ctx, &l, "new", old)
	if err != nil || preview.Spent != 4*unit || preview.Releases != 4 {
		t.Errorf("preview %+v, %v, want 4 releases", preview, err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := privacy.Continue(ctx, &l, "new", old); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	a, err := privacy.VerifyLedger(ctx, &l, "new")
	if err != nil || a.Spent != 4*unit || a.Releases != 4 || a.Cap == nil || a.Cap.Budget != limit {
		t.Errorf("%+v, %v, want 4 releases and the cap", a, err)
	}
	if _, err := privacy.Spend(ctx, &l, ledgertest.Charge("old a", "5", "a", unit)); !errors.Is(err, privacy.ErrMoved) {
		t.Errorf("a spend from a scope that ended: %v, want ErrMoved", err)
	}
	if _, err := privacy.SetCap(ctx, &l, "old a", limit); !errors.Is(err, privacy.ErrMoved) {
		t.Errorf("a cap on a scope that ended: %v, want ErrMoved", err)
	}
	if _, err := privacy.MarkWritten(ctx, &l, "old a", "1", privacy.Digest{1}); err != nil {
		t.Errorf("a release that was paid for before is written: %v", err)
	}
	if a, err = privacy.VerifyLedger(ctx, &l, "new"); err != nil {
		t.Errorf("after writing: %v", err)
	}
	c := ledgertest.Charge("new", "2", "a", unit)
	if e, err := privacy.PaidBefore(ctx, &l, a, c); err != nil || e == nil || e.Scope != "old a" {
		t.Errorf("the payment before: %v, %v", e, err)
	}
	c.Attempt = "another"
	if _, err := privacy.PaidBefore(ctx, &l, a, c); !errors.Is(err, privacy.ErrReplay) {
		t.Errorf("another attempt at a release paid for before: %v, want ErrReplay", err)
	}
}

// TestContinueRefuses what cannot be added up, and changes nothing.
func TestContinueRefuses(t *testing.T) {
	ctx := context.Background()
	var l privacy.MemoryLedger
	pay(t, &l, "joint", "1")
	c := ledgertest.Charge("each", "1", "a", unit)
	c.Guarantee, c.Sensors = privacy.PerSensor, map[string]privacy.Cost{"s": unit}
	if _, err := privacy.Spend(ctx, &l, c); err != nil {
		t.Fatal(err)
	}
	for scope, eps := range map[string]float64{"loose": 5, "tight": 3} {
		pay(t, &l, scope, "1")
		if _, err := privacy.SetCap(ctx, &l, scope, privacy.Budget{Epsilon: eps, Delta: 1e-5}); err != nil {
			t.Fatal(err)
		}
	}
	for _, from := range [][]string{{"joint", "each"}, {"loose", "tight"}} {
		if err := privacy.Continue(ctx, &l, "new", from); !errors.Is(err, privacy.ErrJoin) {
			t.Errorf("%q: %v, want ErrJoin", from, err)
		}
	}
	if entries, err := l.Entries(ctx, "new"); err != nil || len(entries) != 0 {
		t.Errorf("a refusal left %d entries, %v", len(entries), err)
	}
	pay(t, &l, "loose", "2") // it is open still
	own := privacy.Budget{Epsilon: 4, Delta: 1e-5}
	if _, err := privacy.SetCap(ctx, &l, "new", own); err != nil {
		t.Fatal(err)
	}
	if err := privacy.Continue(ctx, &l, "new", []string{"loose", "tight"}); err != nil {
		t.Errorf("a cap of its own settles which one counts: %v", err)
	}
	if a, err := privacy.VerifyLedger(ctx, &l, "new"); err != nil || a.Cap.Budget != own || a.Spent != 3*unit {
		t.Errorf("%+v, %v", a, err)
	}
	if err := privacy.Continue(ctx, &l, "elsewhere", []string{"tight"}); !errors.Is(err, privacy.ErrJoin) {
		t.Errorf("a scope that goes on in another: %v, want ErrJoin", err)
	}
}

// forgetful loses the newest entries of one scope.
type forgetful struct {
	*privacy.MemoryLedger
	scope string
	keep  int
}

func (f forgetful) Entries(ctx context.Context, scope string) ([]privacy.Entry, error) {
	entries, err := f.MemoryLedger.Entries(ctx, scope)
	if scope == f.scope {
		entries = entries[:min(f.keep, len(entries))]
	}
	return entries, err
}

// TestContinuedChainsAreVerified: what went on in a scope is checked with it.
func TestContinuedChainsAreVerified(t *testing.T) {
	ctx := context.Background()
	var l privacy.MemoryLedger
	pay(t, &l, "old", "1")
	pay(t, &l, "old", "2")
	if err := privacy.Continue(ctx, &l, "new", []string{"old"}); err != nil {
		t.Fatal(err)
	}
	for keep := range 4 {
		_, err := privacy.VerifyLedger(ctx, forgetful{&l, "old", keep}, "new")
		if keep < 3 && !errors.Is(err, privacy.ErrChain) || keep == 3 && err != nil {
			t.Errorf("with %d of 3 entries: %v", keep, err)
		}
	}
}

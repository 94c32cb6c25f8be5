// SPDX-License-Identifier: Apache-2.0

package privacy_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/ledgertest"
)

const unit privacy.Cost = 1 << 30

func pay(t *testing.T, l privacy.Ledger, scope, id string) {
	t.Helper()
	must.Get(privacy.Spend(context.Background(), l, ledgertest.Charge(scope, id, "a", unit)))(t)
}

// budgetFor is a cap with room for n units and not for n + 1.
func budgetFor(t *testing.T, n privacy.Cost) privacy.Budget {
	t.Helper()
	eps := must.Get((n*unit + unit/2).Epsilon(1e-6))(t)
	return privacy.Budget{Epsilon: eps, Delta: 1e-6}
}

// TestContinueKeepsEverySpend joins two scopes with spends, a cap and an open
// payment: at every repetition the sum is theirs, once, and they pay from it.
func TestContinueKeepsEverySpend(t *testing.T) {
	ctx := context.Background()
	var l privacy.MemoryLedger
	limit := privacy.Cap{Budget: budgetFor(t, 6)}
	pay(t, &l, "a", "1")
	pay(t, &l, "a", "2")
	pay(t, &l, "b", "3")
	must.Get(privacy.SetCap(ctx, &l, "b", privacy.Budget{Epsilon: 3, Delta: 1e-5}))(t)
	pay(t, &l, "both", "4")
	parts := []string{"a", "b"}
	preview, err := privacy.Joined(ctx, &l, "both", parts)
	if err != nil || preview.Spent != 4*unit || preview.Releases != 4 {
		t.Errorf("preview %+v, %v, want 4 releases", preview, err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := privacy.Continue(ctx, &l, "both", parts, limit); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	a, err := privacy.VerifyLedger(ctx, &l, "both")
	if err != nil || a.Spent != 4*unit || a.Releases != 4 || *a.Cap != limit {
		t.Errorf("%+v, %v, want 4 releases and the cap", a, err)
	}
	if _, err := privacy.SetCap(ctx, &l, "a", limit.Budget); !errors.Is(err, privacy.ErrMoved) {
		t.Errorf("a cap on a scope that ended: %v, want ErrMoved", err)
	}
	if _, err := privacy.MarkWritten(ctx, &l, "a", "1", privacy.Digest{1}); err != nil {
		t.Errorf("a release that was paid for before is written: %v", err)
	}
	c := ledgertest.Charge("a", "2", "a", unit)
	if e, err := privacy.Spend(ctx, &l, c); err != nil || e.Scope != "a" {
		t.Errorf("the payment from before, again: %v, %v", e, err)
	}
	if paid, err := privacy.Paid(ctx, &l, c); err != nil || !paid {
		t.Errorf("the payment from before: %v, %v", paid, err)
	}
	c.Attempt = "another"
	if _, err := privacy.Spend(ctx, &l, c); !errors.Is(err, privacy.ErrReplay) {
		t.Errorf("another attempt at a release paid for before: %v, want ErrReplay", err)
	}
	if a, err := privacy.VerifyLedger(ctx, &l, "both"); err != nil || a.Spent != 4*unit {
		t.Errorf("after repetitions: %+v, %v", a, err)
	}
	for k, scope := range []string{"a", "b", "b"} {
		c := ledgertest.Charge(scope, fmt.Sprint("later ", k), "a", unit)
		e, err := privacy.Spend(ctx, &l, c)
		if k < 2 && (err != nil || e.Scope != "both") || k == 2 && !errors.Is(err, privacy.ErrExhausted) {
			t.Errorf("release %d of %q: from %q, %v, want two from the common account and no third", k, scope, e.Scope, err)
		}
		if paid, err := privacy.Paid(ctx, &l, c); err != nil || paid != (k < 2) {
			t.Errorf("release %d is paid: %v, %v", k, paid, err)
		}
	}
	for scope, want := range map[string]int64{"a": 3, "b": 2, "both": 6} {
		if a, err := privacy.SpentOn(ctx, &l, scope); err != nil || a.Releases != want || a.Spent != privacy.Cost(want)*unit {
			t.Errorf("%q spent %+v, %v, want %d releases wherever they were paid", scope, a, err, want)
		}
	}
	if entries, err := privacy.Releases(ctx, &l, "a"); err != nil || len(entries) != 4 || entries[3].ReleaseID != "later 0" {
		t.Errorf("entries about the releases of a: %+v, %v", entries, err)
	}
}

// overtaken lets another process do the same once an account is closed.
type overtaken struct {
	*privacy.MemoryLedger
	t    *testing.T
	done bool
}

func (l *overtaken) Update(ctx context.Context, scope, releaseID string, rule privacy.Rule) error {
	a, err := privacy.ReplayLedger(ctx, l.MemoryLedger, "a")
	if err != nil {
		return err
	}
	if a.MovedTo != "" && !l.done {
		l.done = true
		if err := privacy.Continue(ctx, l.MemoryLedger, a.MovedTo, []string{"a"}, privacy.Cap{Budget: budgetFor(l.t, 2)}); err != nil {
			return err
		}
	}
	return l.MemoryLedger.Update(ctx, scope, releaseID, rule)
}

// TestOvertakenContinue: the second adds nothing.
func TestOvertakenContinue(t *testing.T) {
	ctx := context.Background()
	l := &overtaken{MemoryLedger: new(privacy.MemoryLedger), t: t}
	pay(t, l, "a", "1")
	if err := privacy.Continue(ctx, l, "both", []string{"a"}, privacy.Cap{Budget: budgetFor(t, 2)}); err != nil || !l.done {
		t.Fatal(err, l.done)
	}
	if a, err := privacy.VerifyLedger(ctx, l, "both"); err != nil || a.Spent != unit || len(a.Continues) != 1 {
		t.Errorf("%+v, %v, want one release", a, err)
	}
}

// interrupted fails to store the entry with which another account goes on.
type interrupted struct{ *privacy.MemoryLedger }

func (l interrupted) Update(ctx context.Context, scope, releaseID string, rule privacy.Rule) error {
	return l.MemoryLedger.Update(ctx, scope, releaseID, func(a privacy.Account, prior []privacy.Entry) (*privacy.Entry, error) {
		e, err := rule(a, prior)
		if err == nil && e != nil && e.Kind == privacy.KindContinues {
			err = errors.New("killed")
		}
		return e, err
	})
}

// TestInterruptedContinue: an account that was closed and not added yet is added by the
// next that spends from it, and counted before by who only looks.
func TestInterruptedContinue(t *testing.T) {
	ctx := context.Background()
	var l privacy.MemoryLedger
	pay(t, &l, "a", "1")
	if err := privacy.Continue(ctx, interrupted{&l}, "both", []string{"a"}, privacy.Cap{Budget: budgetFor(t, 2)}); err == nil {
		t.Fatal("it was not interrupted")
	}
	if a, err := privacy.Paying(ctx, &l, "a"); err != nil || a.Scope != "both" || a.Spent != unit || a.Cap == nil {
		t.Errorf("seen before it is complete: %+v, %v", a, err)
	}
	pay(t, &l, "a", "2")
	if _, err := privacy.Spend(ctx, &l, ledgertest.Charge("a", "3", "a", unit)); !errors.Is(err, privacy.ErrExhausted) {
		t.Errorf("past the common cap: %v, want ErrExhausted", err)
	}
	if a, err := privacy.VerifyLedger(ctx, &l, "both"); err != nil || a.Spent != 2*unit {
		t.Errorf("%+v, %v, want both releases", a, err)
	}
}

// TestContinueTwice: an account that goes on by way of another pays at the end of the way.
func TestContinueTwice(t *testing.T) {
	ctx := context.Background()
	var l privacy.MemoryLedger
	pay(t, &l, "a", "1")
	for _, step := range [][2]string{{"some", "a"}, {"all", "some"}} {
		must.Do(t, privacy.Continue(ctx, &l, step[0], []string{step[1]}, privacy.Cap{Budget: budgetFor(t, 5)}))
	}
	if e, err := privacy.Spend(ctx, &l, ledgertest.Charge("a", "2", "a", unit)); err != nil || e.Scope != "all" {
		t.Errorf("paid from %q, %v", e.Scope, err)
	}
	if a, err := privacy.VerifyLedger(ctx, &l, "all"); err != nil || a.Spent != 2*unit {
		t.Errorf("%+v, %v", a, err)
	}
	for keep := range 2 {
		if _, err := privacy.VerifyLedger(ctx, forgetful{&l, "a", keep}, "all"); !errors.Is(err, privacy.ErrChain) {
			t.Errorf("with %d of the first account's 2 entries: %v, want ErrChain", keep, err)
		}
	}
}

// TestContinueRefuses what cannot be added up, and changes nothing.
func TestContinueRefuses(t *testing.T) {
	ctx := context.Background()
	var l privacy.MemoryLedger
	limit := privacy.Cap{Budget: budgetFor(t, 5)}
	pay(t, &l, "joint", "1")
	c := ledgertest.Charge("each", "1", "a", unit)
	c.Guarantee, c.Sensors = privacy.PerSensor, map[string]privacy.Cost{"s": unit}
	must.Get(privacy.Spend(ctx, &l, c))(t)
	for name, from := range map[string][]string{"two guarantees": {"joint", "each"}, "itself": {"joint", "new"}} {
		if err := privacy.Continue(ctx, &l, "new", from, limit); !errors.Is(err, privacy.ErrJoin) {
			t.Errorf("%s: %v, want ErrJoin", name, err)
		}
	}
	if err := privacy.Continue(ctx, &l, "new", []string{"joint"}, privacy.Cap{}); err == nil {
		t.Error("scopes were joined under no cap")
	}
	if entries, err := l.Entries(ctx, "new"); err != nil || len(entries) != 0 {
		t.Errorf("a refusal left %d entries, %v", len(entries), err)
	}
	pay(t, &l, "joint", "2") // it is open still
	must.Do(t, privacy.Continue(ctx, &l, "new", []string{"joint"}, limit))
	if err := privacy.Continue(ctx, &l, "elsewhere", []string{"joint"}, limit); !errors.Is(err, privacy.ErrJoin) {
		t.Errorf("a scope that goes on in another: %v, want ErrJoin", err)
	}
	if err := privacy.Continue(ctx, &l, "joint", []string{"other"}, limit); !errors.Is(err, privacy.ErrMoved) {
		t.Errorf("into a scope that goes on in another: %v, want ErrMoved", err)
	}
}

// misdirected books what is charged to one scope in the chain of another.
type misdirected struct {
	*privacy.MemoryLedger
	to string
}

func (l misdirected) Update(ctx context.Context, _, releaseID string, rule privacy.Rule) error {
	return l.MemoryLedger.Update(ctx, l.to, releaseID, rule)
}

// TestChargesStayWithTheirScope: no account holds a charge of a scope that does not go on
// in it, no matter who put it there.
func TestChargesStayWithTheirScope(t *testing.T) {
	ctx := context.Background()
	var l privacy.MemoryLedger
	must.Get(privacy.SetCap(ctx, &l, "mine", privacy.Budget{Epsilon: 1, Delta: 1e-5}))(t)
	if _, err := privacy.Spend(ctx, misdirected{&l, "other"}, ledgertest.Charge("mine", "1", "a", unit)); !errors.Is(err,
		privacy.ErrChain) {
		t.Errorf("a charge counted elsewhere: %v, want ErrChain", err)
	}
	if entries, err := l.Entries(ctx, "other"); err != nil || len(entries) != 0 {
		t.Errorf("it left %d entries, %v", len(entries), err)
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
	must.Do(t, privacy.Continue(ctx, &l, "new", []string{"old"}, privacy.Cap{Budget: budgetFor(t, 5)}))
	for keep := range 4 {
		_, err := privacy.VerifyLedger(ctx, forgetful{&l, "old", keep}, "new")
		if keep < 3 && !errors.Is(err, privacy.ErrChain) || keep == 3 && err != nil {
			t.Errorf("with %d of 3 entries: %v", keep, err)
		}
	}
}

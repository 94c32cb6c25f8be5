// SPDX-License-Identifier: Apache-2.0

// Package ledgertest holds the conformance suite that every ledger passes: [Run].
package ledgertest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/privacy"
)

// Run checks a ledger, in scopes that nobody else uses. open is called again where the
// suite wants to see what was stored, or another writer; it may return the same ledger.
func Run(t *testing.T, open func(t *testing.T) privacy.Ledger) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, func(*testing.T) privacy.Ledger)
	}{
		{"spend", spend},
		{"replay", replay},
		{"cap", limit},
		{"δ of a cap", capDelta},
		{"sliding", sliding},
		{"race", func(t *testing.T, open func(*testing.T) privacy.Ledger) { race(t, open, 0) }},
		{"sliding race", func(t *testing.T, open func(*testing.T) privacy.Ledger) { race(t, open, 30*86400) }},
		{"error", ruleError},
		{"states", states},
		{"perSensor", perSensor},
		{"perPerson", perPerson},
		{"scopes", scopes},
		{"cancelled", cancelled},
		{"names", names},
		{"identity", identity},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open) })
	}
}

// Charge returns a joint charge of so many units at a generous budget.
func Charge(scope, id, attempt string, cost privacy.Cost) privacy.Charge {
	return privacy.Charge{
		Scope: scope, ReleaseID: id, Attempt: attempt, Plan: privacy.Digest{1},
		Budget: privacy.Budget{Epsilon: 1000, Delta: 0.5}, Cost: cost,
	}
}

// newScope returns a name that no ledger has yet.
func newScope() string { return rand.Text() }

const unit privacy.Cost = 1 << 30 // ρ = 2⁻¹⁰

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// verified returns the account after a fresh open and a replay of its chain.
func verified(t *testing.T, open func(*testing.T) privacy.Ledger, scope string) privacy.Account {
	t.Helper()
	return must[privacy.Account](t)(privacy.VerifyLedger(context.Background(), open(t), scope))
}

func spend(t *testing.T, open func(*testing.T) privacy.Ledger) {
	scope := newScope()
	ctx, l := context.Background(), open(t)
	for i := range 5 {
		e := must[privacy.Entry](t)(privacy.Spend(ctx, l, Charge(scope, fmt.Sprint("r", i), "a", unit)))
		if e.Seq != int64(i+1) || e.Kind != privacy.KindSpent {
			t.Errorf("entry %d has seq %d, kind %s", i, e.Seq, e.Kind)
		}
	}
	a := verified(t, open, scope)
	if a.Spent != 5*unit || a.Releases != 5 || a.Cap != nil {
		t.Errorf("account %+v, want 5 releases of %d", a, unit)
	}
}

func replay(t *testing.T, open func(*testing.T) privacy.Ledger) {
	scope := newScope()
	ctx, l := context.Background(), open(t)
	c := Charge(scope, "r", "mine", unit)
	first := must[privacy.Entry](t)(privacy.Spend(ctx, l, c))
	again := must[privacy.Entry](t)(privacy.Spend(ctx, l, c))
	if first.Hash != again.Hash {
		t.Error("the same attempt got another entry")
	}
	other := c
	other.Attempt = "theirs"
	if _, err := privacy.Spend(ctx, l, other); !errors.Is(err, privacy.ErrReplay) {
		t.Errorf("another attempt: %v, want ErrReplay", err)
	}
	other = c
	other.Cost--
	if _, err := privacy.Spend(ctx, l, other); !errors.Is(err, privacy.ErrReplay) {
		t.Errorf("the same attempt at another cost: %v, want ErrReplay", err)
	}
	if a := verified(t, open, scope); a.Spent != unit {
		t.Errorf("spent %d, want %d", a.Spent, unit)
	}
}

// budgetFor returns a cap with room for n units and not for n + 1.
func budgetFor(t *testing.T, n privacy.Cost) privacy.Budget {
	eps := must[float64](t)((n*unit + unit/2).Epsilon(1e-6))
	return privacy.Budget{Epsilon: eps, Delta: 1e-6}
}

func limit(t *testing.T, open func(*testing.T) privacy.Ledger) {
	scope := newScope()
	ctx, l := context.Background(), open(t)
	must[privacy.Entry](t)(privacy.SetCap(ctx, l, scope, budgetFor(t, 3)))
	for i := range 5 {
		_, err := privacy.Spend(ctx, l, Charge(scope, fmt.Sprint("r", i), "a", unit))
		if i < 3 && err != nil || i >= 3 && !errors.Is(err, privacy.ErrExhausted) {
			t.Errorf("release %d: %v", i, err)
		}
	}
	a := verified(t, open, scope)
	if left, ok := a.Remaining(); !ok || left >= unit || a.Spent != 3*unit {
		t.Errorf("spent %d, left %d", a.Spent, left)
	}
	must[privacy.Entry](t)(privacy.SetCap(ctx, l, scope, budgetFor(t, 4)))
	must[privacy.Entry](t)(privacy.Spend(ctx, l, Charge(scope, "later", "a", unit)))
	if a := verified(t, open, scope); a.Spent != 4*unit || a.Entries != 6 {
		t.Errorf("after raising the cap: %+v", a)
	}
}

// capDelta: neither half of a release's budget may be above the cap's, however little the other half is.
func capDelta(t *testing.T, open func(*testing.T) privacy.Ledger) {
	scope := newScope()
	ctx, l := context.Background(), open(t)
	must[privacy.Entry](t)(privacy.SetCap(ctx, l, scope, privacy.Budget{Epsilon: 1, Delta: 1e-5}))
	for id, b := range map[string]privacy.Budget{"δ": {Epsilon: 1, Delta: .1}, "ε": {Epsilon: 4, Delta: 1e-5}} {
		c := Charge(scope, id, "a", 1)
		c.Budget, c.Cost = b, must[privacy.Cost](t)(privacy.CostOf(1/must[float64](t)(privacy.Analytic{}.Sigma(b, 1))))
		if _, err := privacy.Spend(ctx, l, c); !errors.Is(err, privacy.ErrOverBudget) {
			t.Errorf("a first release of (%v, %v) under a cap of (1, 1e-5): %v, want ErrOverBudget", b.Epsilon, b.Delta, err)
		}
	}
}

// sliding spends within a window, which is kept with its cap and its times.
func sliding(t *testing.T, open func(*testing.T) privacy.Ledger) {
	scope := newScope()
	const window = 30 * 86400
	ctx, l := context.Background(), open(t)
	must[privacy.Entry](t)(privacy.SetSlidingCap(ctx, l, scope, privacy.Cap{Budget: budgetFor(t, 2), PerSeconds: window}))
	var first privacy.Entry
	for i := range 2 {
		e := must[privacy.Entry](t)(privacy.Spend(ctx, l, Charge(scope, fmt.Sprint("r", i), "a", unit)))
		if i == 0 {
			first = e
		}
	}
	_, err := privacy.Spend(ctx, open(t), Charge(scope, "r2", "a", unit))
	if wait, ok := errors.AsType[*privacy.WaitError](err); !ok || wait.Until.Unix() != first.Time.Add(time.Second-1).Unix()+window {
		t.Errorf("past the cap: %v, want to wait until a window has passed since %v", err, first.Time)
	}
	a := verified(t, open, scope)
	if a.Cap == nil || a.Cap.PerSeconds != window || a.Latest.Before(first.Time) || first.Time.IsZero() {
		t.Errorf("account %+v, want the cap with its window and the time of the newest entry", a)
	}
}

// race lets 16 writers, each with a ledger of its own, make 8 attempts at 40 places. Every other release is one
// that all of them start, as a job does that is scheduled on many machines: it is granted to one.
func race(t *testing.T, open func(*testing.T) privacy.Ledger, perSeconds int64) {
	const writers, attempts, places = 16, 8, 40
	ctx, l, scope := context.Background(), open(t), newScope()
	must[privacy.Entry](t)(privacy.SetSlidingCap(ctx, l, scope, privacy.Cap{Budget: budgetFor(t, places), PerSeconds: perSeconds}))
	var wg sync.WaitGroup
	granted := make([]int, writers)
	for w := range writers {
		l := open(t)
		wg.Go(func() {
			for i := range attempts {
				id := fmt.Sprintf("w%d-%d", w*(i%2), i)
				_, err := privacy.Spend(ctx, l, Charge(scope, id, fmt.Sprint(w), unit))
				switch {
				case err == nil:
					granted[w]++
				case !errors.Is(err, privacy.ErrExhausted) && (i%2 == 1 || !errors.Is(err, privacy.ErrReplay)):
					t.Errorf("release %s: %v", id, err)
				}
			}
		})
	}
	wg.Wait()
	sum := 0
	for _, g := range granted {
		sum += g
	}
	if a := verified(t, open, scope); sum != places || a.Releases != places {
		t.Errorf("%d granted, %d recorded, want %d", sum, a.Releases, places)
	}
}

func ruleError(t *testing.T, open func(*testing.T) privacy.Ledger) {
	scope := newScope()
	ctx, l, boom := context.Background(), open(t), errors.New("boom")
	err := l.Update(ctx, scope, "r", func(privacy.Account, []privacy.Entry) (*privacy.Entry, error) { return nil, boom })
	if !errors.Is(err, boom) {
		t.Errorf("err = %v, want the rule's own", err)
	}
	if a := verified(t, open, scope); a.Entries != 0 {
		t.Errorf("a rule that failed left %d entries", a.Entries)
	}
}

func states(t *testing.T, open func(*testing.T) privacy.Ledger) {
	scope := newScope()
	ctx, l := context.Background(), open(t)
	x := privacy.Digest{42}
	if _, err := privacy.MarkWritten(ctx, l, scope, "r1", x); err == nil {
		t.Error("a release was written that nobody paid for")
	}
	must[privacy.Entry](t)(privacy.Spend(ctx, l, Charge(scope, "r1", "a", unit)))
	must[privacy.Entry](t)(privacy.MarkWritten(ctx, l, scope, "r1", x))
	must[privacy.Entry](t)(privacy.MarkWritten(ctx, l, scope, "r1", x)) // a resumed write-back
	if _, err := privacy.MarkWritten(ctx, l, scope, "r1", privacy.Digest{43}); !errors.Is(err, privacy.ErrReplay) {
		t.Errorf("other values: %v, want ErrReplay", err)
	}
	if _, err := privacy.Spend(ctx, l, Charge(scope, "r1", "a", unit)); !errors.Is(err, privacy.ErrReplay) {
		t.Errorf("a written release was paid for again: %v", err)
	}
	must[privacy.Entry](t)(privacy.MarkRevealed(ctx, l, scope, "r1", x))
	must[privacy.Entry](t)(privacy.Spend(ctx, l, Charge(scope, "r2", "a", unit)))
	must[privacy.Entry](t)(privacy.MarkVoid(ctx, l, scope, "r2"))
	if _, err := privacy.MarkWritten(ctx, l, scope, "r2", x); !errors.Is(err, privacy.ErrReplay) {
		t.Errorf("a void release was written: %v", err)
	}
	if _, err := privacy.Spend(ctx, l, Charge(scope, "r2", "a", unit)); !errors.Is(err, privacy.ErrReplay) {
		t.Errorf("a void release was paid for again: %v", err)
	}
	if _, err := privacy.Paid(ctx, l, Charge(scope, "r2", "a", unit)); !errors.Is(err, privacy.ErrReplay) {
		t.Errorf("a void release may be drawn: %v", err)
	}
	if a := verified(t, open, scope); a.Spent != 2*unit {
		t.Errorf("spent %d, want %d: nothing is refunded", a.Spent, 2*unit)
	}
}

func perSensor(t *testing.T, open func(*testing.T) privacy.Ledger) {
	scope := newScope()
	ctx, l := context.Background(), open(t)
	must[privacy.Entry](t)(privacy.SetCap(ctx, l, scope, budgetFor(t, 3)))
	charge := func(id string, sensors map[string]privacy.Cost) error {
		c := Charge(scope, id, "a", unit)
		c.Guarantee, c.Sensors = privacy.PerSensor, sensors
		_, err := privacy.Spend(ctx, l, c)
		return err
	}
	for i := range 3 {
		if err := charge(fmt.Sprint(i), map[string]privacy.Cost{"a": unit, "b": unit / 4}); err != nil {
			t.Fatal(err)
		}
	}
	if err := charge("3", map[string]privacy.Cost{"b": unit}); err != nil {
		t.Errorf("sensor b has room: %v", err)
	}
	if err := charge("4", map[string]privacy.Cost{"a": unit, "c": 1}); !errors.Is(err, privacy.ErrExhausted) {
		t.Errorf("sensor a has none: %v", err)
	}
	if _, err := privacy.Spend(ctx, l, Charge(scope, "joint", "a", unit)); err == nil {
		t.Error("a joint release went into a perSensor scope")
	}
	if a := verified(t, open, scope); a.Sensors["a"] != 3*unit || a.Sensors["b"] != 2*unit-unit/4 || a.Spent != 3*unit {
		t.Errorf("sensors %v", a.Sensors)
	}
}

// perPerson: ε adds for each person without rounding, so that a cap of 2ε holds two rounds of answers.
func perPerson(t *testing.T, open func(*testing.T) privacy.Ledger) {
	const eps = 0.7 // no multiple of the unit
	scope := newScope()
	ctx, l := context.Background(), open(t)
	cost := must[privacy.Cost](t)(privacy.PureCost(eps))
	must[privacy.Entry](t)(privacy.SetCap(ctx, l, scope, privacy.Budget{Epsilon: 2 * eps, Delta: 0.1}))
	charge := func(id string, people ...string) error {
		c := Charge(scope, id, "a", cost)
		c.Guarantee, c.Budget, c.Sensors = privacy.PerPerson, privacy.Budget{Epsilon: eps}, make(map[string]privacy.Cost)
		for _, person := range people {
			c.Sensors[person] = cost
		}
		_, err := privacy.Spend(ctx, l, c)
		return err
	}
	for i, people := range [][]string{{"a", "b"}, {"a"}, {"b", "c"}} {
		if err := charge(fmt.Sprint(i), people...); err != nil {
			t.Fatal(err)
		}
	}
	if err := charge("3", "c", "a"); !errors.Is(err, privacy.ErrExhausted) {
		t.Errorf("a person answers a third time: %v", err)
	}
	a := verified(t, open, scope)
	if a.Sensors["a"] != 2*cost || a.Sensors["b"] != 2*cost || a.Sensors["c"] != cost || a.Guarantee != privacy.PerPerson {
		t.Errorf("a %v account of %v, want perPerson with 2, 2 and 1 times %d", a.Guarantee, a.Sensors, cost)
	}
	if got := must[float64](t)(a.Epsilon(0.1)); got != 2*cost.PureEpsilon() {
		t.Errorf("ε is %v, want %v", got, 2*cost.PureEpsilon())
	}
}

func scopes(t *testing.T, open func(*testing.T) privacy.Ledger) {
	ctx, l := context.Background(), open(t)
	name := newScope()
	if a := must[privacy.Account](t)(privacy.ReadAccount(ctx, l, name+" none")); a.Entries != 0 {
		t.Errorf("a new account: %+v", a)
	}
	for _, s := range []string{name + " z", name + " a"} {
		must[privacy.Entry](t)(privacy.Spend(ctx, l, Charge(s, "same id", "a", unit)))
	}
	var found []string
	for _, s := range must[[]string](t)(open(t).Scopes(ctx)) {
		if strings.HasPrefix(s, name) {
			found = append(found, s)
		}
	}
	if len(found) != 2 || found[0] != name+" a" {
		t.Errorf("scopes %v", found)
	}
	must[privacy.Entry](t)(privacy.MarkVoid(ctx, l, name+" a", "same id"))
	all := must[map[string][]privacy.Entry](t)(open(t).All(ctx))
	for _, s := range found {
		if want := must[[]privacy.Entry](t)(l.Entries(ctx, s)); len(want) == 0 || !reflect.DeepEqual(all[s], want) {
			t.Errorf("of all chains, that of %q is %v, want %v", s, all[s], want)
		}
	}
	if e := must[[]privacy.Entry](t)(l.Entries(ctx, name+" none")); len(e) != 0 {
		t.Errorf("a new scope has %d entries", len(e))
	}
}

func cancelled(t *testing.T, open func(*testing.T) privacy.Ledger) {
	scope := newScope()
	l := open(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := privacy.Spend(ctx, l, Charge(scope, "r", "a", unit)); err == nil {
		t.Error("a cancelled spend was granted")
	}
	if a := verified(t, open, scope); a.Entries != 0 {
		t.Errorf("a cancelled spend left %d entries", a.Entries)
	}
}

// names uses ids that a store could mistake.
func names(t *testing.T, open func(*testing.T) privacy.Ledger) {
	ctx, l := context.Background(), open(t)
	for _, s := range []string{"`; DROP", "a/../b", "ключ 🔑", `{"x":1}`, "names'"} {
		s += newScope()
		c := Charge(s, s, s, unit)
		must[privacy.Entry](t)(privacy.Spend(ctx, l, c))
		must[privacy.Entry](t)(privacy.MarkWritten(ctx, l, s, s, privacy.Digest{}))
		if a := verified(t, open, s); a.Spent != unit || a.Scope != s {
			t.Errorf("scope %q: %+v", s, a)
		}
	}
	for _, bad := range []string{"", "a\x00b", "a\nb", string(make([]byte, 2000)), "\xff"} {
		c := Charge(newScope(), bad, "a", unit)
		if _, err := privacy.Spend(ctx, l, c); err == nil {
			t.Errorf("release id %q was accepted", bad)
		}
		c = Charge(bad, "r", "a", unit)
		if _, err := privacy.Spend(ctx, l, c); err == nil {
			t.Errorf("scope %q was accepted", bad)
		}
	}
}

// identity is drawn with the first entry and stays.
func identity(t *testing.T, open func(*testing.T) privacy.Ledger) {
	scope := newScope()
	ctx, l := context.Background(), open(t)
	must[privacy.Entry](t)(privacy.Spend(ctx, l, Charge(scope, "r1", "a", unit)))
	first := must[privacy.Identity](t)(l.Identity(ctx))
	if first.Ledger == "" {
		t.Fatal("after an entry the ledger has no identity")
	}
	must[privacy.Entry](t)(privacy.Spend(ctx, l, Charge(newScope(), "r1", "a", unit)))
	if again := must[privacy.Identity](t)(open(t).Identity(ctx)); again != first {
		t.Errorf("the identity changed from %+v to %+v", first, again)
	}
}

// SPDX-License-Identifier: Apache-2.0

package privacy_test

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/ledgertest"
)

const (
	day   = 24 * time.Hour
	month = 30 * day
)

// epoch is when the tests begin.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// clocked is a ledger whose clock the test sets.
type clocked struct {
	privacy.MemoryLedger
	t   *testing.T
	now time.Time
}

func newClocked(t *testing.T) *clocked {
	return &clocked{t: t, now: epoch}
}

func (l *clocked) Now(context.Context) (time.Time, error) { return l.now, nil }

// limit caps a scope at so many units in any time as long as per.
func (l *clocked) limit(scope string, units privacy.Cost, per time.Duration) {
	l.t.Helper()
	eps, err := (units*unit + unit/2).Epsilon(1e-6)
	if err != nil {
		l.t.Fatal(err)
	}
	limit := privacy.Cap{Budget: privacy.Budget{Epsilon: eps, Delta: 1e-6}, PerSeconds: int64(per / time.Second)}
	if _, err := privacy.SetSlidingCap(context.Background(), l, scope, limit); err != nil {
		l.t.Fatal(err)
	}
}

// pay spends units at a time after the epoch.
func (l *clocked) pay(id string, units privacy.Cost, at time.Duration) error {
	l.now = epoch.Add(at)
	_, err := privacy.Spend(context.Background(), l, ledgertest.Charge("s", id, "a", units*unit))
	return err
}

func (l *clocked) mustPay(id string, units privacy.Cost, at time.Duration) {
	l.t.Helper()
	if err := l.pay(id, units, at); err != nil {
		l.t.Fatal(err)
	}
}

// mustWait wants a refusal that ends at a time after the epoch.
func (l *clocked) mustWait(id string, units privacy.Cost, at, until time.Duration) {
	l.t.Helper()
	err := l.pay(id, units, at)
	wait, ok := errors.AsType[*privacy.WaitError](err)
	if !ok || !errors.Is(err, privacy.ErrExhausted) || !wait.Until.Equal(epoch.Add(until)) {
		l.t.Errorf("at %v: %v, want to wait until %v", at, err, epoch.Add(until))
	}
}

// A release counts for as long as the window, to the moment, and the refusal names it.
// What all of them cost together only grows.
func TestSlidingCap(t *testing.T) {
	l := newClocked(t)
	l.limit("s", 3, month)
	for i := range 3 {
		l.mustPay(strconv.Itoa(i), 1, time.Duration(i)*day)
	}
	l.mustWait("more", 1, 3*day, month)
	l.mustWait("more", 2, 3*day, month+day)
	l.mustWait("more", 1, month-time.Millisecond, month)
	if err := l.pay("more", 4, 3*day); !errors.Is(err, privacy.ErrExhausted) || !errors.Is(err, privacy.ErrOverBudget) ||
		strings.Contains(err.Error(), "from") {
		t.Errorf("more than the cap: %v, want ErrOverBudget", err)
	}
	if err := l.pay("more", 2, 3*day); errors.Is(err, privacy.ErrOverBudget) {
		t.Errorf("more than what is left: %v, want no ErrOverBudget", err)
	}
	l.mustPay("more", 1, month)
	l.mustWait("again", 1, month, month+day)
	a, err := privacy.VerifyLedger(context.Background(), l, "s")
	if err != nil || a.Spent != 4*unit || a.Releases != 4 {
		t.Errorf("%+v, %v, want all four releases in the sum", a, err)
	}
	recent := l.recent(a)
	if left, ok := recent.Remaining(); !ok || left >= unit || recent.Releases != 3 {
		t.Errorf("recent %+v: %d units left, want less than one release", recent, left)
	}
}

func (l *clocked) recent(a privacy.Account) privacy.Account {
	l.t.Helper()
	entries, err := l.Entries(context.Background(), a.Scope)
	if err != nil {
		l.t.Fatal(err)
	}
	recent, err := a.Recent(entries, l.now)
	if err != nil {
		l.t.Fatal(err)
	}
	return recent
}

// A clock that goes back, and one that was ahead, make releases count for longer and
// never for shorter.
func TestClocksThatGoBack(t *testing.T) {
	l := newClocked(t)
	l.limit("s", 2, month)
	l.mustPay("a", 1, 10*day)
	l.mustPay("b", 1, -100*day) // it was spent after a, so not before it
	l.mustWait("c", 1, 11*day, 10*day+month)
	l.mustWait("c", 1, -1000*day, 10*day+month)
	l.mustPay("c", 1, 400*day) // the clock was ahead
	l.mustWait("d", 2, 41*day, 400*day+month)
	l.mustPay("d", 1, 41*day)
	l.mustWait("e", 1, 42*day, 400*day+month)
	entries := must.Get(l.Entries(context.Background(), "s"))(t)
	for i := range entries[1:] {
		if entries[i+1].Time.Before(entries[i].Time) || entries[i].Time.IsZero() {
			t.Errorf("entry %d of %v, then %v", i, entries[i].Time, entries[i+1].Time)
		}
	}
}

// A window that is made longer counts again what had left the shorter one; a cap
// without a window counts everything.
func TestWindowChanges(t *testing.T) {
	l := newClocked(t)
	l.limit("s", 2, month)
	l.mustPay("a", 2, 0)
	l.mustPay("b", 2, month)
	l.now = epoch.Add(2 * month)
	l.limit("s", 2, 2*month)
	l.mustWait("c", 2, 2*month, 3*month)
	l.limit("s", 4, 2*month+time.Second)
	l.mustWait("c", 4, 2*month, 3*month+time.Second)
	l.limit("s", 3, 0)
	if err := l.pay("c", 1, 100*month); !errors.Is(err, privacy.ErrExhausted) {
		t.Errorf("past a cap on everything: %v", err)
	}
	if _, ok := errors.AsType[*privacy.WaitError](l.pay("c", 1, 100*month)); ok {
		t.Error("a cap without a window makes wait")
	}
}

// Each sensor has a window of its own.
func TestSlidingCapOfSensors(t *testing.T) {
	l := newClocked(t)
	l.limit("s", 2, month)
	pay := func(id string, at time.Duration, sensors map[string]privacy.Cost) error {
		l.now = epoch.Add(at)
		c := ledgertest.Charge("s", id, "a", unit)
		c.Guarantee, c.Sensors = privacy.PerSensor, sensors
		_, err := privacy.Spend(context.Background(), l, c)
		return err
	}
	for i := range 2 {
		must.Do(t, pay(strconv.Itoa(i), time.Duration(i)*day, map[string]privacy.Cost{"a": unit, "b": unit / 4}))
	}
	if err := pay("b", 2*day, map[string]privacy.Cost{"b": unit}); err != nil {
		t.Errorf("sensor b has room: %v", err)
	}
	err := pay("a", 3*day, map[string]privacy.Cost{"a": unit, "c": 1})
	if wait, ok := errors.AsType[*privacy.WaitError](err); !ok || !wait.Until.Equal(epoch.Add(month)) {
		t.Errorf("sensor a: %v, want to wait until %v", err, epoch.Add(month))
	}
	if err := pay("a", month, map[string]privacy.Cost{"a": unit, "c": 1}); err != nil {
		t.Error(err)
	}
}

// TestSlidingCapModel moves the clock and spends at random, and holds every grant
// against a sum over all releases, each counted from the latest time that the clock
// had shown until it.
func TestSlidingCapModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		l := newClocked(t)
		room := privacy.Cost(rapid.IntRange(1, 6).Draw(r, "room"))
		l.limit("s", room, month)
		type release struct {
			units privacy.Cost
			at    time.Duration
		}
		var granted []release
		latest := time.Duration(0)
		for i := range rapid.IntRange(1, 30).Draw(r, "steps") {
			at := time.Duration(rapid.IntRange(-40, 120).Draw(r, "day")) * day
			units := privacy.Cost(rapid.IntRange(1, 3).Draw(r, "units"))
			sum := units
			for _, g := range granted {
				if g.at > at-month {
					sum += g.units
				}
			}
			err := l.pay(strconv.Itoa(i), units, at)
			if (err == nil) != (sum <= room) {
				r.Fatalf("day %v: %d units of %d in the window: %v", at/day, sum, room, err)
			}
			if wait, ok := errors.AsType[*privacy.WaitError](err); ok {
				r.Logf("wait until %v", wait.Until)
				if !wait.Until.After(l.now) {
					r.Fatalf("day %v: told to wait until %v", at/day, wait.Until)
				}
				at = wait.Until.Sub(epoch)
				if err := l.pay(strconv.Itoa(i), units, at); err != nil {
					r.Fatalf("after the wait: %v", err)
				}
				err = nil
			}
			if err == nil {
				latest = max(latest, at)
				granted = append(granted, release{units, latest})
			}
		}
	})
}

// TestCapsWithoutSense: a window is bounded, and its numbers are those of a budget.
func TestCapsWithoutSense(t *testing.T) {
	l := newClocked(t)
	for _, limit := range []privacy.Cap{
		{Budget: privacy.Budget{Epsilon: 1, Delta: 1e-5}, PerSeconds: -1},
		{Budget: privacy.Budget{Epsilon: 1, Delta: 1e-5}, PerSeconds: math.MaxInt64},
		{Budget: privacy.Budget{Epsilon: math.NaN(), Delta: 1e-5}, PerSeconds: 1},
	} {
		if _, err := privacy.SetSlidingCap(context.Background(), l, "s", limit); err == nil {
			t.Errorf("%v was accepted", limit)
		}
	}
	limit := privacy.Cap{Budget: privacy.Budget{Epsilon: 1, Delta: 1e-5}, PerSeconds: privacy.MaxWindow}
	if _, err := privacy.SetSlidingCap(context.Background(), l, "s", limit); err != nil {
		t.Error(err)
	}
	l.mustPay("a", 1, 0)
}

// A ledger whose clock does not answer grants nothing.
func TestClockThatFails(t *testing.T) {
	l := clockless{new(privacy.MemoryLedger)}
	if _, err := privacy.Spend(context.Background(), l, ledgertest.Charge("s", "a", "a", unit)); !errors.Is(err, errClock) {
		t.Errorf("%v, want the clock's error", err)
	}
	if entries, err := l.Entries(context.Background(), "s"); err != nil || len(entries) != 0 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
}

var errClock = errors.New("no time")

type clockless struct{ *privacy.MemoryLedger }

func (clockless) Now(context.Context) (time.Time, error) { return time.Time{}, errClock }

// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/internal/must"
)

// undated is a chain of n releases as an earlier version wrote it.
func undated(t *testing.T, n int) (Account, []Entry) {
	t.Helper()
	a := NewAccount("s")
	var entries []Entry
	for i := range n {
		e := must.Get(a.charge(Charge{Scope: "s", ReleaseID: strconv.Itoa(i), Attempt: "a", Budget: Budget{1, 1e-5}, Cost: 1000}, nil))(t)
		a = must.Get(a.Append(*e))(t)
		entries = append(entries, *e)
	}
	return a, entries
}

// Releases of a version that kept no times count until the next entry that has one
// leaves the window; before there is one, they count always.
func TestUndatedReleasesCount(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	a, entries := undated(t, 3)
	limit := Cap{Budget{1, 1e-5}, 3600}
	capped := a
	capped.Cap = &limit
	if recent, err := capped.Recent(entries, now.AddDate(1000, 0, 0)); err != nil || recent.Spent != 3000 {
		t.Errorf("%+v, %v, want all three", recent, err)
	}
	e := a.stamp(*a.next(Entry{Kind: KindCap, Cap: &limit}), now)
	dated := must.Get(a.Append(e))(t)
	entries = append(entries, e)
	for after, want := range map[time.Duration]Cost{time.Hour - 1: 3000, time.Hour: 0} {
		recent, err := dated.Recent(entries, now.Add(after))
		if err != nil || recent.Spent != want {
			t.Errorf("%v later: %d, %v, want %d", after, recent.Spent, err, want)
		}
	}
}

// A chain whose times go back, or were changed, is broken, however sound its hashes.
func TestTimesOfAChain(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	a, entries := undated(t, 1)
	for i := range 2 {
		e := a.stamp(*a.next(Entry{Kind: KindVoid, ReleaseID: strconv.Itoa(i)}), now.Add(time.Duration(i)*time.Hour))
		a = must.Get(a.Append(e))(t)
		entries = append(entries, e)
	}
	must.Get(Replay("s", entries))(t)
	for name, to := range map[string]time.Time{"earlier": now.Add(-time.Hour), "later": now.Add(time.Minute), "none": {}} {
		forged := append([]Entry(nil), entries...)
		forged[2].Time = to
		if _, err := Replay("s", forged); !errors.Is(err, ErrChain) {
			t.Errorf("%s: %v, want ErrChain", name, err)
		}
		forged[2].Hash = forged[2].hash()
		if _, err := Replay("s", forged); (name == "earlier") != errors.Is(err, ErrChain) {
			t.Errorf("%s, with a hash of its own: %v", name, err)
		}
	}
}

// Of two caps none allows what the lower one does not: for ever is the longest window.
func TestLowerCap(t *testing.T) {
	b := Budget{1, 1e-5}
	for _, c := range []struct{ a, b, want int64 }{{0, 60, 0}, {60, 0, 0}, {60, 3600, 3600}, {0, 0, 0}} {
		if got := stricterCap(&Cap{b, c.a}, &Cap{b, c.b}); got.PerSeconds != c.want {
			t.Errorf("%d s and %d s: %d s, want %d", c.a, c.b, got.PerSeconds, c.want)
		}
	}
	for _, c := range [][2]Budget{{{1, 1e-5}, {2, 1e-9}}, {{2, 1e-9}, {1, 1e-5}}} {
		if got := stricterCap(&Cap{Budget: c[0]}, &Cap{Budget: c[1]}); got.Budget != (Budget{1, 1e-9}) {
			t.Errorf("of %v the lower cap is %v", c, got.Budget)
		}
	}
}

// The difference of two accounts that are not one before the other is refused.
func TestSince(t *testing.T) {
	a, _ := undated(t, 2)
	b, _ := undated(t, 3)
	if _, err := a.since(b); !errors.Is(err, ErrChain) {
		t.Errorf("%v, want ErrChain", err)
	}
}

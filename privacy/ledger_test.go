// SPDX-License-Identifier: Apache-2.0

package privacy_test

import (
	"context"
	"errors"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/ledgertest"
)

func TestLedger(t *testing.T) {
	var l privacy.MemoryLedger
	ledgertest.Run(t, func(*testing.T) privacy.Ledger { return &l })
}

// misdirected books what is charged to one scope in the chain of another.
type misdirected struct {
	*privacy.MemoryLedger
	to string
}

func (l misdirected) Update(ctx context.Context, _, releaseID string, rule privacy.Rule) error {
	return l.MemoryLedger.Update(ctx, l.to, releaseID, rule)
}

// TestChargesStayWithTheirScope: no account holds a charge of another scope, no matter
// who put it there.
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

// TestReplayFindsTampering changes one thing at a time in a sound chain.
func TestReplayFindsTampering(t *testing.T) {
	ctx := context.Background()
	var l privacy.MemoryLedger
	must.Get(privacy.SetCap(ctx, &l, "s", privacy.Budget{Epsilon: 3, Delta: 1e-5}))(t)
	for _, id := range []string{"a", "b", "c"} {
		must.Get(privacy.Spend(ctx, &l, ledgertest.Charge("s", id, "x", 1<<20)))(t)
	}
	entries := func() []privacy.Entry {
		e := must.Get(l.Entries(ctx, "s"))(t)
		for i := range e {
			if e[i].Charge != nil {
				c := *e[i].Charge
				e[i].Charge = &c
			}
		}
		return e
	}
	must.Get(privacy.Replay("s", entries()))(t)
	for name, tamper := range map[string]func([]privacy.Entry) []privacy.Entry{
		"cheaper":   func(e []privacy.Entry) []privacy.Entry { e[1].Charge.Cost--; return e },
		"dropped":   func(e []privacy.Entry) []privacy.Entry { return append(e[:2:2], e[3]) },
		"reordered": func(e []privacy.Entry) []privacy.Entry { e[1], e[2] = e[2], e[1]; return e },
		"first cut": func(e []privacy.Entry) []privacy.Entry { return e[1:] },
		"cap": func(e []privacy.Entry) []privacy.Entry {
			e[0].Cap = &privacy.Cap{Budget: privacy.Budget{Epsilon: 9, Delta: 1e-5}}
			return e
		},
		"emptied": func(e []privacy.Entry) []privacy.Entry { e[3].Charge = nil; return e },
		"renamed": func(e []privacy.Entry) []privacy.Entry { e[2].ReleaseID = "z"; return e },
	} {
		if _, err := privacy.Replay("s", tamper(entries())); !errors.Is(err, privacy.ErrChain) {
			t.Errorf("%s: %v, want ErrChain", name, err)
		}
	}
	if _, err := privacy.Replay("another", entries()); !errors.Is(err, privacy.ErrChain) {
		t.Errorf("entries of another scope: %v, want ErrChain", err)
	}
}

// TestFirstReleaseMaySpendTheCap: the cap is the release's own budget.
func TestFirstReleaseMaySpendTheCap(t *testing.T) {
	ctx := context.Background()
	var l privacy.MemoryLedger
	for _, b := range []privacy.Budget{{Epsilon: 4, Delta: 0.1}, {Epsilon: 1e-6, Delta: 1e-300}, {Epsilon: 1e3, Delta: 1e-5}} {
		sigma := must.Get(privacy.Analytic{}.Sigma(b, 1))(t)
		cost := must.Get(privacy.CostOf(1 / sigma))(t)
		scope := privacy.NewAttempt()
		must.Get(privacy.SetCap(ctx, &l, scope, b))(t)
		c := ledgertest.Charge(scope, "1", "a", cost)
		c.Budget = b
		if _, err := privacy.Spend(ctx, &l, c); err != nil {
			t.Errorf("%+v: the first release: %v", b, err)
		}
		c.ReleaseID = "2"
		if _, err := privacy.Spend(ctx, &l, c); !errors.Is(err, privacy.ErrExhausted) {
			t.Errorf("%+v: the second release: %v, want ErrExhausted", b, err)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/privacy"
)

// testFence takes a tick away from a writer at each of its steps: it changes nothing from
// then on, neither on a node, nor in a record, nor in the ledger.
func testFence(t *testing.T, s Suite) {
	st, g := opened(t, s)
	other, job, scope := s.Reopen(t, st), "fence "+token(), "scope "+token()
	cost := room(t, st.Ledger(), scope) / 4
	table := Table(t, g, runID(t, "fence"), prefix)
	spend := func(ctx context.Context, release string) error {
		_, err := privacy.Spend(ctx, st.Ledger(), charge(scope, release, "attempt", cost))
		return err
	}

	first := claimed(t, s.Jobs(st), tick(job, 0), longLease)
	ctx := jobs.Fence{Tick: first.Tick, Token: first.Token}.Within(t.Context())
	if err := errors.Join(st.Reserve(ctx, g, table, false), spend(ctx, "own")); err != nil {
		t.Fatalf("the holder: %v", err)
	}

	if _, err := s.Jobs(other).Cancel(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	is(t, "a spend after somebody asked for the end", spend(ctx, "cancelled"), jobs.ErrCanceled)
	is(t, "a write after somebody asked for the end", st.Write(ctx, g, table, false), jobs.ErrCanceled)

	if err := s.Jobs(st).Yield(t.Context(), first.Tick, first.Token, time.Time{}, ""); err != nil {
		t.Fatal(err)
	}
	second := claimed(t, s.Jobs(other), first.Tick, longLease)
	late := func() {
		t.Helper()
		is(t, "a late spend", spend(ctx, "late"), jobs.ErrLost)
		is(t, "a late write", st.Write(ctx, g, table, false), jobs.ErrLost)
		is(t, "a late mark", markWritten(ctx, st, scope), jobs.ErrLost)
		_, err := st.Undo(ctx, table.RunID())
		is(t, "a late undo", err, jobs.ErrLost)
	}
	late()
	is(t, "a late cancellation", st.Cancel(ctx, table.RunID()), jobs.ErrLost)
	nothing(t, st, g, table)
	status(t, st, table.RunID(), jobs.Reserved)

	own := jobs.Fence{Tick: second.Tick, Token: second.Token, GivingUp: true}.Within(t.Context())
	if err := st.Write(own, g, table, false); err != nil {
		t.Fatal(err)
	}
	if err := s.Jobs(other).Finish(t.Context(), second.Tick, second.Token, jobs.Outcome{Status: jobs.Finished}); err != nil {
		t.Fatal(err)
	}
	newer := Table(t, g, runID(t, "newer"), prefix)
	write(t, st, g, newer)
	late()
	is(t, "a late reservation", st.Reserve(ctx, g, Table(t, g, runID(t, "stray"), prefix), false), jobs.ErrLost)
	holds(t, st, g, newer)
	status(t, st, table.RunID(), jobs.Finished)
	a, err := privacy.VerifyLedger(t.Context(), st.Ledger(), scope)
	if err != nil || a.Releases != 1 || a.Spent != cost {
		t.Errorf("the ledger holds %+v, %v, want the one release of the holder", a, err)
	}
}

func markWritten(ctx context.Context, st Store, scope string) error {
	_, err := privacy.MarkWritten(ctx, st.Ledger(), scope, "own", privacy.Digest{1})
	return err
}

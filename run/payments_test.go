// SPDX-License-Identifier: Apache-2.0

package run_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
)

// payFor pays for a release of the data of a scope.
func payFor(t *testing.T, l privacy.Ledger, scope, id string) error {
	t.Helper()
	_, err := privacy.Spend(t.Context(), l, privacy.Charge{
		Scope: scope, ReleaseID: id, Attempt: "attempt-" + id, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-5}, Cost: 1000,
	})
	return err
}

// clocked is a ledger with a clock of the test's.
type clocked struct {
	privacy.Ledger
	clock *time.Time
}

func (l clocked) Now(context.Context) (time.Time, error) { return *l.clock, nil }

// TestPayments: what a ledger says of the releases of some data: which is the latest one that is finished, which are not, and what
// became of each.
func TestPayments(t *testing.T) {
	ctx := t.Context()
	clock := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	l := clocked{new(privacy.MemoryLedger), &clock}
	for _, id := range []string{"written", "void", "open", "late"} { // a day each
		clock = clock.Add(24 * time.Hour)
		must.Do(t, payFor(t, l, "data", id))
	}
	if err := payFor(t, l, "other", "written"); err != nil { // other data may have a release of the same name
		t.Fatal(err)
	}
	must.Get(privacy.MarkWritten(ctx, l, "data", "written", privacy.Digest{1}))(t)
	if found, err := run.Void(ctx, l, "data", "void"); !found || err != nil {
		t.Fatalf("void: %v, %v", found, err)
	}
	for _, id := range []string{"void", "written", "unknown"} {
		if found, err := run.Void(ctx, l, "data", id); found || err != nil {
			t.Errorf("%s is given up (%v, %v), and was not open", id, found, err)
		}
	}
	paid := must.Get(run.PaymentsOf(ctx, l, "data"))(t)
	first := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	for after, want := range map[time.Time]string{{}: "open late", first.Add(50 * time.Hour): "late", clock: ""} {
		got := ""
		for _, e := range paid.Unfinished(after) {
			got += " " + e.ReleaseID
		}
		if got != "" && got[1:] != want || got == "" && want != "" {
			t.Errorf("unfinished after %v: %q, want %q", after, got, want)
		}
	}
	for after, want := range map[time.Time]bool{first.Add(-time.Second): true, first: false} { // when it was paid for, not when written
		if e, ok := paid.Finished(after); ok != want || ok && e.ReleaseID != "written" {
			t.Errorf("finished after %v: %v %v", after, e, ok)
		}
	}
	all := must.Get(run.PaymentsOf(ctx, l, ""))(t)
	for id, want := range map[string]privacy.Kind{"written": privacy.KindWritten, "void": privacy.KindVoid} {
		if about := all.About(id); len(about) != 2 || about[1].Kind != want || about[1].Scope != "data" {
			t.Errorf("%s: %+v", id, about)
		}
	}
	if open := all.Unfinished(time.Time{}); len(open) != 3 || open[2].Scope != "other" {
		t.Errorf("of all data unfinished: %+v", open)
	}
}

// TestOnce: once another release of the same data was paid for, nothing is paid.
func TestOnce(t *testing.T) {
	ctx := t.Context()
	for other, want := range map[string]error{"data": run.ErrPaidMeanwhile, "elsewhere": nil} {
		var l privacy.MemoryLedger
		once, paid, err := run.Once(ctx, &l, "data")
		if err != nil || len(paid) > 0 {
			t.Fatalf("%v, %v", paid, err)
		}
		must.Do(t, payFor(t, &l, other, "theirs"))
		if err := payFor(t, once, "data", "ours"); !errors.Is(err, want) {
			t.Errorf("beside a release of %s: %v, want %v", other, err, want)
		}
		paid, err = run.PaymentsOf(ctx, &l, "data")
		if err != nil || len(paid) != 1 {
			t.Errorf("beside a release of %s: %+v, %v", other, paid, err)
		}
	}
}

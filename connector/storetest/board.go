// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"sync"
	"testing"
	"time"
)

// What is kept of a job is made once, however many instances enlist it, stays as it is when it
// is enlisted again, and is scheduled again when it is paused or resumed.
func testBoard(t *testing.T, s Suite) {
	st := s.Open(t, nodesCSV, relationshipsCSV)
	ctx, j, name := t.Context(), s.Jobs(st), "board "+token()
	if kept, err := j.Standings(ctx, []string{name}); err != nil || len(kept) > 0 {
		t.Errorf("of a job that nobody has seen %v is kept, %v", kept, err)
	}
	before, err := j.Now(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 6 {
		other := s.Jobs(s.Reopen(t, st))
		wg.Go(func() {
			if err := other.Enlist(ctx, name); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	since := time.Time{}
	for step, do := range []func() error{
		func() error { return nil },
		func() error { return j.SetPaused(ctx, name, true) },
		func() error { return j.Enlist(ctx, name) },
		func() error { return j.SetPaused(ctx, name, false) },
	} {
		time.Sleep(2 * time.Millisecond)
		if err := do(); err != nil {
			t.Fatal(err)
		}
		kept, err := s.Jobs(s.Reopen(t, st)).Standings(ctx, []string{"another", name})
		if err != nil || len(kept) != 1 {
			t.Fatalf("step %d: %v, %v", step, kept, err)
		}
		got := kept[name]
		if got.Paused != (step == 1 || step == 2) || got.Since.Before(before.Truncate(time.Millisecond)) ||
			got.Since.After(since) == (step == 2) {
			t.Errorf("step %d: %+v, after %v", step, got, since)
		}
		since = got.Since
	}
}

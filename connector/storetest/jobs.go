// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/jobs"
)

// lease that no test outlasts, and one that runs out while it waits.
const (
	longLease  = time.Minute
	shortLease = 300 * time.Millisecond
)

// noon of a day long past: the clock of a store decides on leases, and nominal times
// are names.
var noon = time.Date(1990, 6, 1, 12, 0, 0, 0, time.UTC)

func tick(job string, hours int) jobs.Tick {
	return jobs.NewTick(job, noon.Add(time.Duration(hours)*time.Hour))
}

func holder() jobs.Holder { return jobs.Holder{Instance: "test", Token: token()} }

// claimed takes a tick and returns the claim.
func claimed(t *testing.T, s jobs.Store, at jobs.Tick, lease time.Duration) jobs.Claim {
	t.Helper()
	c, err := s.Claim(t.Context(), at, holder(), lease)
	if err != nil {
		t.Fatalf("claim of %v: %v", at, err)
	}
	return c
}

// now returns the time of the store.
func now(t *testing.T, s jobs.Store) time.Time {
	t.Helper()
	at, err := s.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// pass waits until the store's time is past a time.
func pass(t *testing.T, s jobs.Store, at time.Time) {
	t.Helper()
	for !now(t, s).After(at) {
		time.Sleep(5 * time.Millisecond)
	}
}

// refused checks that nothing can be done about a tick under a token.
func refused(t *testing.T, what string, s jobs.Store, at jobs.Tick, token string) {
	t.Helper()
	_, err := s.Renew(t.Context(), at, token, longLease)
	is(t, what+" renews", err, jobs.ErrLost)
	is(t, what+" saves", s.Save(t.Context(), at, token, []byte("stale")), jobs.ErrLost)
	is(t, what+" yields", s.Yield(t.Context(), at, token, time.Time{}, "stale"), jobs.ErrLost)
	is(t, what+" finishes", s.Finish(t.Context(), at, token, jobs.Outcome{Status: jobs.Failed, Message: "stale"}), jobs.ErrLost)
}

func testClaim(t *testing.T, s Suite) {
	st := s.Open(t, nodesCSV, relationshipsCSV)
	ctx, j, other := t.Context(), s.Jobs(st), s.Jobs(s.Reopen(t, st))
	job := "claim " + token()
	before := now(t, j)
	by := holder()
	c, err := j.Claim(ctx, tick(job, 0), by, longLease)
	if err != nil {
		t.Fatal(err)
	}
	after := now(t, j)
	if c.Status != jobs.Running || c.Attempts != 1 || c.Token != by.Token || c.Tick != tick(job, 0) ||
		c.LeaseUntil.Before(before.Add(longLease)) || c.LeaseUntil.After(after.Add(longLease+time.Millisecond)) || len(c.Saved) > 0 {
		t.Errorf("the claim is %+v, at %v", c, before)
	}
	again, err := other.Claim(ctx, tick(job, 0), by, longLease)
	if err != nil || again.Attempts != 1 || !again.LeaseUntil.Equal(c.LeaseUntil) {
		t.Errorf("the same claim again: %+v, %v", again, err)
	}
	for what, at := range map[string]jobs.Tick{"the same tick": tick(job, 0), "a later one": tick(job, 1)} {
		_, err := other.Claim(ctx, at, holder(), longLease)
		is(t, what, err, jobs.ErrHeld)
	}
	_, err = other.Claim(ctx, tick(job, -1), holder(), longLease)
	is(t, "an earlier tick", err, jobs.ErrPast)
	refused(t, "a stranger", other, c.Tick, token())
	refused(t, "nobody", other, c.Tick, "")
	refused(t, "the holder of another tick", other, tick(job, 1), c.Token)
	o := jobs.Outcome{Status: jobs.Finished, RunID: c.ReleaseID(), ExitCode: 0, Message: "done"}
	if err := j.Finish(ctx, c.Tick, c.Token, o); err != nil {
		t.Fatal(err)
	}
	if err := other.Finish(ctx, c.Tick, c.Token, o); err != nil { // a reply that was lost
		t.Errorf("the same end again: %v", err)
	}
	refused(t, "who has finished", j, c.Tick, c.Token)
	_, err = j.Claim(ctx, c.Tick, holder(), longLease)
	is(t, "a tick that has ended", err, jobs.ErrPast)
	claimed(t, other, tick(job, 1), longLease)
	if ticks, err := other.Ticks(ctx, jobs.TickQuery{JobName: job}); err != nil || len(ticks) != 2 || ticks[1].Outcome != o ||
		ticks[1].EndedAt.Before(before) {
		t.Errorf("the ticks are %+v, %v", ticks, err)
	}
}

// testClaimRace lets three instances, each by a handle of its own and several at once,
// claim the same ticks: of each one claim is taken.
func testClaimRace(t *testing.T, s Suite) {
	const instances, each, ticks = 3, 4, 5
	st := s.Open(t, nodesCSV, relationshipsCSV)
	job := "race " + token()
	for k := range ticks {
		var mu sync.Mutex
		var won []jobs.Claim
		var wg sync.WaitGroup
		for range instances {
			j := s.Jobs(s.Reopen(t, st))
			for range each {
				wg.Go(func() {
					c, err := j.Claim(t.Context(), tick(job, k), holder(), longLease)
					switch {
					case err == nil:
						mu.Lock()
						defer mu.Unlock()
						won = append(won, c)
					case !errors.Is(err, jobs.ErrHeld):
						t.Errorf("who lost: %v, want ErrHeld", err)
					}
				})
			}
		}
		wg.Wait()
		if len(won) != 1 {
			t.Fatalf("%d claims of one tick are taken, want 1", len(won))
		}
		if err := s.Jobs(st).Finish(t.Context(), won[0].Tick, won[0].Token, jobs.Outcome{Status: jobs.Finished}); err != nil {
			t.Fatal(err)
		}
	}
	all, err := s.Jobs(st).Ticks(t.Context(), jobs.TickQuery{JobName: job})
	if err != nil || len(all) != ticks {
		t.Errorf("%d ticks have records, %v, want %d", len(all), err, ticks)
	}
}

func testLease(t *testing.T, s Suite) {
	st := s.Open(t, nodesCSV, relationshipsCSV)
	ctx, j, other := t.Context(), s.Jobs(st), s.Jobs(s.Reopen(t, st))
	job := "lease " + token()
	first := claimed(t, j, tick(job, 0), shortLease)
	saved := []byte("what is \x00 needed")
	if err := j.Save(ctx, first.Tick, first.Token, saved); err != nil {
		t.Fatal(err)
	}
	pass(t, j, first.LeaseUntil)
	_, err := other.Claim(ctx, tick(job, 1), holder(), longLease)
	is(t, "a later tick while an open one waits to be taken over", err, jobs.ErrUnfinished)
	renewed, err := j.Renew(ctx, first.Tick, first.Token, shortLease)
	if err != nil || !renewed.LeaseUntil.After(first.LeaseUntil) || len(renewed.Saved) > 0 {
		t.Fatalf("a lease that ran out, and that nobody took: %+v, %v", renewed, err)
	}
	_, err = other.Claim(ctx, first.Tick, holder(), longLease)
	is(t, "a lease that was renewed", err, jobs.ErrHeld)
	pass(t, j, renewed.LeaseUntil)
	second := claimed(t, other, first.Tick, longLease)
	if second.Attempts != 2 || !bytes.Equal(second.Saved, saved) || !second.ClaimedAt.Equal(first.ClaimedAt) {
		t.Errorf("taken over: %+v, want attempt 2 with what was saved", second)
	}
	refused(t, "whose lease was lost", j, first.Tick, first.Token)
	if c, err := other.Renew(ctx, second.Tick, second.Token, longLease); err != nil || c.Attempts != 2 {
		t.Errorf("the new holder: %+v, %v", c, err)
	}
	if err := other.Finish(ctx, second.Tick, second.Token, jobs.Outcome{Status: jobs.Failed, ExitCode: 1, Message: "no"}); err != nil {
		t.Fatal(err)
	}
	if ticks, err := j.Ticks(ctx, jobs.TickQuery{JobName: job}); err != nil || len(ticks) != 1 || ticks[0].Message != "no" ||
		ticks[0].Attempts != 2 {
		t.Errorf("the ticks are %+v, %v", ticks, err)
	}
}

func testYield(t *testing.T, s Suite) {
	st := s.Open(t, nodesCSV, relationshipsCSV)
	ctx, j, other := t.Context(), s.Jobs(st), s.Jobs(s.Reopen(t, st))
	job := "yield " + token()
	c := claimed(t, j, tick(job, 0), longLease)
	if err := j.Save(ctx, c.Tick, c.Token, []byte("kept")); err != nil {
		t.Fatal(err)
	}
	if err := j.Yield(ctx, c.Tick, c.Token, time.Time{}, "shutting down"); err != nil {
		t.Fatal(err)
	}
	refused(t, "who has yielded", j, c.Tick, c.Token)
	next := claimed(t, other, c.Tick, longLease)
	if string(next.Saved) != "kept" || next.Message != "shutting down" {
		t.Errorf("what was yielded is %+v", next)
	}
	retry := now(t, j).Add(shortLease)
	if err := other.Yield(ctx, next.Tick, next.Token, retry, "later"); err != nil {
		t.Fatal(err)
	}
	_, err := j.Claim(ctx, c.Tick, holder(), longLease)
	is(t, "before the time to retry", err, jobs.ErrHeld)
	_, err = j.Claim(ctx, tick(job, 1), holder(), longLease)
	is(t, "a later tick before the time to retry", err, jobs.ErrHeld)
	pass(t, j, retry)
	if last := claimed(t, j, c.Tick, longLease); last.Attempts != 2 || string(last.Saved) != "kept" || !last.RetryAt.IsZero() {
		t.Errorf("after the time to retry: %+v", last)
	}
}

func testCancelTick(t *testing.T, s Suite) {
	st := s.Open(t, nodesCSV, relationshipsCSV)
	ctx, j, other := t.Context(), s.Jobs(st), s.Jobs(s.Reopen(t, st))
	job := "cancel " + token()
	_, err := other.Cancel(ctx, job)
	is(t, "a job without ticks", err, jobs.ErrNoJob)
	c := claimed(t, j, tick(job, 0), longLease)
	if at, err := other.Cancel(ctx, job); err != nil || at != c.Tick {
		t.Errorf("cancelled %v, %v, want %v", at, err, c.Tick)
	}
	if c, err = j.Renew(ctx, c.Tick, c.Token, longLease); err != nil || !c.CancelRequested {
		t.Errorf("the holder sees %+v, %v, want that it is asked to stop", c, err)
	}
	if err := j.Finish(ctx, c.Tick, c.Token, jobs.Outcome{Status: jobs.Canceled}); err != nil {
		t.Fatal(err)
	}
	_, err = other.Cancel(ctx, job)
	is(t, "a tick that has ended", err, jobs.ErrNoJob)
}

// testRewind: of ticks ahead of the clock those that ended go, and an open one is free.
func testRewind(t *testing.T, s Suite) {
	st := s.Open(t, nodesCSV, relationshipsCSV)
	ctx, j, job := t.Context(), s.Jobs(st), "rewind "+token()
	ahead := func(hours int) jobs.Tick {
		return jobs.NewTick(job, now(t, j).Add(time.Duration(hours)*time.Hour))
	}
	for _, at := range []jobs.Tick{tick(job, 0), ahead(1), ahead(2)} {
		c := claimed(t, j, at, longLease)
		if err := j.Finish(ctx, at, c.Token, jobs.Outcome{Status: jobs.Finished}); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := s.Jobs(s.Reopen(t, st)).Rewind(ctx, job); err != nil {
			t.Fatal(err)
		}
		all, err := j.Ticks(ctx, jobs.TickQuery{JobName: job})
		if err != nil || len(all) != 1 || all[0].Tick != tick(job, 0) {
			t.Fatalf("the ticks are %+v, %v, want the one that is past", all, err)
		}
	}
	open := claimed(t, j, ahead(3), longLease)
	if err := j.Rewind(ctx, job); err != nil {
		t.Fatal(err)
	}
	if again := claimed(t, j, open.Tick, longLease); again.Attempts != 2 {
		t.Errorf("the open tick is %+v, want it taken over", again)
	}
}

func testTicks(t *testing.T, s Suite) {
	st := s.Open(t, nodesCSV, relationshipsCSV)
	ctx, j := t.Context(), s.Jobs(st)
	one, two := "ticks one "+token(), "ticks two "+token()
	renews, early := noon.Add(24*time.Hour), jobs.NewTick(two, time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC))
	for _, at := range []jobs.Tick{tick(one, 0), tick(one, 1), early, tick(two, 5)} {
		c := claimed(t, j, at, longLease)
		if err := j.Finish(ctx, c.Tick, c.Token, jobs.Outcome{Status: jobs.WaitingForBudget, ExitCode: 9, RenewsAt: renews}); err != nil {
			t.Fatal(err)
		}
	}
	open := claimed(t, j, tick(one, 2), longLease)
	if err := j.Save(ctx, open.Tick, open.Token, []byte("secret")); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		q    jobs.TickQuery
		want []jobs.Tick
	}{
		{jobs.TickQuery{JobName: one}, []jobs.Tick{tick(one, 2), tick(one, 1), tick(one, 0)}},
		{jobs.TickQuery{JobName: one, Limit: 2}, []jobs.Tick{tick(one, 2), tick(one, 1)}},
		{jobs.TickQuery{JobName: one, Open: true}, []jobs.Tick{tick(one, 2)}},
		{jobs.TickQuery{JobName: two, Open: true}, nil},
		{jobs.TickQuery{JobName: one, Latest: true}, []jobs.Tick{tick(one, 2)}},
		{jobs.TickQuery{Latest: true}, []jobs.Tick{tick(two, 5), tick(one, 2)}},
		{jobs.TickQuery{Latest: true, Ended: true}, []jobs.Tick{tick(two, 5), tick(one, 1)}},
		{jobs.TickQuery{Latest: true, Status: jobs.Finished}, nil},
		{jobs.TickQuery{JobName: one, Status: jobs.Running}, []jobs.Tick{tick(one, 2)}},
		{jobs.TickQuery{}, []jobs.Tick{tick(two, 5), tick(one, 2), tick(one, 1), tick(one, 0), early}},
	} {
		found, err := s.Jobs(s.Reopen(t, st)).Ticks(ctx, test.q)
		if err != nil {
			t.Fatal(err)
		}
		var got []jobs.Tick
		for _, c := range found {
			if c.JobName != one && c.JobName != two {
				continue // of others on a server that is shared
			}
			got = append(got, c.Tick)
			if c.Token != "" || c.Saved != nil {
				t.Errorf("%+v shows the token or what was saved", c)
			}
			if !c.Open() && (c.Status != jobs.WaitingForBudget || c.ExitCode != 9 || !c.RenewsAt.Equal(renews)) {
				t.Errorf("%+v: the outcome is another", c)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%+v: %v, want %v", test.q, got, test.want)
		}
	}
}

// testInstances lets three instances work off 20 ticks. An attempt may die at any time,
// and another may take over while the first is still at it: each tick ends once, with
// what the first attempt that saved had saved.
func testInstances(t *testing.T, s Suite) {
	const instances, ticks = 3, 20
	st := s.Open(t, nodesCSV, relationshipsCSV)
	job := "instances " + token()
	var mu sync.Mutex
	ended := map[jobs.Tick][]string{}
	var wg sync.WaitGroup
	for range instances {
		j := s.Jobs(s.Reopen(t, st))
		wg.Go(func() {
			for k := 0; k < ticks && t.Context().Err() == nil; {
				done, err := attempt(t, j, tick(job, k))
				switch {
				case err == nil && done != "":
					mu.Lock()
					ended[tick(job, k)] = append(ended[tick(job, k)], done)
					mu.Unlock()
				case errors.Is(err, jobs.ErrPast):
					k++
				case err != nil && !errors.Is(err, jobs.ErrHeld) && !errors.Is(err, jobs.ErrLost):
					t.Error(err)
					return
				}
				time.Sleep(rand.N(10 * time.Millisecond))
			}
		})
	}
	wg.Wait()
	for k := range ticks {
		if at := tick(job, k); len(ended[at]) != 1 || ended[at][0] != at.ReleaseID() {
			t.Errorf("tick %d ended %q, want once", k, ended[at])
		}
	}
}

// attempt does the work of a tick, or dies somewhere; done is what it finished with.
func attempt(t *testing.T, j jobs.Store, at jobs.Tick) (done string, err error) {
	ctx := t.Context()
	c, err := j.Claim(ctx, at, holder(), 50*time.Millisecond)
	if err != nil || rand.N(4) == 0 {
		return "", err
	}
	saved := c.Saved
	if len(saved) == 0 {
		saved = []byte(at.ReleaseID())
		if err := j.Save(ctx, at, c.Token, saved); err != nil || rand.N(4) == 0 {
			return "", err
		}
	}
	time.Sleep(rand.N(80 * time.Millisecond)) // now and then longer than the lease
	if err := j.Finish(ctx, at, c.Token, jobs.Outcome{Status: jobs.Finished, RunID: string(saved)}); err != nil {
		return "", err
	}
	return string(saved), nil
}

// testPruneTicks: pruning takes the records of ended ticks of before a time; those that are
// open and the newest of a job stay.
func testPruneTicks(t *testing.T, s Suite) {
	ctx, j, job := t.Context(), s.Jobs(s.Open(t, nodesCSV, relationshipsCSV)), "prune "+token()
	for k := range 3 {
		c := claimed(t, j, tick(job, k), longLease)
		if err := j.Finish(ctx, c.Tick, c.Token, jobs.Outcome{Status: jobs.Finished}); err != nil {
			t.Fatal(err)
		}
	}
	left := claimed(t, j, tick(job+" open", 0), longLease)
	if _, err := j.PruneRuns(ctx, noon.Add(24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if ticks, err := j.Ticks(ctx, jobs.TickQuery{JobName: job}); err != nil || len(ticks) != 1 || ticks[0].Tick != tick(job, 2) {
		t.Errorf("the ticks are %+v, %v, want the newest", ticks, err)
	}
	_, err := j.Claim(ctx, tick(job, 1), holder(), longLease)
	is(t, "a tick whose record was pruned", err, jobs.ErrPast)
	if _, err := j.Renew(ctx, left.Tick, left.Token, longLease); err != nil {
		t.Errorf("an open tick: %v", err)
	}
}

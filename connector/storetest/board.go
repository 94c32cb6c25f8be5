// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/jobs"
)

// board returns the records of jobs whose names begin so, by name; "" is a name too
// where anonymous is the id of such a record.
func board(t *testing.T, j jobs.Store, prefix string, ids ...string) []jobs.Filed {
	t.Helper()
	all, err := j.Jobs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(f jobs.Filed) bool {
		return !strings.HasPrefix(f.Name, prefix) && !slices.Contains(ids, f.ID)
	})
}

// What is wrong with one record is for package jobs to say: every record is listed, with
// the values that it has.
func testBoard(t *testing.T, s Suite) {
	st := s.Open(t, nodesCSV, relationshipsCSV)
	ctx, j, prefix := t.Context(), s.Jobs(st), "board "+token()
	at := time.Date(2026, 3, 1, 4, 5, 6, 0, time.UTC)
	good := map[string]any{
		"name": prefix + " a", "schedule": "0 3 * * *", "epsilon": 0.5, "retries": int64(2), "strict": true, "since": at,
		"labels": []any{"Person", "Place"},
	}
	id := s.File(t, st, good)
	ids := []string{
		id,
		s.File(t, st, map[string]any{"name": prefix + " b", "schedule": int64(5), "paused": "yes", "status": int64(7), "nextRun": "soon"}),
		s.File(t, st, map[string]any{"schedule": "@daily"}),
		s.File(t, st, map[string]any{"name": []any{"x", "y"}}),
		s.File(t, st, map[string]any{"name": prefix + " b", "paused": true}),
	}
	found := board(t, s.Jobs(s.Reopen(t, st)), prefix, ids...)
	if len(found) != len(ids) {
		t.Fatalf("%d records are listed, want %d: %+v", len(found), len(ids), found)
	}
	byID := map[string]jobs.Filed{}
	for _, f := range found {
		byID[f.ID] = f
	}
	if f := byID[ids[0]]; f.Name != prefix+" a" || f.Paused || f.Origin != "" || fmt.Sprint(f.Fields) != fmt.Sprint(good) ||
		f.Fields["since"] != any(at) {
		t.Errorf("the record is %+v, want the fields %v", f, good)
	}
	if f := byID[ids[1]]; f.Name != prefix+" b" || f.Paused || f.State != (jobs.State{}) || f.Fields["schedule"] != any(int64(5)) ||
		f.Fields["paused"] != any("yes") {
		t.Errorf("a record with wrong types is %+v", f)
	}
	if f := byID[ids[2]]; f.Name != "" || f.Fields["schedule"] != any("@daily") {
		t.Errorf("a record without a name is %+v", f)
	}
	if f := byID[ids[3]]; f.Name != "" || fmt.Sprint(f.Fields["name"]) != "[x y]" {
		t.Errorf("a record whose name is a list is %+v", f)
	}
	if !byID[ids[4]].Paused {
		t.Error("a job that is filed as paused is not")
	}
	state := jobs.State{
		Status: jobs.Pending, Message: "waits", ScheduledSince: at, LastRun: at.Add(time.Hour), LastRunID: "r",
		NextRun: at.Add(2 * time.Hour),
	}
	target := jobs.Target{ID: id, Name: prefix + " a"}
	if err := j.SetState(ctx, target, state); err != nil {
		t.Fatal(err)
	}
	if err := j.SetPaused(ctx, target, true); err != nil {
		t.Fatal(err)
	}
	good["paused"] = true
	if f := board(t, s.Jobs(s.Reopen(t, st)), prefix)[0]; f.State != state || !f.Paused || fmt.Sprint(f.Fields) != fmt.Sprint(good) {
		t.Errorf("with a state the record is %+v", f)
	}
	state = jobs.State{Status: jobs.Invalid, Message: "why"}
	if err := j.SetState(ctx, target, state); err != nil {
		t.Fatal(err)
	}
	if f := board(t, j, prefix)[0]; f.State != state {
		t.Errorf("the state is %+v, want nothing of the one before", f.State)
	}
	gone := jobs.Target{ID: id + "0000", Name: "gone"}
	is(t, "the state of a record that is gone", j.SetState(ctx, gone, state), jobs.ErrNoJob)
	is(t, "pausing a record that is gone", j.SetPaused(ctx, gone, true), jobs.ErrNoJob)
}

// Of a job of the settings file one record is made, however many instances show it.
func testBoardOfSettings(t *testing.T, s Suite) {
	st := s.Open(t, nodesCSV, relationshipsCSV)
	prefix := "settings " + token()
	target := jobs.Target{Name: prefix + " nightly"}
	filed := s.File(t, st, map[string]any{"name": target.Name})
	var wg sync.WaitGroup
	for k := range 6 {
		j := s.Jobs(s.Reopen(t, st))
		wg.Go(func() {
			if err := j.SetState(t.Context(), target, jobs.State{Status: jobs.Pending, Message: fmt.Sprint(k)}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := s.Jobs(st).SetPaused(t.Context(), target, true); err != nil {
		t.Fatal(err)
	}
	found := board(t, s.Jobs(st), prefix)
	if len(found) != 2 {
		t.Fatalf("the records are %+v, want that of the author and one of the settings", found)
	}
	for _, f := range found {
		if own := f.Origin == jobs.OriginSettings; own == (f.ID == filed) || own != f.Paused || own != (f.State.Status == jobs.Pending) {
			t.Errorf("the record %+v", f)
		}
	}
}

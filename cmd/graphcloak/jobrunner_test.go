// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"maps"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/privacy"
)

// tickWorld is a runner on a folder, and a tick of a job.
type tickWorld struct {
	jobRunner
	work jobs.Work
}

func newTickWorld(t *testing.T) tickWorld {
	t.Helper()
	graph, _ := hall(t, "{}")
	a := newApp(nil, strings.NewReader(""), io.Discard, io.Discard)
	c := must.Get(config.Load(config.Layers{Defaults: map[string]string{"mode": "write", "from": "folder:" + graph}}))(t)
	a.config = c
	s := must.Get(a.openReading(t.Context()))(t)
	t.Cleanup(func() { s.Close(context.Background()) })
	d, err := jobs.Define(map[string]any{"name": "a", "schedule": "@daily", "sourceProperty": "source", "epsilon": 0.5})
	if err != nil {
		t.Fatal(err)
	}
	tick := jobs.NewTick("a", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	return tickWorld{jobRunner{a, s}, jobs.Work{Tick: tick, Definition: d, ReleaseID: tick.ReleaseID()}}
}

// as returns the work of a holder who keeps runs by save.
func (w tickWorld) as(saved []byte, save func([]byte) error) jobs.Work {
	work := w.work
	work.Saved, work.Save = saved, func(_ context.Context, b []byte) error { return save(b) }
	return work
}

// count returns how many entries of a kind the ledger has.
func (w tickWorld) count(t *testing.T, kind privacy.Kind) (n int) {
	t.Helper()
	entries := must.Get(w.s.Ledger().Entries(t.Context(), "property=source"))(t)
	for _, e := range entries {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// TestLateHolder: a holder stops right after it kept its attempt, and its tick is taken
// over. It pays all the same, before the new holder does or after that one has ended:
// there is one payment, and the new holder's release is the one that is written.
func TestLateHolder(t *testing.T) {
	for _, late := range []bool{false, true} {
		w := newTickWorld(t)
		kept, proceed, first := make(chan []byte), make(chan struct{}), make(chan jobs.Ending, 1)
		saves := 0
		go func() {
			first <- w.Run(t.Context(), w.as(nil, func(b []byte) error {
				if saves++; saves > 1 {
					return jobs.ErrLost
				}
				kept <- b
				<-proceed
				return nil
			}))
		}()
		attempt := <-kept
		var early jobs.Ending
		begun := false
		end := w.Run(t.Context(), w.as(attempt, func([]byte) error {
			if !begun && !late {
				close(proceed)
				early = <-first
			}
			begun = true
			return nil
		}))
		if late {
			close(proceed)
			early = <-first
		}
		if end.Status != jobs.Finished || end.RunID != w.work.ReleaseID {
			t.Errorf("late %v: the new holder: %+v", late, end.Outcome)
		}
		if early.Status == jobs.Finished {
			t.Errorf("late %v: the old holder published: %+v", late, early.Outcome)
		}
		if spent, written := w.count(t, privacy.KindSpent), w.count(t, privacy.KindWritten); spent != 1 || written != 1 {
			t.Errorf("late %v: %d payments and %d releases, want one of each", late, spent, written)
		}
	}
}

// TestTickGoesOn: a tick whose holder is gone after its release was kept is completed
// with that release, and one that is given up leaves no right to publish it.
func TestTickGoesOn(t *testing.T) {
	for _, giveUp := range []bool{false, true} {
		w := newTickWorld(t)
		var saved []byte
		ctx, die := context.WithCancel(t.Context())
		saves := 0
		end := w.Run(ctx, w.as(nil, func(b []byte) error {
			saved = b
			if saves++; saves == 2 {
				die()
			}
			return nil
		}))
		if !end.Retry || !end.Spent || saves != 2 {
			t.Fatalf("the run that was stopped: %+v after %d saves", end, saves)
		}
		if giveUp {
			must.Do(t, w.GiveUp(t.Context(), w.as(saved, nil)))
			if n := w.count(t, privacy.KindVoid); n != 1 {
				t.Errorf("%d releases are void, want 1", n)
			}
			continue
		}
		end = w.Run(t.Context(), w.as(saved, func(again []byte) error {
			if !bytes.Equal(again, saved) {
				t.Error("something else is kept than the release that was")
			}
			return nil
		}))
		if end.Status != jobs.Finished {
			t.Errorf("the run that goes on: %+v", end.Outcome)
		}
		if spent, written := w.count(t, privacy.KindSpent), w.count(t, privacy.KindWritten); spent != 1 || written != 1 {
			t.Errorf("%d payments and %d releases, want one of each", spent, written)
		}
	}
}

// TestSavedByStrangers: what lies where others write is refused where it is no run, and
// brings no query along.
func TestSavedByStrangers(t *testing.T) {
	w := newTickWorld(t)
	for _, saved := range [][]byte{[]byte("x"), {0x1f, 0x8b}, []byte("{}")} {
		end := w.Run(t.Context(), w.as(saved, nil))
		if end.Status != jobs.Failed || end.Retry || w.count(t, privacy.KindSpent) != 0 {
			t.Errorf("%q: %+v", saved, end)
		}
	}
}

// TestSavedBomb: what was kept is not read where it says much less than its size: it may
// have been put there to fill the memory of every server that starts.
func TestSavedBomb(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	piece := bytes.Repeat([]byte(" "), 1<<20)
	for range 64 {
		z.Write(piece)
	}
	z.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := readSaved(packed.Bytes())
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; err == nil || exitCode(err) != exitValidation || took > 8<<20 {
		t.Errorf("%d bytes that say 64 MiB: %v, after %d bytes were taken", packed.Len(), err, took)
	}
}

// TestJobsChooseNoScope: a job pays from the scope of its property, whatever its definition says.
func TestJobsChooseNoScope(t *testing.T) {
	w := newTickWorld(t)
	d, err := jobs.Define(map[string]any{"name": "a", "schedule": "@daily", "sourceProperty": "source", "budgetScope": "property=other"})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Check(d); err == nil {
		t.Error("it may choose")
	}
	work := w.as(nil, func([]byte) error { return nil })
	work.Definition = d
	if end := w.Run(t.Context(), work); end.Status != jobs.Failed || end.Retry || w.count(t, privacy.KindSpent) != 0 {
		t.Errorf("it ran: %+v", end.Outcome)
	}
}

// TestReportsOfAServer: what a run says of its settings says nothing of where the server
// that ran it listens, and names no file of it.
func TestReportsOfAServer(t *testing.T) {
	c := must.Get(config.Load(config.Layers{DotEnv: map[string]string{
		"GRAPHCLOAK_LISTEN": "127.0.0.1:9", "GRAPHCLOAK_TOKEN_FILE": "/secret/token",
		"GRAPHCLOAK_TLS_CERTIFICATE": "/secret/chain", "GRAPHCLOAK_EPSILON": "0.25",
	}}))(t)
	if got := configuration(c); len(got) != 1 || got["epsilon"] != 0.25 {
		t.Errorf("%v, want epsilon alone", got)
	}
}

// TestLostTickWritesNothing: a holder that lost its tick after it kept its release, or
// before it paid, leaves the nodes and the ledger to the holder that has the tick.
func TestLostTickWritesNothing(t *testing.T) {
	for kept, status := range map[int]jobs.Status{1: "", 2: jobs.Reserved} {
		w := newTickWorld(t)
		store, saves := jobsOf(w.s), 0
		c := must.Get(store.Claim(t.Context(), w.work.Tick, jobs.Holder{Token: "sleeper"}, time.Minute))(t)
		ctx := jobs.Fence{Tick: c.Tick, Token: c.Token}.Within(t.Context())
		end := w.Run(ctx, w.as(nil, func([]byte) error {
			if saves++; saves != kept {
				return nil
			}
			if err := store.Yield(t.Context(), c.Tick, c.Token, time.Time{}, ""); err != nil {
				return err
			}
			_, err := store.Claim(t.Context(), c.Tick, jobs.Holder{Token: "awake"}, time.Minute)
			return err
		}))
		if end.Status == jobs.Finished || w.count(t, privacy.KindWritten) != 0 || w.count(t, privacy.KindSpent) != kept-1 {
			t.Errorf("lost after it kept %d: %+v, %d payments", kept, end.Outcome, w.count(t, privacy.KindSpent))
		}
		run, err := w.s.History().GetRun(t.Context(), w.work.ReleaseID)
		if err != nil && status != "" || run.WriteStatus() != status {
			t.Errorf("lost after it kept %d: the run is %q, %v, want %q", kept, run.WriteStatus(), err, status)
		}
	}
}

// TestSavedPublishesWhatItsJobNames: a saved run, which lies where others write, publishes no
// property that its job does not name.
func TestSavedPublishesWhatItsJobNames(t *testing.T) {
	for _, c := range []struct {
		own  bool
		want jobs.Status
	}{{false, jobs.Failed}, {true, jobs.Finished}} {
		w := newTickWorld(t)
		plain, named := w.work.Definition, w.work.Definition
		named.Settings = maps.Clone(plain.Settings)
		named.Settings["communityProperty"] = "club"
		w.work.Definition = named
		var saved []byte
		ctx, die := context.WithCancel(t.Context())
		w.Run(ctx, w.as(nil, func(b []byte) error {
			if saved != nil {
				die()
			}
			saved = b
			return nil
		}))
		if !c.own {
			w.work.Definition = plain
		}
		end := w.Run(t.Context(), w.as(saved, func([]byte) error { return nil }))
		if end.Status != c.want || end.Retry || c.want == jobs.Failed &&
			!strings.Contains(end.Message, `"club", which its job does not name`) {
			t.Errorf("own %v: %+v", c.own, end.Outcome)
		}
	}
}

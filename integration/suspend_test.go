// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/privacy"
)

// TestSuspendedServers: three servers of one database, of which the holder of a tick is
// suspended for longer than its lease, somewhere in its run, and ticks are cancelled. Each
// tick is paid once at most, each that is finished is paid and written, each payment without
// a release is of a tick whose end was asked for, and every node holds the values of the
// newest run that is finished, or none where a later one was cancelled.
func TestSuspendedServers(t *testing.T) { // beside no other fleet, whose ticks its servers would give up
	rounds := 2
	if *campaign {
		rounds = 40
	}
	label, name := Load(t, Shipped("karate"), ownType), "suspended-"+token()
	prefix := "su" + token()
	source(t, label, 16)
	property := secret(t, label)
	scope := "property=" + property
	setUp(t)
	s := connect(t)
	must.Get(privacy.SetCap(t.Context(), s.Ledger(), scope, privacy.Budget{Epsilon: 1000, Delta: 1e-5}))(t)
	forgetJob(t, name)
	t.Cleanup(func() { Query(t, "MATCH (j:GraphCloakJob {name: $name}) DELETE j", map[string]any{"name": name}) })
	f := newFleet(t, 3, jobOn(name, "@every 1s", label, property, "missedRuns", "all", "retryDelay", "1s", "propertyPrefix", prefix))
	cancelled := 0
	for round := 0; round < rounds; {
		holder, at := f.holder(s.Jobs(), name)
		if holder == nil {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		time.Sleep(time.Duration(rand.Int64N(int64(1200 * time.Millisecond)))) // anywhere in the run
		must.Do(t, holder.Process.Signal(syscall.SIGSTOP))
		if round%4 == 1 {
			if _, err := s.Jobs().Cancel(t.Context(), name); err == nil {
				cancelled++
			} else if !errors.Is(err, jobs.ErrNoJob) {
				t.Fatal(err)
			}
		}
		taken := f.takenOver(s.Jobs(), at)
		holder.Process.Signal(syscall.SIGCONT)
		if taken {
			round++
		}
		if rand.IntN(3) > 0 { // else its next holder is suspended too
			f.until("the tick has ended", func() bool {
				ended, err := s.Jobs().Ticks(t.Context(), jobs.TickQuery{JobName: name, Ended: true})
				return err == nil && slices.ContainsFunc(ended, func(c jobs.Claim) bool { return c.Tick == at })
			})
		}
	}
	f.until("a tick is finished", func() bool { // where every one so far was cancelled
		ended, err := s.Jobs().Ticks(t.Context(), jobs.TickQuery{JobName: name, Ended: true})
		return err == nil && slices.ContainsFunc(ended, func(c jobs.Claim) bool { return c.Status == jobs.Finished })
	})
	must.Do(t, s.Jobs().SetPaused(t.Context(), name, true))
	time.Sleep(2 * time.Second) // until every server has looked again
	f.until("no tick is open", func() bool {
		open, err := s.Jobs().Ticks(t.Context(), jobs.TickQuery{JobName: name, Open: true})
		return err == nil && len(open) == 0
	})
	f.stop()
	f.checkValues(s.Jobs(), s.Ledger(), name, label, prefix, scope)
	t.Logf("%d rounds; %d ticks were cancelled", rounds, cancelled)
}

// holder returns the server that is at a tick of a job; nil where none is.
func (f *fleet) holder(s jobs.Store, name string) (*member, jobs.Tick) {
	f.t.Helper()
	open, err := s.Ticks(f.t.Context(), jobs.TickQuery{JobName: name, Open: true})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, c := range open {
		_, pid, _ := strings.Cut(c.Instance, "/")
		for _, m := range f.servers {
			if pid == strconv.Itoa(m.Process.Pid) {
				return m, c.Tick
			}
		}
	}
	return nil, jobs.Tick{}
}

// takenOver waits until another server has claimed a tick; false: its holder had ended it.
func (f *fleet) takenOver(s jobs.Store, at jobs.Tick) (taken bool) {
	f.t.Helper()
	attempts := int64(0)
	f.until("the tick is taken over", func() bool {
		all, err := s.Ticks(context.Background(), jobs.TickQuery{JobName: at.JobName})
		if err != nil {
			f.t.Fatal(err)
		}
		for _, c := range all {
			if c.Tick != at {
				continue
			}
			if attempts == 0 {
				attempts = c.Attempts
			}
			taken = c.Attempts > attempts
			return taken || !c.Open()
		}
		return false
	})
	return taken
}

// until waits for a condition.
func (f *fleet) until(what string, holds func() bool) {
	f.t.Helper()
	for end := time.Now().Add(5 * time.Minute); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			f.t.Fatalf("not within five minutes: %s", what)
		}
	}
}

// checkValues compares the ticks of a job with the ledger and with what the nodes hold.
func (f *fleet) checkValues(s jobs.Store, l privacy.Ledger, name, label, prefix, scope string) {
	t := f.t
	t.Helper()
	ticks := must.Get(s.Ticks(t.Context(), jobs.TickQuery{JobName: name}))(t)
	if _, err := privacy.VerifyLedger(t.Context(), l, scope); err != nil {
		t.Error(err)
	}
	entries := must.Get(l.Entries(t.Context(), scope))(t)
	count := map[privacy.Kind]map[string]int{privacy.KindSpent: {}, privacy.KindWritten: {}}
	for _, e := range entries {
		if count[e.Kind] != nil {
			count[e.Kind][e.ReleaseID]++
		}
	}
	paid, newest, later := 0, "", 0
	for _, c := range ticks { // latest first
		spent, written := count[privacy.KindSpent][c.ReleaseID()], count[privacy.KindWritten][c.ReleaseID()]
		paid += spent
		switch {
		case c.Status == jobs.Finished && (spent != 1 || written != 1), spent > 1, written > spent:
			t.Errorf("tick %v is %s, paid %d times and written %d times", c.NominalTime, c.Status, spent, written)
		case c.Status != jobs.Finished && c.Status != jobs.Canceled:
			t.Errorf("tick %v is %s: %s", c.NominalTime, c.Status, c.Message)
		}
		if c.Status == jobs.Finished && newest == "" {
			newest = c.RunID
		} else if newest == "" {
			later++
		}
	}
	if newest == "" {
		t.Error("no tick is finished")
	}
	if all := len(count[privacy.KindSpent]); paid != all {
		t.Errorf("%d releases are paid, %d of them for a tick", all, paid)
	}
	// A node's values and the id of their run are set by one statement.
	rows := Query(t, "MATCH (n:`"+label+"`) RETURN n.`"+prefix+"RunId`, count(n), sum(size([k IN keys(n) WHERE k STARTS WITH $prefix]))",
		map[string]any{"prefix": prefix})
	for _, row := range rows {
		if row[0] != newest && (later == 0 || row[0] != nil || row[2] != int64(0)) {
			t.Errorf("%v nodes hold run %v and %v values, want run %s (%d ticks were cancelled since)", row[1], row[0],
				row[2], newest, later)
		}
	}
	t.Logf("%d ticks, %d paid", len(ticks), paid)
}

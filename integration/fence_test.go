// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	driver "github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/connector/neo4j"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/report"
)

// sleeper is a store of its own that stops in a write once so many nodes are written, as
// a process does that is suspended between two chunks, until it is woken.
type sleeper struct {
	*neo4j.Store
	asleep, wake chan struct{}
	ended        chan error
}

// newSleeper begins to write and returns once the writer is asleep.
func newSleeper(ctx context.Context, t *testing.T, sel graph.Selection, stopAt int64,
	table func(*graph.Graph) report.Table,
) (*sleeper, *graph.Graph, report.Table) {
	t.Helper()
	s := &sleeper{asleep: make(chan struct{}), wake: make(chan struct{}), ended: make(chan error, 1)}
	slept := false
	s.Store = connect(t, func(o *neo4j.Options) {
		o.BatchSize = childBatch
		o.Progress = func(stage string, done, _ int64) {
			if stage == "write" && done >= stopAt && !slept {
				slept = true
				close(s.asleep)
				<-s.wake
			}
		}
	})
	g := must.Get(s.Graph(t.Context(), sel))(t)
	mine := table(g)
	go func() { s.ended <- s.Write(ctx, g, mine, false) }()
	select {
	case <-s.asleep:
	case err := <-s.ended:
		t.Fatalf("the write ended before it slept: %v", err)
	}
	return s, g, mine
}

// TestWriterWaits: a chunk that is written while another process takes the run over waits
// for it, and then changes nothing.
func TestWriterWaits(t *testing.T) {
	const n = 100
	setUp(t)
	sel := line(t, n)
	s, _, mine := newSleeper(t.Context(), t, sel, n/2, func(g *graph.Graph) report.Table { return newTable(t, g, "waits-"+token()) })
	taking := inTransaction(t, "MATCH (r:GraphCloakRun {runId: $id}) SET r.writer = 'another'", map[string]any{"id": mine.RunID()})
	before := written(t, sel.NodeLabels[0], mine.RunID())
	close(s.wake)
	untilBlocked(t, "write", s.ended)
	must.Do(t, taking.Commit(t.Context()))
	if err := <-s.ended; !errors.Is(err, connector.ErrConflict) {
		t.Errorf("the write: %v, want ErrConflict", err)
	}
	if after := written(t, sel.NodeLabels[0], mine.RunID()); after != before {
		t.Errorf("%d nodes were written before and %d after", before, after)
	}
	if _, err := connect(t).Undo(t.Context(), mine.RunID()); err != nil {
		t.Error(err)
	}
}

// TestSleptWriter suspends a writer before its first chunk and between two. Its run is
// completed or undone by another, and a newer one is written. When it wakes its write
// fails, no node holds its values, and no record is changed by it.
func TestSleptWriter(t *testing.T) {
	const n = 100
	setUp(t)
	for _, taken := range []string{"tick taken over", "undone by hand"} {
		for _, stopAt := range []int64{0, n / 2} {
			t.Run(fmt.Sprintf("%s at %d", taken, stopAt), func(t *testing.T) {
				sel, job := line(t, n), "slept "+token()
				label := sel.NodeLabels[0]
				forgetJob(t, job)
				other := connect(t, func(o *neo4j.Options) { o.BatchSize = childBatch })
				ctx, at := t.Context(), tickOf(job, 0)
				byTick := taken == "tick taken over"
				claim := func(at jobs.Tick) (context.Context, jobs.Claim) {
					t.Helper()
					if !byTick {
						return ctx, jobs.Claim{}
					}
					c := must.Get(other.Jobs().Claim(ctx, at, holder(), time.Minute))(t)
					return jobs.Fence{Tick: at, Token: c.Token}.Within(ctx), c
				}
				first, c := claim(at)
				s, g, mine := newSleeper(first, t, sel, stopAt,
					func(g *graph.Graph) report.Table { return newTable(t, g, "slept-"+token()) })
				theirs := must.Get(other.Graph(ctx, sel))(t)
				want := jobs.Finished
				if byTick { // as after its lease
					must.Do(t, other.Jobs().Yield(ctx, at, c.Token, time.Time{}, ""))
					second, c := claim(at)
					must.Do(t, other.Write(second, theirs, mine, false))
					must.Do(t, other.Jobs().Finish(ctx, at, c.Token, jobs.Outcome{Status: jobs.Finished}))
				} else {
					want = jobs.Undone
					must.Get(other.Undo(ctx, mine.RunID()))(t)
				}
				next, _ := claim(tickOf(job, 1))
				newer := newTable(t, theirs, "newer-"+token())
				must.Do(t, other.Write(next, theirs, newer, false))
				close(s.wake)
				if err := <-s.ended; !errors.Is(err, connector.ErrConflict) && !errors.Is(err, jobs.ErrLost) {
					t.Errorf("the write of who slept: %v, want an error that says why", err)
				}
				if byTick {
					if err := s.Write(first, g, mine, false); !errors.Is(err, jobs.ErrLost) {
						t.Errorf("a second try of who slept: %v, want ErrLost", err)
					}
				}
				if old, now := written(t, label, mine.RunID()), written(t, label, newer.RunID()); old != 0 || now != n {
					t.Errorf("%d nodes hold the old run and %d the newer one, want 0 and %d", old, now, n)
				}
				for id, status := range map[string]jobs.Status{mine.RunID(): want, newer.RunID(): jobs.Finished} {
					if run, err := other.Run(ctx, id); err != nil || run.WriteStatus() != status {
						t.Errorf("run %s is %s, %v, want %s", id, run.WriteStatus(), err, status)
					}
				}
			})
		}
	}
}

// TestLostTick: a writer whose tick another has taken over writes nothing more, also while
// nobody has begun the run again.
func TestLostTick(t *testing.T) {
	const n = 100
	setUp(t)
	sel, at := line(t, n), tickOf("lost "+token(), 0)
	forgetJob(t, at.JobName)
	other := connect(t)
	first := must.Get(other.Jobs().Claim(t.Context(), at, holder(), time.Minute))(t)
	fence := jobs.Fence{Tick: at, Token: first.Token}
	s, _, mine := newSleeper(fence.Within(t.Context()), t, sel, n/2,
		func(g *graph.Graph) report.Table { return newTable(t, g, "lost-"+token()) })
	must.Do(t, other.Jobs().Yield(t.Context(), at, first.Token, time.Time{}, ""))
	must.Get(other.Jobs().Claim(t.Context(), at, holder(), time.Minute))(t)
	before := written(t, sel.NodeLabels[0], mine.RunID())
	close(s.wake)
	if err := <-s.ended; !errors.Is(err, jobs.ErrLost) {
		t.Errorf("the write: %v, want ErrLost", err)
	}
	if after := written(t, sel.NodeLabels[0], mine.RunID()); after != before {
		t.Errorf("%d nodes were written before and %d after", before, after)
	}
	if _, err := other.Undo(t.Context(), mine.RunID()); err != nil {
		t.Error(err)
	}
}

// TestUndoBesideNewer: an undo that waits for a newer run to commit its values leaves them.
func TestUndoBesideNewer(t *testing.T) {
	const n = 10
	setUp(t)
	s, sel := connect(t), line(t, n)
	g := must.Get(s.Graph(t.Context(), sel))(t)
	old := newTable(t, g, "old-"+token())
	must.Do(t, s.Write(t.Context(), g, old, false))
	match, set, want := "MATCH (n:`"+sel.NodeLabels[0]+"`) ", "", "true"
	for _, c := range old.Columns() {
		value := "'newer'"
		switch {
		case c.Floats != nil:
			value = "7.0"
		case c.Ints != nil:
			value = "7"
		}
		set += ", n.`" + c.Name + "` = " + value
		want += " AND n.`" + c.Name + "` = " + value
	}
	newer := inTransaction(t, match+"SET "+set[2:], nil)
	ended := make(chan error, 1)
	go func() { _, err := s.Undo(t.Context(), old.RunID()); ended <- err }()
	untilBlocked(t, "undo", ended)
	must.Do(t, newer.Commit(t.Context()))
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if rows := Query(t, match+"WHERE "+want+" RETURN count(n)", nil); rows[0][0] != int64(n) {
		t.Errorf("%v of %d nodes hold the newer values", rows[0][0], n)
	}
}

// inTransaction runs Cypher in a transaction that the test commits.
func inTransaction(t *testing.T, text string, params map[string]any) driver.ExplicitTransaction {
	t.Helper()
	client := must.Get(Server(t).driver())(t)
	session := client.NewSession(t.Context(), driver.SessionConfig{DatabaseName: Server(t).Database})
	t.Cleanup(func() { session.Close(context.Background()) })
	tx := must.Get(session.BeginTransaction(t.Context()))(t)
	result, err := tx.Run(t.Context(), text, params)
	if err == nil {
		_, err = result.Consume(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

// untilBlocked returns when a transaction of a phase waits for a lock.
func untilBlocked(t *testing.T, phase string, ended <-chan error) {
	t.Helper()
	for blocked := false; !blocked; time.Sleep(10 * time.Millisecond) {
		blocked = len(Query(t, "SHOW TRANSACTIONS YIELD metaData, status WHERE metaData.app = 'graphcloak' AND metaData.phase = $phase "+
			"AND status STARTS WITH 'Blocked' RETURN 1", map[string]any{"phase": phase})) > 0
		select {
		case err := <-ended:
			t.Fatalf("it ended before it waited: %v", err)
		default:
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/privacy"
)

// retryTime bounds the attempts at one transaction, retryPause is the mean pause
// before the second; each further one is twice as long, up to longestPause.
//
// shortTime is the server-side timeout of a short transaction: it also frees the lock of a
// client that is gone. The client gives up answerTime later. lostTime bounds the attempts
// to find out whether a commit happened: longer than such a lock or a server restart.
const (
	retryTime    = 10 * time.Second
	retryPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
	shortTime    = 30 * time.Second
	answerTime   = 5 * time.Second
	patience     = 4 * time.Second // before the user is notified
)

// lostPace is lostTime where the linker sets it: tests that take the server away do not wait for it.
var (
	lostPace string
	lostTime = longest(lostPace)
)

func longest(pace string) time.Duration {
	if d, err := time.ParseDuration(pace); err == nil {
		return d
	}
	return 90 * time.Second
}

// read runs work in read access mode, in which the server refuses to write.
func (s *Store) read(ctx context.Context, phase string, work func(*transaction) error) error {
	return s.managed(ctx, access{mode: neo4j.AccessModeRead, phase: phase}, work)
}

// write runs work in a transaction that may write. Work must do no harm when it is
// done twice: it is repeated where the answer to its commit was lost.
func (s *Store) write(ctx context.Context, phase string, work func(*transaction) error) error {
	return s.writing(ctx, access{phase: phase}, work)
}

// record is write for the small transactions that decide behind a lock. One that is done
// for a tick ends with its fence.
func (s *Store) record(ctx context.Context, phase string, work func(*transaction) error) error {
	return s.writing(ctx, access{phase: phase, short: true}, work)
}

// writeOnce is write for work that must not be done twice.
func (s *Store) writeOnce(ctx context.Context, phase string, work func(*transaction) error) error {
	return s.writing(ctx, access{phase: phase, once: true}, work)
}

func (s *Store) writing(ctx context.Context, a access, work func(*transaction) error) error {
	if s.options.ReadOnly {
		return fmt.Errorf("%w: the access mode is read", connector.ErrReadOnly)
	}
	a.mode = neo4j.AccessModeWrite
	return s.managed(ctx, a, work)
}

// access says how a transaction is run.
type access struct {
	mode  neo4j.AccessMode
	phase string
	short bool // it takes no time but that of waiting for a lock
	once  bool // it is not repeated where the answer to its commit was lost
}

// managed runs work in a transaction of its own and repeats it, for retryTime, as
// long as the driver calls the error retryable, and for lostTime where the answer to
// a commit was lost: whether the work was done is then unknown until a later attempt
// has come to its end, and the error is [privacy.ErrUncertain] where none has.
// The driver's own managed transactions would also repeat a batch that is too large for
// the server's memory, which shows at the commit only, where the work cannot stop
// them.
func (s *Store) managed(ctx context.Context, a access, work func(*transaction) error) error {
	session := s.driver.NewSession(ctx, neo4j.SessionConfig{
		DatabaseName: s.options.Database, AccessMode: a.mode,
	})
	defer hangUp(ctx, session.Close)
	if a.mode == neo4j.AccessModeWrite {
		defer s.noteWait(a)()
	}
	window := retryTime
	if a.short {
		window = lostTime
	}
	uncertain, end := false, time.Now().Add(window)
	for pause := retryPause; ; pause = min(2*pause, longestPause) {
		o := s.attempt(ctx, session, a, work)
		if o.lost && !uncertain {
			uncertain, end = true, time.Now().Add(lostTime)
		}
		uncertain = uncertain && !o.decided
		if a.once && uncertain || !o.again && !uncertain || ctx.Err() != nil || time.Now().Add(pause).After(end) {
			return asUncertain(uncertain, classify(ctx, o.err))
		}
		select {
		case <-time.After(pause/2 + rand.N(pause)): // two that met in a deadlock do not meet again
		case <-ctx.Done():
			return asUncertain(uncertain, ctx.Err())
		}
	}
}

func asUncertain(uncertain bool, err error) error {
	if !uncertain || err == nil {
		return err
	}
	return fmt.Errorf("%w: %w", privacy.ErrUncertain, err)
}

// ending is how an attempt at a transaction ended.
type ending struct {
	err     error
	decided bool // work came to an end of its own behind its lock, or was committed
	lost    bool // nobody knows whether it was committed
	again   bool // another attempt may help
}

// attempt runs work once and commits, or rolls back where it fails. The commit is
// not cancelled with the context: it takes a moment, and leaves no doubt.
func (s *Store) attempt(parent context.Context, session neo4j.SessionWithContext, a access, work func(*transaction) error) ending {
	limit := s.options.Timeout
	ctx, cancel := parent, func() {}
	if a.short {
		limit = shortTime
		ctx, cancel = context.WithTimeout(parent, shortTime+answerTime)
	}
	defer cancel()
	late := a.short && parent.Err() == nil // a context that ends is then the attempt's own
	failed := func(err error, decided bool) ending {
		again := repeatable(err) || a.short && isCode(err, codeTimedOut, codeTimedOutClient, codeLockStopped) || late && ctx.Err() != nil
		return ending{err: err, again: again && !decided, decided: decided}
	}
	tx, err := session.BeginTransaction(ctx, neo4j.WithTxMetadata(map[string]any{"app": "graphcloak", "phase": a.phase}),
		neo4j.WithTxTimeout(limit))
	if err != nil {
		return failed(err, false)
	}
	defer hangUp(ctx, tx.Close)
	t := &transaction{ctx: ctx, tx: tx}
	err = work(t)
	if f, ok := jobs.FenceOf(ctx); ok && a.short && err == nil {
		err = t.fenced(f)
	}
	if err != nil {
		return failed(err, t.answered && t.failed == nil)
	}
	commit, stop := context.WithTimeout(context.WithoutCancel(ctx), limit+answerTime)
	defer stop()
	if err = tx.Commit(commit); err == nil {
		return ending{decided: true}
	}
	o := ending{err: err, again: repeatable(err)}
	o.lost = a.mode == neo4j.AccessModeWrite && !refusedAtCommit(err)
	return o
}

// hangUp ends a transaction or a session in order, also after the context, but does not
// wait for a server that is silent.
func hangUp(ctx context.Context, end func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTime)
	defer cancel()
	_ = end(ctx) // a connection that cannot be closed in order is dropped, and with it its transaction
}

// refusedAtCommit reports whether the server said that it rolled back. Faults of the
// database or of its cluster may leave a commit behind.
func refusedAtCommit(err error) bool {
	e, ok := serverError(err)
	return ok && !strings.HasPrefix(e.Code, "Neo.DatabaseError.") && !strings.Contains(e.Code, ".Cluster.") && e.Code != codeUnavailable
}

// noteWait says after some time that a transaction waits, and what ends that.
// It returns how to stop the clock.
func (s *Store) noteWait(a access) (stop func()) {
	limit := s.options.Timeout
	if a.short {
		limit = shortTime
	}
	t := time.AfterFunc(patience, func() {
		s.options.Notify(fmt.Sprintf("Waiting for the server (%s): another transaction may hold the lock, such as one whose "+
			"connection was cut. "+
			"The server frees it when that transaction has run for %s at most; SHOW TRANSACTIONS lists it.", a.phase, limit))
	})
	return func() { t.Stop() }
}

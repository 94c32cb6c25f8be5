// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/privacy"
)

// transaction runs statements. The function that gets it may run again, so it
// must set its results again each time, and must not keep the transaction. Where it
// decides, its first statement takes the lock.
type transaction struct {
	ctx      context.Context
	tx       neo4j.ExplicitTransaction
	answered bool  // the server has run a statement: the lock is held
	failed   error // what the driver or the server said of a statement last
}

// widest is the number of columns that any statement of ours reads.
const widest = 8

// rows runs a statement and hands over its records as they arrive.
func (t *transaction) rows(text cypher, params map[string]any, each func(*neo4j.Record) error) (summary neo4j.ResultSummary, err error) {
	result, err := t.tx.Run(t.ctx, string(text), params)
	if err != nil {
		t.failed = err
		return nil, err
	}
	for result.Next(t.ctx) {
		r := result.Record()
		for len(r.Values) < widest { // a server that leaves values out has sent null for them
			r.Values = append(r.Values, nil)
		}
		if err := each(r); err != nil {
			return nil, err
		}
	}
	if err = result.Err(); err == nil {
		summary, err = result.Consume(t.ctx)
	}
	t.answered, t.failed = t.answered || err == nil, err
	return summary, err
}

// one runs a statement and returns its only record.
func (t *transaction) one(text cypher, params map[string]any) (record *neo4j.Record, err error) {
	_, err = t.rows(text, params, func(r *neo4j.Record) error { record = r; return nil })
	if err == nil && record == nil {
		err = fmt.Errorf("neo4j: no record from %q", text)
	}
	return record, err
}

// count runs a statement whose only value is a whole number.
func (t *transaction) count(text cypher, params map[string]any) (int64, error) {
	r, err := t.one(text, params)
	if err != nil {
		return 0, err
	}
	n, ok := r.Values[0].(int64)
	if !ok {
		return 0, fmt.Errorf("neo4j: %T from %q, want a count", r.Values[0], text)
	}
	return n, nil
}

// do runs a statement for its effect.
func (t *transaction) do(text cypher, params map[string]any) error {
	_, err := t.rows(text, params, func(*neo4j.Record) error { return nil })
	return err
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
		defer s.tellWait(a)()
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

// tellWait says after some time that a transaction waits, and what ends that.
// It returns how to stop the clock.
func (s *Store) tellWait(a access) (stop func()) {
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

// version of a server: 5.26.0, or 2026.8.1 by the calendar.
type version struct {
	text         string
	major, minor int
}

func parseVersion(text string) version {
	v := version{text: text}
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == '.' || r == '-' || r == '+' })
	if len(parts) >= 2 {
		v.major, _ = strconv.Atoi(parts[0])
		v.minor, _ = strconv.Atoi(parts[1])
	}
	return v
}

// check refuses a server before 5.26, the oldest that takes names of labels and types as values.
func (v version) check() error {
	if v.major > 5 || v.major == 5 && v.minor >= 26 {
		return nil
	}
	return fmt.Errorf("%w: the server is Neo4j %s", connector.ErrInput, v.text)
}

// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/graphcloak/graphcloak/connector/store"
)

// transaction runs statements. The function that gets it may run again, so it
// must set its results anew each time, and must not keep the transaction.
type transaction struct {
	ctx context.Context
	tx  neo4j.ExplicitTransaction
}

// rows runs a statement and hands over its records as they arrive.
func (t *transaction) rows(cypher string, params map[string]any, each func(*neo4j.Record) error) (neo4j.ResultSummary, error) {
	result, err := t.tx.Run(t.ctx, cypher, params)
	if err != nil {
		return nil, err
	}
	for result.Next(t.ctx) {
		if err := each(result.Record()); err != nil {
			return nil, err
		}
	}
	if err := result.Err(); err != nil {
		return nil, err
	}
	return result.Consume(t.ctx)
}

// one runs a statement and returns its only record.
func (t *transaction) one(cypher string, params map[string]any) (record *neo4j.Record, err error) {
	_, err = t.rows(cypher, params, func(r *neo4j.Record) error { record = r; return nil })
	if err == nil && record == nil {
		err = fmt.Errorf("connector: no record from %q", cypher)
	}
	return record, err
}

// count runs a statement whose only value is a whole number.
func (t *transaction) count(cypher string, params map[string]any) (int64, error) {
	r, err := t.one(cypher, params)
	if err != nil {
		return 0, err
	}
	n, ok := r.Values[0].(int64)
	if !ok {
		return 0, fmt.Errorf("connector: %T from %q, want a count", r.Values[0], cypher)
	}
	return n, nil
}

// do runs a statement for its effect.
func (t *transaction) do(cypher string, params map[string]any) error {
	_, err := t.rows(cypher, params, func(*neo4j.Record) error { return nil })
	return err
}

// read runs work in read access mode, in which the server refuses to write.
func (s *Store) read(ctx context.Context, phase string, work func(*transaction) error) error {
	return s.managed(ctx, s.options.Database, neo4j.AccessModeRead, phase, work)
}

// write runs work in a transaction that may write.
func (s *Store) write(ctx context.Context, phase string, work func(*transaction) error) error {
	if s.options.ReadOnly {
		return fmt.Errorf("%w: the access mode is read", store.ErrReadOnly)
	}
	return s.managed(ctx, s.options.Database, neo4j.AccessModeWrite, phase, work)
}

// managed runs work in a transaction of its own and repeats it, for retryTime, as
// long as the driver calls the error retryable. The driver's own managed
// transactions would also repeat a batch that is too large for the server's
// memory, which shows at the commit only, where the work cannot stop them.
func (s *Store) managed(ctx context.Context, database string, mode neo4j.AccessMode, phase string, work func(*transaction) error) error {
	session := s.driver.NewSession(ctx, neo4j.SessionConfig{
		DatabaseName: database, AccessMode: mode, ImpersonatedUser: s.options.Impersonate,
	})
	defer session.Close(ctx)
	meta := map[string]any{"app": "graphcloak", "phase": phase}
	if s.options.JobID != "" {
		meta["jobId"] = s.options.JobID
	}
	end := time.Now().Add(retryTime)
	for pause := retryPause; ; pause *= 2 {
		again, err := attempt(ctx, session, work, neo4j.WithTxMetadata(meta), neo4j.WithTxTimeout(s.options.Timeout))
		if !again || time.Now().Add(pause).After(end) {
			return classify(ctx, err)
		}
		select {
		case <-time.After(pause/2 + rand.N(pause)): // two that met in a deadlock do not meet again
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// attempt runs work once and commits, or rolls back where it fails. Another attempt
// may follow unless the connection was lost in the commit: then nobody knows
// whether the work was done.
func attempt(ctx context.Context, session neo4j.SessionWithContext, work func(*transaction) error, configure ...func(*neo4j.TransactionConfig)) (again bool, err error) {
	tx, err := session.BeginTransaction(ctx, configure...)
	if err != nil {
		return repeatable(err), err
	}
	defer tx.Close(ctx)
	if err := work(&transaction{ctx, tx}); err != nil {
		return repeatable(err), err
	}
	err = tx.Commit(ctx)
	_, lost := errors.AsType[*neo4j.ConnectivityError](err)
	return repeatable(err) && !lost, err
}

// quote writes a name (label, type, property) as Cypher text.
func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// quoteAll writes :`A`|`B`, or nothing where every label or type is meant.
func quoteAll(names []string) string {
	if len(names) == 0 {
		return ""
	}
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = quote(n)
	}
	return ":" + strings.Join(quoted, "|")
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

// check refuses a server before 5.23.
func (v version) check() error {
	if v.major > 5 || v.major == 5 && v.minor >= 23 {
		return nil
	}
	return fmt.Errorf("%w: the server is Neo4j %s", store.ErrInput, v.text)
}

// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"context"
	"errors"
	"fmt"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
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

// lock makes transactions with the same name run one after the other: the lock is
// taken by a statement of its own, so that what follows reads what the one before
// has committed.
func (t *transaction) lock(name string) error {
	return t.do("MERGE (l:"+lockLabel+" {name: $name}) SET l.held = coalesce(l.held, 0) + 1", map[string]any{"name": name})
}

// errNothing rolls back a transaction that has nothing to store.
var errNothing = errors.New("neo4j: nothing to store")

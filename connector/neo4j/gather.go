// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"context"
	"errors"
	"maps"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
)

// A record for each node or relationship costs the driver more than the server: it
// starts a goroutine for every read from the network. Records are therefore columns
// that the server has collected, of recordSize values.
const (
	recordSize  = 5000
	readBatches = 10 // batches that a transaction reads
)

// missing stands for a property that is not there in a list collected by the
// server, because collect() passes over null. No property can hold a map.
const missing = "{}"

// gather reads columns of what a MATCH binds. The first column is never null.
type gather[T any] struct {
	match   cypher
	columns []cypher       // expressions
	pieces  bool           // match binds the ids [$at[k], $at[k+1]): a record for each k
	params  map[string]any // of every transaction
	// unpack is called in the session that reads, while the record is in its
	// processor's cache; a transaction that is repeated unpacks again.
	unpack func(*neo4j.Record) T
}

// asIs unpacks nothing.
func asIs(r *neo4j.Record) *neo4j.Record { return r }

// statement returns the text, in which [missing] stands for a missing value.
func (g gather[T]) statement() cypher {
	names, collected := make([]cypher, len(g.columns)), make([]cypher, len(g.columns))
	for i, c := range g.columns {
		if i > 0 && c != none {
			c = "coalesce(" + c + ", " + missing + ")"
		}
		names[i] = numbered("column", i)
		collected[i] = "collect(" + c + ") AS " + names[i]
	}
	text := g.match + " RETURN " + join(collected, ", ")
	if g.pieces {
		text = "UNWIND range(0, size($at) - 2) AS k CALL (k) { " + text + " } RETURN " + join(names, ", ")
	}
	return text
}

// read returns the records of one transaction, unpacked.
func (g gather[T]) read(ctx context.Context, s *Store, stage string, of map[string]any) (records []T, err error) {
	params := map[string]any{}
	maps.Copy(params, g.params)
	maps.Copy(params, of)
	err = s.read(ctx, stage, func(tx *transaction) error {
		records = nil
		_, err := tx.rows(g.statement(), params, func(r *neo4j.Record) error {
			for i, c := range g.columns {
				if c != none && len(list(r, i)) != len(list(r, 0)) {
					return errors.New("neo4j: the server's columns are of different lengths")
				}
			}
			records = append(records, g.unpack(r))
			return nil
		})
		return err
	})
	return records, err
}

// run reads in chunks, a transaction each, with the parameters of each, and hands
// over the records, one at a time.
func (g gather[T]) run(ctx context.Context, s *Store, t task, size int64, params func(at span) map[string]any,
	take func(at span, record T) error,
) error {
	return inChunks(ctx, s, t, size, func(ctx context.Context, at span) ([]T, error) {
		return g.read(ctx, s, t.stage, params(at))
	}, func(at span, records []T) error {
		for _, r := range records {
			if err := take(at, r); err != nil {
				return err
			}
		}
		return nil
	})
}

// cuts parts a span into pieces of recordSize.
func (at span) cuts() []int64 {
	var cuts []int64
	for lo := at.lo; lo < at.hi; lo += recordSize {
		cuts = append(cuts, lo)
	}
	return append(cuts, at.hi)
}

// readAll runs a statement in a transaction of its own and returns its records.
// A server that is short of memory gives errTooLarge.
func (s *Store) readAll(ctx context.Context, phase string, text cypher, params map[string]any) (records []*neo4j.Record, err error) {
	err = s.read(ctx, phase, func(tx *transaction) error {
		records = nil
		_, err := tx.rows(text, params, func(r *neo4j.Record) error {
			records = append(records, r)
			return nil
		})
		return err
	})
	return records, err
}

func list(r *neo4j.Record, column int) []any {
	l, _ := r.Values[column].([]any)
	return l
}

// entry returns value k of a column: nil where it is [missing] or the column ends before
// it, as one that is not asked for.
func entry(column []any, k int) any {
	if k >= len(column) {
		return nil
	}
	if _, ok := column[k].(map[string]any); ok {
		return nil
	}
	return column[k]
}

func texts(values []any) []string {
	out := make([]string, 0, len(values))
	for _, v := range values {
		text, _ := v.(string)
		out = append(out, text)
	}
	return out
}

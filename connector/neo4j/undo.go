// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/jobs"
)

// Undo removes the properties that the run wrote from the nodes that still carry its id,
// and sets its status to UNDONE. A statement finds its nodes before it locks them: where a
// newer run has written to one in between, the lock shows it, and nothing is committed. The record stays, for what the run spent stays
// spent.
// It returns the errors of [Store.Check].
func (s *Store) Undo(ctx context.Context, runID string) (int64, error) {
	run, err := s.Run(ctx, runID)
	if err != nil {
		return 0, err
	}
	writer := rand.Text()
	err = s.record(ctx, "run", func(tx *transaction) error {
		return tx.do("MATCH (r:"+connector.RunLabel+" {runId: $id}) SET r."+keyWriter+" = $writer",
			map[string]any{"id": runID, "writer": writer})
	})
	if err != nil {
		return 0, err
	}
	if run.Write.Status == jobs.Undone || len(run.Write.Columns) == 0 {
		return 0, s.settle(ctx, runID, writer, jobs.Undone, "undoneAt", 0)
	}
	elements, err := s.carriers(ctx, run.Write.RunIDColumn, runID)
	if err != nil {
		return 0, err
	}
	names := naming{}
	owner := names.property("n", run.Write.RunIDColumn)
	var remove []cypher
	for _, c := range run.Write.Columns {
		if c != run.Write.RunIDColumn {
			remove = append(remove, names.property("n", c)+" = null")
		}
	}
	mine := "UNWIND $e AS e MATCH (n) WHERE elementId(n) = e AND " + owner + " = $run "
	values, disown := mine+"SET "+join(remove, ", ")+" RETURN count(n)", mine+"SET "+names.property("n", run.Write.RunIDColumn)+
		" = null RETURN count(n)"
	removed := int64(0)
	err = inChunks(ctx, s, each("undo", len(elements)), int64(s.options.BatchSize),
		func(ctx context.Context, at span) (n int64, err error) {
			params := map[string]any{"e": elements[at.lo:at.hi], "run": runID}
			maps.Copy(params, names)
			for again := true; again && err == nil; {
				err = s.write(ctx, "undo", func(tx *transaction) error {
					all := int64(0)
					if len(remove) > 0 {
						if all, err = tx.count(values, params); err != nil {
							return err
						}
					}
					if n, err = tx.count(disown, params); err != nil {
						return err
					}
					if again = n < all; again {
						return errNothing
					}
					return tx.mine(runID, writer)
				})
				if again && errors.Is(err, errNothing) {
					err = nil
				}
			}
			return n, err
		}, func(_ span, n int64) error {
			removed += n
			return nil
		})
	if err != nil {
		return removed, fmt.Errorf("undo: %w", err)
	}
	return removed, s.settle(ctx, runID, writer, jobs.Undone, "undoneAt", 0)
}

// carriers returns the elements of the nodes that carry a run's id.
func (s *Store) carriers(ctx context.Context, column, runID string) (elements []string, err error) {
	names := naming{}
	params := map[string]any{"run": runID}
	owner := names.property("n", column)
	maps.Copy(params, names)
	err = s.read(ctx, "find", func(tx *transaction) error {
		elements = elements[:0]
		_, err := tx.rows("MATCH (n) WHERE "+owner+" = $run AND NOT n:"+connector.RunLabel+" RETURN elementId(n)", params,
			func(r *neo4j.Record) error {
				element, _ := r.Values[0].(string)
				elements = append(elements, element)
				return nil
			})
		return err
	})
	return elements, err
}

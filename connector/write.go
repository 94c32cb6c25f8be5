// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/graphcloak/graphcloak/connector/store"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/report"
)

// Check decides whether the table may be written and writes nothing. ErrConflict:
// a property that no known run has written stands on a selected node under one of
// the table's names (force overwrites it), or a run is unfinished on this graph.
func (s *Store) Check(ctx context.Context, g *graph.Graph, t report.Table, force bool) error {
	if s.options.ReadOnly {
		return fmt.Errorf("%w: the access mode is read", store.ErrReadOnly)
	}
	runs, err := s.Runs(ctx)
	if err != nil {
		return err
	}
	run := store.NewRun(g.Digest(), t)
	touched, err := s.obstacles(ctx, g, run, runs, force)
	if err != nil {
		return err
	}
	return run.Admit(runs, touched)
}

// obstacles looks at the selected nodes for properties under the run's names. It
// returns the ids of the runs that wrote them, and refuses those that none wrote.
func (s *Store) obstacles(ctx context.Context, g *graph.Graph, run store.Run, runs []store.Run, force bool) ([]string, error) {
	elements, err := s.nodes.Get(g)
	if err != nil {
		return nil, err
	}
	o := store.NewObstacles(run, runs)
	cypher := "UNWIND range(0, size($e) - 1) AS i MATCH (n) WHERE elementId(n) = $e[i] " +
		"WITH n[$column] AS owner, [c IN $columns WHERE n[c] IS NOT NULL] AS present, i WHERE size(present) > 0 " +
		"WITH owner, present, collect(i) AS nodes RETURN collect([owner, present, nodes])"
	err = inChunks(ctx, s, "check", len(elements), s.options.BatchSize, func(ctx context.Context, at span) (*neo4j.Record, error) {
		return s.readOne(ctx, "check", cypher, map[string]any{"e": elements[at.lo:at.hi], "column": run.RunIDColumn, "columns": run.Columns})
	}, func(at span, r *neo4j.Record) error {
		for _, group := range list(r, 0) {
			group, _ := group.([]any)
			present, _ := group[1].([]any)
			nodes, _ := group[2].([]any)
			for _, v := range nodes {
				i, _ := v.(int64)
				o.Add(g.ID(at.lo+int(i)), group[0], present)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return o.Result(force)
}

var errOutline = errors.New("connector: the table has no values")

// Write writes the table in batches by elementId and keeps the run's node: its
// status is RUNNING from before the first value until after the last, then
// FINISHED. Called again with the same table it completes an interrupted write.
// Values that an earlier run left under other names of the same run-id property
// are removed from the nodes that this one writes.
func (s *Store) Write(ctx context.Context, g *graph.Graph, t report.Table, force bool) error {
	start := time.Now()
	if !store.HasValues(t) {
		return errOutline
	}
	elements, err := s.nodes.Get(g)
	if err != nil {
		return err
	}
	if err := s.constrainOnce(ctx); err != nil {
		return err
	}
	run := store.NewRun(g.Digest(), t)
	stale, err := s.begin(ctx, g, run, force)
	if err != nil {
		return err
	}
	nodes := store.Covered(t, g.Order())
	batch := newBatch(t, nodes, elements, stale)
	written := int64(0)
	err = inChunks(ctx, s, "write", len(nodes), s.options.BatchSize, func(ctx context.Context, at span) (n int64, err error) {
		params := batch.params(at)
		err = s.write(ctx, "write", func(tx *transaction) error {
			n, err = tx.count(batch.cypher, params)
			return err
		})
		return n, err
	}, func(_ span, n int64) error {
		written += n
		return nil
	})
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if gone := int64(len(nodes)) - written; gone != 0 {
		return fmt.Errorf("%w: %d of %d nodes are gone since the graph was read; run %s stays unfinished, remove it with --undo %s",
			store.ErrConflict, gone, len(nodes), run.ID, run.ID)
	}
	if err := s.settle(ctx, run.ID, store.Finished, "finishedAt", written); err != nil {
		return err
	}
	s.options.Logger.InfoContext(ctx, "run written", "runId", run.ID, "nodeCount", written, "durationMillis", time.Since(start).Milliseconds())
	return nil
}

// begin records that the run is being written, unless something is in its way.
// The decision and the record are one transaction behind a lock, so that of two
// runs that start together one sees the other.
func (s *Store) begin(ctx context.Context, g *graph.Graph, run store.Run, force bool) (stale []string, err error) {
	runs, err := s.Runs(ctx)
	if err != nil {
		return nil, err
	}
	touched, err := s.obstacles(ctx, g, run, runs, force)
	if err != nil {
		return nil, err
	}
	err = s.write(ctx, "run", func(tx *transaction) error {
		if err := tx.lock("write"); err != nil {
			return err
		}
		known, err := tx.runs("")
		if err != nil {
			return err
		}
		if err := run.Admit(known, touched); err != nil {
			return err
		}
		stale = run.Stale(known)
		return tx.put(run)
	})
	return stale, err
}

// batch prepares the parameters of a write: nodes in the order of the database,
// and each column in the same order.
type batch struct {
	cypher   string
	runID    string
	elements []string
	columns  []any // []float64, []int64, []string, or []any where some nodes have no value
}

func newBatch(t report.Table, nodes []int, elements []string, stale []string) *batch {
	order := slices.Clone(nodes)
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(len(elements[a]), len(elements[b])), cmp.Compare(elements[a], elements[b]))
	})
	b := &batch{runID: t.RunID(), elements: make([]string, len(order))}
	for k, i := range order {
		b.elements[k] = elements[i]
	}
	var set []string
	for _, c := range t.Columns() {
		if c.Name == t.RunIDColumn() {
			set = append(set, "n."+quote(c.Name)+" = $run")
			continue
		}
		set = append(set, fmt.Sprintf("n.%s = $c%d[i]", quote(c.Name), len(b.columns)))
		b.columns = append(b.columns, arrange(c, order))
	}
	for _, name := range stale {
		set = append(set, "n."+quote(name)+" = null")
	}
	b.cypher = "UNWIND range(0, size($e) - 1) AS i MATCH (n) WHERE elementId(n) = $e[i] SET " + strings.Join(set, ", ") + " RETURN count(n)"
	return b
}

// arrange puts a column into the order of writing. Where a node has no value the
// entry is nil, which removes the property.
func arrange(c report.Column, order []int) any {
	if c.Nodes == nil {
		switch {
		case c.Floats != nil:
			return pick(c.Floats, order)
		case c.Ints != nil:
			return pick(c.Ints, order)
		default:
			return pick(c.Strings, order)
		}
	}
	values := make([]any, len(order))
	for k, i := range order {
		if at, ok := slices.BinarySearch(c.Nodes, i); ok {
			values[k] = store.Cell(c, at)
		}
	}
	return values
}

func pick[T any](values []T, order []int) []T {
	picked := make([]T, len(order))
	for k, i := range order {
		picked[k] = values[i]
	}
	return picked
}

func (b *batch) params(at span) map[string]any {
	p := map[string]any{"e": b.elements[at.lo:at.hi], "run": b.runID}
	for k, c := range b.columns {
		name := fmt.Sprintf("c%d", k)
		switch v := c.(type) {
		case []float64:
			p[name] = v[at.lo:at.hi]
		case []int64:
			p[name] = v[at.lo:at.hi]
		case []string:
			p[name] = v[at.lo:at.hi]
		case []any:
			p[name] = v[at.lo:at.hi]
		}
	}
	return p
}

// Undo removes the properties that the run wrote from the nodes that still carry
// its id, and sets its status to UNDONE. The record stays, for what the run spent
// stays spent.
func (s *Store) Undo(ctx context.Context, runID string) (int64, error) {
	run, err := s.Run(ctx, runID)
	if err != nil {
		return 0, err
	}
	if run.Status == store.Undone || run.RunIDColumn == "" {
		return 0, s.settle(ctx, runID, store.Undone, "undoneAt", 0)
	}
	column := quote(run.RunIDColumn)
	found, err := s.readOne(ctx, "undo", "MATCH (n) WHERE n."+column+" = $run AND NOT n:"+store.RunLabel+" RETURN collect(elementId(n))", map[string]any{"run": runID})
	if err != nil {
		return 0, err
	}
	elements := list(found, 0)
	var remove []string
	for _, c := range run.Columns {
		remove = append(remove, "n."+quote(c))
	}
	cypher := "UNWIND $e AS e MATCH (n) WHERE elementId(n) = e AND n." + column + " = $run REMOVE " + strings.Join(remove, ", ") + " RETURN count(n)"
	removed := int64(0)
	err = inChunks(ctx, s, "undo", len(elements), s.options.BatchSize, func(ctx context.Context, at span) (n int64, err error) {
		err = s.write(ctx, "undo", func(tx *transaction) error {
			n, err = tx.count(cypher, map[string]any{"e": elements[at.lo:at.hi], "run": runID})
			return err
		})
		return n, err
	}, func(_ span, n int64) error {
		removed += n
		return nil
	})
	if err != nil {
		return removed, fmt.Errorf("undo: %w", err)
	}
	return removed, s.settle(ctx, runID, store.Undone, "undoneAt", 0)
}

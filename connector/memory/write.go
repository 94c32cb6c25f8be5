// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/report"
)

// Runs returns what is known of every run, by id.
func (s *Store) Runs(context.Context) ([]connector.Run, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.allRuns(), nil
}

func (s *Store) allRuns() (runs []connector.Run) {
	for _, id := range slices.Sorted(maps.Keys(s.runs)) {
		r := s.runs[id]
		r.Record = maps.Clone(r.Record)
		runs = append(runs, r)
	}
	return runs
}

// Run returns what is known of one run, or a [connector.ErrNotFound].
func (s *Store) Run(ctx context.Context, runID string) (connector.Run, error) {
	runs, err := s.Runs(ctx)
	if err != nil {
		return connector.Run{}, err
	}
	return connector.FindRun(runs, runID)
}

// Check decides whether the table may be written and writes nothing.
// A [connector.ErrConflict]: a property that no known run has written stands under one of
// the table's names, unless force is set, or a run is unfinished.
func (s *Store) Check(_ context.Context, g *graph.Graph, t report.Table, force bool) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.admit(g, connector.NewRun(g.Digest(), t), force)
}

// admit decides whether a run may begin.
func (s *Store) admit(g *graph.Graph, run connector.Run, force bool) error {
	rows, err := s.rows.Get(g)
	if err != nil {
		return err
	}
	o := connector.NewObstacles(run, s.allRuns())
	for _, row := range rows {
		var present []any
		for _, c := range run.Columns {
			if s.value(row, c) != nil {
				present = append(present, c)
			}
		}
		if len(present) > 0 {
			o.Add(s.value(row, run.RunIDColumn), present, 1)
		}
	}
	touched, err := o.Result(force)
	if err != nil {
		return err
	}
	return run.Admit(s.allRuns(), touched)
}

// Reserve records that the table's run is about to spend, unless something is in its
// way: a [connector.ErrConflict] as from Check.
func (s *Store) Reserve(ctx context.Context, g *graph.Graph, t report.Table, force bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	run := connector.NewRun(g.Digest(), t)
	run.Status = connector.Reserved
	if err := s.admit(g, run, force); err != nil {
		return err
	}
	s.runs[run.ID] = run
	return nil
}

// Cancel gives up a reservation for which nothing was spent. A run that has come
// further is left as it is.
func (s *Store) Cancel(ctx context.Context, runID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if run, ok := s.runs[runID]; ok && run.Status == connector.Reserved {
		s.settle(run, connector.Cancelled, "cancelledAt", 0)
	}
	return nil
}

// settle sets the status of a run, and the time under a name such as finishedAt.
func (s *Store) settle(run connector.Run, status, when string, nodes int64) {
	run.Status, run.Nodes = status, nodes
	run.Record = maps.Clone(run.Record)
	run.Record[when] = time.Now().UTC().Format(time.RFC3339)
	s.runs[run.ID] = run
}

// Write sets the table's properties, all at once. Called again with the same table it
// changes nothing.
func (s *Store) Write(ctx context.Context, g *graph.Graph, t report.Table, force bool) error {
	if !connector.HasValues(t) {
		return errors.New("memory: the table has no values")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	rows, err := s.rows.Get(g)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	run := connector.NewRun(g.Digest(), t)
	if err := s.admit(g, run, force); err != nil {
		return err
	}
	covered := connector.Covered(t, g.Order())
	for _, name := range slices.Concat(run.Columns, run.Stale(s.allRuns())) {
		for _, i := range covered {
			s.put(rows[i], name, nil)
		}
	}
	for _, c := range t.Columns() {
		for k := range max(len(c.Floats), len(c.Ints), len(c.Strings)) {
			i := k
			if c.Nodes != nil {
				i = c.Nodes[k]
			}
			s.put(rows[i], c.Name, connector.Cell(c, k))
		}
	}
	s.settle(run, connector.Finished, "finishedAt", int64(len(covered)))
	return nil
}

// Undo removes the properties that the run wrote from the nodes that still carry its
// id. The record stays, for what the run spent stays spent.
func (s *Store) Undo(ctx context.Context, runID string) (nodes int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	run, err := connector.FindRun(s.allRuns(), runID)
	if err != nil {
		return 0, err
	}
	nodes = s.remove(run)
	s.settle(run, connector.Undone, "undoneAt", 0)
	return nodes, nil
}

// remove takes a run's properties from the nodes that carry its id.
func (s *Store) remove(run connector.Run) (nodes int64) {
	for row := range s.built.Order() {
		if s.value(row, run.RunIDColumn) != any(run.ID) {
			continue
		}
		nodes++
		for _, name := range run.Columns {
			s.put(row, name, nil)
		}
	}
	return nodes
}

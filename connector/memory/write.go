// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/report"
)

// allRuns is what is known of every run, by id.
func (s *Store) allRuns() (runs []jobs.Run) {
	for _, id := range slices.Sorted(maps.Keys(s.runs)) {
		runs = append(runs, connector.Known(s.runs[id]))
	}
	return runs
}

// Run returns what is known of one run, or a [connector.ErrNotFound].
func (s *Store) Run(_ context.Context, runID string) (jobs.Run, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return connector.FindWritten(s.allRuns(), runID)
}

// Check decides whether the table may be written and writes nothing.
// A [connector.ErrConflict]: a property that no known run has written stands under one of
// the table's names, unless force is set, or a run is unfinished.
func (s *Store) Check(_ context.Context, g *graph.Graph, t report.Table, force bool) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, err := s.admit(g, connector.NewRun(g.Digest(), t, jobs.Running), force)
	return err
}

// admit decides whether a run may begin, and returns the properties of runs before it.
func (s *Store) admit(g *graph.Graph, run jobs.Run, force bool) (stale []string, err error) {
	rows, err := s.rows.Get(g)
	if err != nil {
		return nil, err
	}
	o := connector.NewObstacles(run, s.allRuns())
	for _, row := range rows {
		var present []any
		for _, c := range run.Write.Columns {
			if s.value(row, c) != nil {
				present = append(present, c)
			}
		}
		if len(present) > 0 {
			o.Add(s.value(row, run.Write.RunIDColumn), present, 1)
		}
	}
	touched, err := o.Result(force)
	if err != nil {
		return nil, err
	}
	_, stale, err = connector.Admit(run, s.allRuns(), touched)
	return stale, err
}

// Reserve records that the table's run is about to spend, unless something is in its
// way: a [connector.ErrConflict] as from Check.
func (s *Store) Reserve(ctx context.Context, g *graph.Graph, t report.Table, force bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	run := connector.NewRun(g.Digest(), t, jobs.Reserved)
	if _, err := s.admit(g, run, force); err != nil {
		return err
	}
	s.runs[run.RunID] = run
	return nil
}

// Cancel gives up a reservation for which nothing was spent. A run that has come
// further is left as it is.
func (s *Store) Cancel(ctx context.Context, runID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if run, ok := s.runs[runID]; ok && run.WriteStatus() == jobs.Reserved {
		s.runs[runID] = run.Settled(jobs.Canceled, 0)
	}
	return nil
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
	run := connector.NewRun(g.Digest(), t, jobs.Running)
	stale, err := s.admit(g, run, force)
	if err != nil {
		return err
	}
	covered := connector.Covered(t, g.Order())
	for _, name := range slices.Concat(run.Write.Columns, stale) {
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
	s.runs[run.RunID] = run.Settled(jobs.Finished, int64(len(covered)))
	return nil
}

// Undo removes the properties that the run wrote from the nodes that still carry its
// id. The record stays, for what the run spent stays spent.
func (s *Store) Undo(ctx context.Context, runID string) (nodes int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	run, err := connector.FindWritten(s.allRuns(), runID)
	if err != nil {
		return 0, err
	}
	nodes = s.remove(run)
	s.runs[runID] = s.runs[runID].Settled(jobs.Undone, 0)
	return nodes, nil
}

// remove takes a run's properties from the nodes that carry its id.
func (s *Store) remove(run jobs.Run) (nodes int64) {
	for row := range s.built.Order() {
		if s.value(row, run.Write.RunIDColumn) != any(run.RunID) {
			continue
		}
		nodes++
		for _, name := range run.Write.Columns {
			s.put(row, name, nil)
		}
	}
	return nodes
}

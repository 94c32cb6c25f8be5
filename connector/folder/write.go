// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/report"
)

// Check decides whether the table may be written and writes nothing:
// [connector.ErrConflict] for a column of nodes.csv that no known run has written under
// one of the table's names, unless force is set, and for an unfinished run. It returns the
// errors of [Store.Run] and [CSV.Columns] too.
func (s *Store) Check(ctx context.Context, g *graph.Graph, t report.Table, force bool) error {
	runs, err := s.runs()
	if err != nil {
		return err
	}
	run := connector.NewRun(g.Digest(), t, jobs.Running)
	touched, err := s.obstacles(ctx, g, run, runs, force)
	if err == nil {
		_, _, err = connector.Admit(run, runs, touched)
	}
	return err
}

func (s *Store) obstacles(ctx context.Context, g *graph.Graph, run jobs.Run, runs []jobs.Run, force bool) ([]string, error) {
	ids, err := s.ids.Get(g)
	if err != nil {
		return nil, err
	}
	t, err := s.open(nodesFile, idColumn)
	if err != nil {
		return nil, err
	}
	o := connector.NewObstacles(run, runs)
	id, owner := t.column(idColumn), t.column(run.Write.RunIDColumn)
	columns := map[int]any{} // those that are there, and their names
	for _, c := range run.Write.Columns {
		if k := t.column(c); k >= 0 {
			columns[k] = c
		}
	}
	if len(columns) == 0 {
		return nil, errors.Join(ctx.Err(), t.file.Close())
	}
	at := slices.Sorted(maps.Keys(columns))
	err = t.each(ctx, nil, func(_ int, fields []string) error {
		var present []any
		for _, k := range at {
			if fields[k] != "" {
				present = append(present, columns[k])
			}
		}
		if len(present) == 0 {
			return nil
		}
		if _, ok := ids.of(g, fields[id]); !ok {
			return nil
		}
		if owner < 0 {
			o.Add(nil, present, 1)
		} else {
			o.Add(fields[owner], present, 1)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return o.Result(force)
}

// Reserve makes sure that there is room for the table, and records that its run is about
// to spend, unless something is in its way: ErrConflict as from Check. It returns the
// errors of [Store.Write].
func (s *Store) Reserve(ctx context.Context, g *graph.Graph, t report.Table, force bool) error {
	done, err := s.writing(ctx)
	if err != nil {
		return err
	}
	defer done()
	info, err := os.Stat(filepath.Join(s.dir, nodesFile))
	if err != nil {
		return writeError(err)
	}
	// The longest cell is the run's id and a comma, or a float of 25 bytes and a comma.
	if err := disk.Room(s.dir, info.Size()+int64(g.Order()*len(t.Columns())*(max(len(t.RunID()), 25)+1))+1<<10); err != nil {
		return writeError(err)
	}
	_, err = s.begin(ctx, g, connector.NewRun(g.Digest(), t, jobs.Reserved), force)
	return err
}

// Cancel gives up a reservation for which nothing was spent. A run that has come further
// is left as it is. It returns the errors of [Store.Write].
func (s *Store) Cancel(ctx context.Context, runID string) error {
	if run, err := s.Run(ctx, runID); err != nil || run.WriteStatus() != jobs.Reserved {
		return nil
	}
	return s.settle(runID, jobs.Reserved, jobs.Canceled, 0)
}

// begin records that the run is reserved or being written, unless something is in its
// way, and returns the properties of runs before it.
func (s *Store) begin(ctx context.Context, g *graph.Graph, run jobs.Run, force bool) (stale []string, err error) {
	known, err := s.runs()
	if err != nil {
		return nil, err
	}
	touched, err := s.obstacles(ctx, g, run, known, force)
	if err != nil {
		return nil, err
	}
	err = s.update(func(tx *bolt.Tx) error {
		known, err := loadRuns(tx)
		if err != nil {
			return err
		}
		record, old, err := connector.Admit(run, known, touched)
		if err != nil {
			return err
		}
		stale = old
		return putRun(tx, record)
	})
	return stale, err
}

// Write adds the table's columns to nodes.csv, or replaces them, by writing a new file and
// renaming it: nodes.csv holds either all values or none. The run's record goes from
// RUNNING to FINISHED. Called again with the same table it completes an interrupted write.
// It returns the errors of [Store.Check].
func (s *Store) Write(ctx context.Context, g *graph.Graph, t report.Table, force bool) error {
	if !connector.HasValues(t) {
		return errors.New("folder: the table has no values")
	}
	done, err := s.writing(ctx)
	if err != nil {
		return err
	}
	defer done()
	ids, err := s.ids.Get(g)
	if err != nil {
		return err
	}
	run := connector.NewRun(g.Digest(), t, jobs.Running)
	stale, err := s.begin(ctx, g, run, force)
	if err != nil {
		return err
	}
	covered := make([]bool, g.Order())
	nodes := connector.Covered(t, g.Order())
	for _, i := range nodes {
		covered[i] = true
	}
	written := 0
	err = s.rewrite(ctx, run.Write.Columns, func(header []string) func(fields []string) {
		id := slices.Index(header, idColumn)
		var at, empty []int
		var columns []textColumn
		for _, c := range t.Columns() {
			at, columns = append(at, slices.Index(header, c.Name)), append(columns, newTextColumn(c, g.Order()))
		}
		for k, name := range header {
			if slices.Contains(stale, name) {
				empty = append(empty, k)
			}
		}
		return func(fields []string) {
			i, ok := ids.of(g, fields[id])
			if !ok || !covered[i] {
				return
			}
			written++
			for k, c := range columns {
				fields[at[k]] = c.text(i)
			}
			for _, k := range empty {
				fields[k] = ""
			}
		}
	})
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if gone := len(nodes) - written; gone != 0 {
		return fmt.Errorf("%w: %d of %d nodes are gone since the graph was read; run %s stays unfinished, remove it with --undo %s",
			connector.ErrConflict, gone, len(nodes), run.RunID, run.RunID)
	}
	return s.settle(run.RunID, "", jobs.Finished, int64(written))
}

// Undo empties the columns that the run wrote where the nodes still carry its id, and sets
// its status to UNDONE. Columns that are empty then are left out. It returns the errors of
// [Store.Write].
func (s *Store) Undo(ctx context.Context, runID string) (int64, error) {
	done, err := s.writing(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	run, err := s.Run(ctx, runID)
	if err != nil {
		return 0, err
	}
	removed := int64(0)
	if run.Write.Status != jobs.Undone && run.Write.RunIDColumn != "" {
		if removed, err = s.remove(ctx, run); err != nil {
			return removed, fmt.Errorf("undo: %w", err)
		}
	}
	return removed, s.settle(runID, "", jobs.Undone, 0)
}

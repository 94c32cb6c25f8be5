// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/graphcloak/graphcloak/connector/store"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/report"
)

var runsBucket = []byte("runs")

// Runs returns what is known of every run, by id.
func (s *Store) Runs(ctx context.Context) (runs []store.Run, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		runs, err = loadRuns(tx)
		return err
	})
	return runs, err
}

// Run returns what is known of one run, or an ErrNotFound.
func (s *Store) Run(ctx context.Context, runID string) (store.Run, error) {
	runs, err := s.Runs(ctx)
	if err != nil {
		return store.Run{}, err
	}
	return store.FindRun(runs, runID)
}

func loadRuns(tx *bolt.Tx) (runs []store.Run, err error) {
	if tx == nil || tx.Bucket(runsBucket) == nil {
		return nil, nil
	}
	err = tx.Bucket(runsBucket).ForEach(func(_, text []byte) error {
		var r store.Run
		if err := json.Unmarshal(text, &r); err != nil {
			return fmt.Errorf("the record of a run cannot be read: %w", err)
		}
		runs = append(runs, r)
		return nil
	})
	return runs, err
}

func putRun(tx *bolt.Tx, r store.Run) error {
	b, err := tx.CreateBucketIfNotExists(runsBucket)
	if err != nil {
		return err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return b.Put([]byte(r.ID), text)
}

// settle sets the status of a run, and the time under a name such as finishedAt.
func (s *Store) settle(runID, status, when string, nodes int64) error {
	return s.update(func(tx *bolt.Tx) error {
		runs, err := loadRuns(tx)
		if err != nil {
			return err
		}
		run, err := store.FindRun(runs, runID)
		if err != nil {
			return err
		}
		run.Status, run.Nodes = status, nodes
		run.Record[when] = time.Now().UTC().Format(time.RFC3339)
		return putRun(tx, run)
	})
}

// Check decides whether the table may be written and writes nothing: ErrConflict
// for a column of nodes.csv that no known run has written under one of the
// table's names, unless force is set, and for an unfinished run.
func (s *Store) Check(ctx context.Context, g *graph.Graph, t report.Table, force bool) error {
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

func (s *Store) obstacles(ctx context.Context, g *graph.Graph, run store.Run, runs []store.Run, force bool) ([]string, error) {
	numbers, err := s.csv.nodes.Get(g)
	if err != nil {
		return nil, err
	}
	t, err := s.csv.open(nodesFile, idColumn)
	if err != nil {
		return nil, err
	}
	o := store.NewObstacles(run, runs)
	id, owner := t.column(idColumn), t.column(run.RunIDColumn)
	err = t.each(ctx, nil, func(_ int, fields []string) error {
		i, ok := numbers[fields[id]]
		if !ok {
			return nil
		}
		var present []any
		for _, c := range run.Columns {
			if k := t.column(c); k >= 0 && fields[k] != "" {
				present = append(present, c)
			}
		}
		if len(present) == 0 {
			return nil
		}
		if owner < 0 {
			o.Add(g.ID(i), nil, present)
		} else {
			o.Add(g.ID(i), fields[owner], present)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return o.Result(force)
}

// Write adds the table's columns to nodes.csv, or replaces them, by writing a new
// file and renaming it: nodes.csv holds either all values or none. The run's
// record goes from RUNNING to FINISHED. Called again with the same table it
// completes an interrupted write.
func (s *Store) Write(ctx context.Context, g *graph.Graph, t report.Table, force bool) error {
	s.write.Lock()
	defer s.write.Unlock()
	if !store.HasValues(t) {
		return errors.New("folder: the table has no values")
	}
	numbers, err := s.csv.nodes.Get(g)
	if err != nil {
		return err
	}
	known, err := s.Runs(ctx)
	if err != nil {
		return err
	}
	run := store.NewRun(g.Digest(), t)
	touched, err := s.obstacles(ctx, g, run, known, force)
	if err != nil {
		return err
	}
	var stale []string
	err = s.update(func(tx *bolt.Tx) error {
		known, err := loadRuns(tx)
		if err != nil {
			return err
		}
		if err := run.Admit(known, touched); err != nil {
			return err
		}
		stale = run.Stale(known)
		return putRun(tx, run)
	})
	if err != nil {
		return err
	}
	values := cells(t, g.Order())
	written := int64(0)
	err = s.rewrite(ctx, run.Columns, func(header, fields []string) {
		i, ok := numbers[fields[slices.Index(header, idColumn)]]
		if !ok || !values.covered[i] {
			return
		}
		written++
		for k, name := range header {
			if column, ok := values.text[name]; ok {
				fields[k] = column[i]
			} else if slices.Contains(stale, name) {
				fields[k] = ""
			}
		}
	})
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if gone := int64(values.count) - written; gone != 0 {
		return fmt.Errorf("%w: %d of %d nodes are gone since the graph was read; run %s stays unfinished, remove it with --undo %s",
			store.ErrConflict, gone, values.count, run.ID, run.ID)
	}
	return s.settle(run.ID, store.Finished, "finishedAt", written)
}

// Undo empties the columns that the run wrote where the nodes still carry its id,
// and sets its status to UNDONE. Columns that are empty then are left out.
func (s *Store) Undo(ctx context.Context, runID string) (int64, error) {
	s.write.Lock()
	defer s.write.Unlock()
	run, err := s.Run(ctx, runID)
	if err != nil {
		return 0, err
	}
	removed := int64(0)
	if run.Status != store.Undone && run.RunIDColumn != "" {
		err = s.rewrite(ctx, nil, func(header, fields []string) {
			owner := slices.Index(header, run.RunIDColumn)
			if owner < 0 || fields[owner] != run.ID {
				return
			}
			removed++
			for k, name := range header {
				if slices.Contains(run.Columns, name) {
					fields[k] = ""
				}
			}
		})
		if err == nil {
			err = s.dropEmpty(ctx, run.Columns)
		}
		if err != nil {
			return removed, fmt.Errorf("undo: %w", err)
		}
	}
	return removed, s.settle(runID, store.Undone, "undoneAt", 0)
}

// table values as the text of CSV, by node number.
type textTable struct {
	text    map[string][]string
	covered []bool
	count   int
}

func cells(t report.Table, n int) textTable {
	v := textTable{text: map[string][]string{}, covered: make([]bool, n)}
	nodes := store.Covered(t, n)
	v.count = len(nodes)
	for _, i := range nodes {
		v.covered[i] = true
	}
	for _, c := range t.Columns() {
		column := make([]string, n)
		put := func(i, k int) {
			switch x := store.Cell(c, k).(type) {
			case float64:
				column[i] = strconv.FormatFloat(x, 'g', -1, 64)
			case int64:
				column[i] = strconv.FormatInt(x, 10)
			case string:
				column[i] = x
			}
		}
		if c.Nodes == nil {
			for i := range n {
				put(i, i)
			}
		}
		for k, i := range c.Nodes {
			put(i, k)
		}
		v.text[c.Name] = column
	}
	return v
}

// rewrite copies nodes.csv with the added columns, lets edit change each row in
// place, and puts the copy in the place of the original.
func (s *Store) rewrite(ctx context.Context, add []string, edit func(header, fields []string)) error {
	t, err := s.csv.open(nodesFile, idColumn)
	if err != nil {
		return err
	}
	header := slices.Clone(t.header)
	for _, name := range add {
		if !slices.Contains(header, name) {
			header = append(header, name)
		}
	}
	return s.replace(func(w *csv.Writer) error {
		if err := w.Write(header); err != nil {
			return err
		}
		row := make([]string, len(header))
		return t.each(ctx, s.options.Progress, func(_ int, fields []string) error {
			clear(row[copy(row, fields):])
			edit(header, row)
			return w.Write(row)
		})
	})
}

// dropEmpty leaves out those of the columns that hold no value at all.
func (s *Store) dropEmpty(ctx context.Context, columns []string) error {
	t, err := s.csv.open(nodesFile, idColumn)
	if err != nil {
		return err
	}
	used := make([]bool, len(t.header))
	for k, name := range t.header {
		used[k] = !slices.Contains(columns, name)
	}
	err = t.each(ctx, nil, func(_ int, fields []string) error {
		for k, f := range fields {
			used[k] = used[k] || f != ""
		}
		return nil
	})
	if err != nil {
		return err
	}
	if t, err = s.csv.open(nodesFile, idColumn); err != nil {
		return err
	}
	return s.replace(func(w *csv.Writer) error {
		keep := func(fields []string) (kept []string) {
			for k, f := range fields {
				if used[k] {
					kept = append(kept, f)
				}
			}
			return kept
		}
		if err := w.Write(keep(t.header)); err != nil {
			return err
		}
		return t.each(ctx, nil, func(_ int, fields []string) error { return w.Write(keep(fields)) })
	})
}

// replace writes a new nodes.csv beside the old one, on disk before the rename.
func (s *Store) replace(write func(*csv.Writer) error) error {
	path := filepath.Join(s.dir, nodesFile)
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	file, err := os.CreateTemp(s.dir, nodesFile+".*.tmp")
	if err != nil {
		return writeError(err)
	}
	defer os.Remove(file.Name()) // nothing is there after the rename
	defer file.Close()
	if err := writeAll(file, write); err != nil {
		return err
	}
	if err := file.Chmod(mode); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return writeError(os.Rename(file.Name(), path))
}

func writeAll(file io.Writer, write func(*csv.Writer) error) error {
	buffer := bufio.NewWriterSize(file, 1<<16)
	w := csv.NewWriter(buffer)
	if err := write(w); err != nil {
		return err
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	return buffer.Flush()
}

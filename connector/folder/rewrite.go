// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/report"
)

// textTable holds the values of a table as the text of CSV, by node number.
type textTable struct {
	text    map[string][]string
	covered []bool
	count   int
}

func cells(t report.Table, n int) textTable {
	v := textTable{text: map[string][]string{}, covered: make([]bool, n)}
	nodes := connector.Covered(t, n)
	v.count = len(nodes)
	for _, i := range nodes {
		v.covered[i] = true
	}
	for _, c := range t.Columns() {
		column := make([]string, n)
		put := func(i, k int) {
			switch x := connector.Cell(c, k).(type) {
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
	t, err := s.csv.openTable(nodesFile, true, idColumn)
	if err != nil {
		return err
	}
	header := slices.Clone(t.header)
	for _, name := range add {
		if !slices.Contains(header, name) {
			header = append(header, name)
		}
	}
	row := make([]string, len(header))
	was, err := t.file.Stat()
	if err != nil {
		return errors.Join(err, t.file.Close())
	}
	return s.replace(ctx, t, was, header, nil, func(fields []string) []string {
		clear(row[copy(row, fields):])
		edit(header, row)
		return row
	})
}

// dropEmpty leaves out those of the columns that hold no value at all.
func (s *Store) dropEmpty(ctx context.Context, columns []string) error {
	t, err := s.csv.open(nodesFile, idColumn)
	if err != nil {
		return err
	}
	was, err := t.file.Stat()
	if err != nil {
		return errors.Join(err, t.file.Close())
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
	if t, err = s.csv.openTable(nodesFile, true, idColumn); err != nil {
		return err
	}
	return s.replace(ctx, t, was, t.header, used, func(fields []string) []string { return fields })
}

// replace writes a new nodes.csv in the place of the old one, whole or not at
// all: what change makes of each row, without the columns that are not used. A file
// that is no longer as it was when it was opened stays, for what came since is not in
// the copy.
func (s *Store) replace(ctx context.Context, t *table, was fs.FileInfo, header []string, used []bool, change func(fields []string) []string) error {
	defer t.file.Close()
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	err = disk.WriteIn(root, nodesFile, disk.Options{Mode: 0o644, Replace: true, Keep: true, Was: was}, func(file io.Writer) error {
		return t.copyTo(ctx, bufio.NewWriterSize(file, 1<<16), header, used, s.options.Progress, change)
	})
	if errors.Is(err, disk.ErrChanged) {
		return fmt.Errorf("%w: %w, by another program; it is left as it is: try again when nothing else writes it", connector.ErrConflict, err)
	}
	return writeError(err)
}

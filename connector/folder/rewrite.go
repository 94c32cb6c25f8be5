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

// texts turns a table into the text of CSV, row by row.
type texts struct {
	columns map[string]textColumn
	covered []bool // by node number
	count   int
	buffer  []byte
	ends    []int
}

// textColumn is a column with the place of each node's value in it: nil where that is the
// node's number, −1 where it has none.
type textColumn struct {
	report.Column
	place []int32
}

func newTexts(t report.Table, n int) *texts {
	v := &texts{columns: map[string]textColumn{}, covered: make([]bool, n)}
	nodes := connector.Covered(t, n)
	v.count = len(nodes)
	for _, i := range nodes {
		v.covered[i] = true
	}
	for _, c := range t.Columns() {
		v.columns[c.Name] = textColumn{c, places(c.Nodes, n)}
	}
	return v
}

// places returns the place of each of n nodes in a list of some of them, nil for all.
func places(nodes []int, n int) []int32 {
	if nodes == nil {
		return nil
	}
	place := make([]int32, n)
	for i := range place {
		place[i] = -1
	}
	for k, i := range nodes {
		place[i] = int32(k)
	}
	return place
}

// appendTo appends the text of node i.
func (c textColumn) appendTo(text []byte, i int32) []byte {
	if c.place != nil {
		i = c.place[i]
	}
	switch {
	case i < 0:
		return text
	case c.Floats != nil:
		return strconv.AppendFloat(text, c.Floats[i], 'g', -1, 64)
	case c.Ints != nil:
		return strconv.AppendInt(text, c.Ints[i], 10)
	}
	return append(text, c.Strings[i]...)
}

// fill sets the fields at some places to the texts of node i in some columns. It allocates one
// string for all of them.
func (v *texts) fill(fields []string, at []int, columns []textColumn, i int32) {
	v.buffer, v.ends = v.buffer[:0], v.ends[:0]
	for _, c := range columns {
		v.buffer = c.appendTo(v.buffer, i)
		v.ends = append(v.ends, len(v.buffer))
	}
	row, start := string(v.buffer), 0
	for k, end := range v.ends {
		fields[at[k]], start = row[start:end], end
	}
}

// rewrite copies nodes.csv with the added columns, lets what begin returns for the header
// change each row in place, and puts the copy in the place of the original.
func (s *Store) rewrite(ctx context.Context, add []string, begin func(header []string) (edit func(fields []string))) error {
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
	row, edit := make([]string, len(header)), begin(header)
	was, err := t.file.Stat()
	if err != nil {
		return errors.Join(err, t.file.Close())
	}
	return s.replace(ctx, t, was, header, nil, func(fields []string) []string {
		clear(row[copy(row, fields):])
		edit(row)
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
func (s *Store) replace(ctx context.Context, t *table, was fs.FileInfo, header []string, used []bool,
	change func(fields []string) []string,
) error {
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
		return fmt.Errorf("%w: %w, by another program; it is left as it is: try again when nothing else writes it",
			connector.ErrConflict, err)
	}
	return writeError(err)
}

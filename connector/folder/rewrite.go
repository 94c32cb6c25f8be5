// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/report"
)

// textColumn is a column of a table as text, with the place of each node's value in it: −1 where it has none.
type textColumn struct {
	report.Column
	place []int
}

func newTextColumn(c report.Column, n int) textColumn {
	place := make([]int, n)
	for i := range place {
		place[i] = i
		if c.Nodes != nil {
			place[i] = -1
		}
	}
	for k, i := range c.Nodes {
		place[i] = k
	}
	return textColumn{c, place}
}

// text is the value of node i.
func (c textColumn) text(i int) string {
	k := c.place[i]
	switch {
	case k < 0:
		return ""
	case c.Floats != nil:
		return strconv.FormatFloat(c.Floats[k], 'g', -1, 64)
	case c.Ints != nil:
		return strconv.FormatInt(c.Ints[k], 10)
	}
	return c.Strings[k]
}

// rewrite copies nodes.csv with the added columns, lets what begin returns for the header
// change each row in place, and puts the copy in the place of the original.
func (s *Store) rewrite(ctx context.Context, add []string, begin func(header []string) (edit func(fields []string))) error {
	t, err := s.openTable(nodesFile, true, idColumn)
	if err != nil {
		return err
	}
	header := slices.Clone(t.header)
	for _, name := range add {
		if !slices.Contains(header, name) {
			header = append(header, name)
		}
	}
	was, err := t.file.Stat()
	if err != nil {
		return errors.Join(err, t.file.Close())
	}
	return s.replace(ctx, t, was, header, nil, begin(header))
}

// remove empties the columns that a run wrote on the nodes that carry its id, and leaves out those
// that hold no value then. It returns the number of nodes.
func (s *Store) remove(ctx context.Context, run jobs.Run) (removed int64, err error) {
	t, err := s.open(nodesFile, idColumn)
	if err != nil {
		return 0, err
	}
	was, err := t.file.Stat()
	owner := t.column(run.Write.RunIDColumn)
	if err != nil || owner < 0 {
		return 0, errors.Join(err, t.file.Close())
	}
	used := make([]bool, len(t.header))
	for k, name := range t.header {
		used[k] = !slices.Contains(run.Write.Columns, name)
	}
	own := slices.Clone(used) // what is not the run's
	err = t.each(ctx, nil, func(_ int, fields []string) error {
		if fields[owner] == run.RunID {
			removed++
			return nil
		}
		for k, f := range fields {
			used[k] = used[k] || f != ""
		}
		return nil
	})
	if err != nil || removed == 0 {
		return 0, err
	}
	if t, err = s.openTable(nodesFile, true, idColumn); err != nil {
		return 0, err
	}
	return removed, s.replace(ctx, t, was, t.header, used, func(fields []string) {
		if fields[owner] != run.RunID {
			return
		}
		for k := range fields {
			if !own[k] {
				fields[k] = ""
			}
		}
	})
}

// replace writes a new nodes.csv in the place of the old one, whole or not at
// all: what edit makes of each row, without the columns that are not used. A file
// that is no longer as it was when it was opened stays, for what came since is not in
// the copy.
func (s *Store) replace(ctx context.Context, t *table, was fs.FileInfo, header []string, used []bool, edit func(fields []string)) error {
	defer t.file.Close()
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	row := make([]string, len(header))
	err = disk.WriteIn(root, nodesFile, disk.Options{Mode: 0o644, Replace: true, Keep: true, Was: was}, func(file io.Writer) error {
		return t.copyTo(ctx, bufio.NewWriterSize(file, 1<<16), header, used, s.options.Progress, func(fields []string) []string {
			clear(row[copy(row, fields):])
			edit(row)
			return row
		})
	})
	if errors.Is(err, disk.ErrChanged) {
		return fmt.Errorf("%w: %w, by another program; it is left as it is: try again when nothing else writes it",
			connector.ErrConflict, err)
	}
	return writeError(err)
}

// copyTo writes the table with another header and what change makes of each row,
// without the columns that are not used.
func (t *table) copyTo(ctx context.Context, w *bufio.Writer, header []string, used []bool, progress func(string, int64, int64),
	change func([]string) []string,
) error {
	if t.source.mark > 0 {
		w.WriteString(byteOrderMark)
	}
	if err := t.put(w, t.header, header, used); err != nil {
		return errors.Join(err, t.file.Close())
	}
	err := t.each(ctx, progress, func(_ int, fields []string) error {
		return t.put(w, fields, change(fields), used)
	})
	if err != nil {
		return err
	}
	w.Write(t.source.bytes) // blank lines at the end
	return w.Flush()
}

// put writes the row that was handed over last with other values: those that did not
// change byte by byte, quotes, blank lines and the end of the line included.
// Columns that are not used are left out; those beyond the old ones are new.
func (t *table) put(w *bufio.Writer, was, now []string, used []bool) error {
	raw := t.source.bytes[:t.reader.InputOffset()-t.source.row]
	lead := raw[:blank(raw)]
	body := bytes.TrimSuffix(bytes.TrimSuffix(raw[len(lead):], []byte{'\n'}), []byte{'\r'})
	end := raw[len(lead)+len(body):]
	t.raw = split(t.raw[:0], body, byte(t.reader.Comma))
	fields := t.raw
	if len(fields) != len(was) {
		return fmt.Errorf("%w: %s has a row that cannot be rewritten", connector.ErrInput, t.name)
	}
	w.Write(lead)
	written := 0
	for k, text := range now {
		if used != nil && !used[k] {
			continue
		}
		if written > 0 {
			w.WriteByte(byte(t.reader.Comma))
		}
		written++
		if k < len(was) && text == was[k] {
			w.Write(fields[k])
		} else if err := putField(w, text, t.reader.Comma); err != nil {
			return err
		}
	}
	_, err := w.Write(end)
	return err // that of any write before
}

// plain reports whether a text is written as it is, whatever the delimiter.
func plain(text string) bool {
	for k := range len(text) {
		switch c := text[k]; {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '.', c == '-', c == '+':
		default:
			return false
		}
	}
	return true
}

func putField(w *bufio.Writer, text string, delimiter rune) error {
	if plain(text) {
		_, err := w.WriteString(text)
		return err
	}
	var field bytes.Buffer
	c := csv.NewWriter(&field)
	c.Comma = delimiter
	if err := c.Write([]string{text}); err != nil {
		return err
	}
	c.Flush()
	w.Write(bytes.TrimSuffix(field.Bytes(), []byte{'\n'}))
	return c.Error()
}

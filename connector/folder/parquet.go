// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/internal/columnar"
)

// beginParquet reads the names of the columns, of a folder those of its first part. Spark writes such folders: its parts are the
// files of Parquet in it, by their names, but for those that begin with a dot or an underscore. A folder in it may hold more parts.
func (t *table) beginParquet() error {
	t.part = t.name
	info, err := t.file.Stat()
	if err != nil {
		return err
	}
	if folder, ok := t.file.(fs.ReadDirFile); ok && info.IsDir() {
		entries, err := folder.ReadDir(-1)
		if err != nil {
			return err
		}
		for _, e := range entries {
			name := e.Name()
			if name[0] == '.' || name[0] == '_' {
				continue
			}
			if e.IsDir() {
				return t.unread(fmt.Errorf("holds the folder %q; write all parts into one, without partitionBy", name))
			}
			if strings.HasSuffix(name, ".parquet") {
				t.parts = append(t.parts, path.Join(t.name, name))
			}
		}
		if slices.Sort(t.parts); len(t.parts) == 0 {
			return t.unread(errors.New("is a folder without a file of Parquet"))
		}
		if err := t.nextPart(); err != nil {
			return err
		}
	} else if err := t.openParquet(); err != nil {
		return err
	}
	t.header = t.parquet.Names
	return nil
}

// nextPart opens the next part of a folder.
func (t *table) nextPart() error {
	t.part, t.parts = t.parts[0], t.parts[1:]
	file, err := t.fs.Open(t.part)
	if err != nil {
		return err
	}
	before := t.file
	t.file = file
	if err := errors.Join(before.Close(), t.openParquet()); err != nil {
		return err
	}
	if t.header != nil && !slices.Equal(t.parquet.Names, t.header) {
		return t.unread(errors.New("has other columns than the parts before it"))
	}
	return nil
}

func (t *table) openParquet() error {
	info, err := t.file.Stat()
	if err != nil {
		return err
	}
	input, ok := t.file.(io.ReaderAt)
	if !ok {
		return t.unread(errors.New("cannot be read from here: its end must be read first"))
	}
	if t.parquet, err = columnar.NewReader(input, info.Size()); err != nil {
		return t.unread(err)
	}
	return nil
}

func (t *table) unread(err error) error {
	name := t.name
	if t.part != name {
		name = strconv.Quote(t.part)
	}
	return &hinted{fmt.Errorf("%w: %s %w", connector.ErrInput, name, err), parquetHint}
}

// choose has a file of Parquet decoded in columns that were asked for, else in all.
func (t *table) choose() error {
	if t.parquet == nil {
		return nil
	}
	if t.only == nil {
		for k := range t.header {
			t.only = append(t.only, k)
		}
	}
	if err := t.parquet.Choose(t.only...); err != nil {
		return t.unread(err)
	}
	return nil
}

// readable asks for the columns that have a text for each value, and for those that there must be.
func (t *table) readable() {
	for k, name := range t.header {
		if t.parquet != nil && (t.parquet.Readable(k) || slices.Contains(needs[t.name], name)) {
			t.only = append(t.only, k)
		}
	}
}

// nextParquet reads a row.
func (t *table) nextParquet() (fields []string, row int, err error) {
	t.row++
	fields, err = t.parquet.Next()
	for errors.Is(err, io.EOF) && len(t.parts) > 0 {
		if err = t.nextPart(); err == nil {
			err = t.choose()
		}
		if err != nil {
			return nil, 0, err
		}
		fields, err = t.parquet.Next()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = t.unread(fmt.Errorf("%w; row %d", err, t.row))
	}
	return fields, t.row, err
}

// place is what the rows of a file are counted in.
func (t *table) place() string {
	if t.parquet != nil {
		return "row"
	}
	return "line"
}

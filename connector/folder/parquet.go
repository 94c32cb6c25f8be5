// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/internal/columnar"
)

// beginParquet reads the names of the columns.
func (t *table) beginParquet() error {
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
	t.header = t.parquet.Names
	return nil
}

func (t *table) unread(err error) error {
	return &hinted{fmt.Errorf("%w: %s %w", connector.ErrInput, t.name, err), parquetHint}
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

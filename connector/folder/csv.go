// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
)

// reportEvery is the number of rows between two calls of Progress and two looks
// at the context.
const reportEvery = 10_000

// CSV reads a graph from nodes.csv and relationships.csv of a file system. relationships.parquet may stand in the place of the latter.
type CSV struct {
	FS       fs.FS
	Progress func(stage string, done, total int64) // nil: silent

	snapshot  string // the file that holds the graph; "": the relationships do
	memory    graph.Memory
	generated bool
	unused    atomic.Pointer[string]
	ids       connector.PerGraph[*numbers]
}

// Unused returns what was there to be read and was not asked for, such as a column of weights: news to who chooses what is
// read.
func (c *CSV) Unused() []string {
	if text := c.unused.Load(); text != nil {
		return []string{*text}
	}
	return nil
}

// find opens nodes or relationships, and returns the name of the file that holds them.
func (c *CSV) find(name string) (fs.File, string, error) {
	file, err := c.FS.Open(name)
	if name != relationshipsFile {
		return file, name, err
	}
	parquet, parquetErr := c.FS.Open(parquetFile)
	switch {
	case errors.Is(parquetErr, fs.ErrNotExist):
		return file, name, err
	case errors.Is(err, fs.ErrNotExist):
		return parquet, parquetFile, parquetErr
	case err == nil:
		err = errors.Join(&hinted{fmt.Errorf("%w: there are %s and %s, and only one of them can be the graph's", connector.ErrInput,
			relationshipsFile, parquetFile), "remove one of them from the folder"}, file.Close())
	}
	if parquetErr == nil {
		err = errors.Join(err, parquet.Close())
	}
	return nil, name, err
}

// maxColumns bounds the columns of a file: more than a node can have properties.
const maxColumns = 1 << 16

// open reads the header, which must have the wanted columns, each column once.
func (c *CSV) open(name string, wanted ...string) (*table, error) {
	return c.openTable(name, false, wanted...)
}

// openTable is open; a table that is to be rewritten keeps the bytes of its rows.
func (c *CSV) openTable(name string, keep bool, wanted ...string) (*table, error) {
	file, name, err := c.find(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", connector.ErrNotFound, name)
	}
	if err != nil {
		return nil, err
	}
	t := &table{fs: c.FS, file: file, name: name, source: &source{r: file, keep: keep}}
	if err := t.readHeader(wanted); err != nil {
		t.file.Close()
		return nil, err
	}
	return t, nil
}

func (t *table) readHeader(wanted []string) error {
	begin := t.beginCSV
	if t.name == parquetFile {
		begin = t.beginParquet
	}
	if err := begin(); err != nil {
		return err
	}
	if len(t.header) > maxColumns {
		return fmt.Errorf("%w: %s has %d columns, want at most %d", connector.ErrInput, t.name, len(t.header), maxColumns)
	}
	for _, w := range needs[t.name] { // first: without them the line may be data, of which nothing is shown
		if slices.Contains(wanted, w) && t.column(w) < 0 {
			return t.missing(w)
		}
	}
	if err := t.checkHeader(); err != nil {
		return err
	}
	for _, w := range wanted {
		if w != "" && t.column(w) < 0 {
			return t.missing(w)
		}
	}
	return nil
}

func (t *table) beginCSV() error {
	r, err := t.source.begin()
	if err != nil {
		return fmt.Errorf("%w: %s %w", connector.ErrInput, t.name, err)
	}
	t.reader = csv.NewReader(r)
	start, _ := r.Peek(readAhead) // an error comes again
	t.reader.Comma = delimiter(start)
	if t.header, err = t.reader.Read(); err != nil {
		return t.headless(err)
	}
	t.reader.ReuseRecord = true // from the next row on
	return nil
}

// next reads a row, whose fields are text.
func (t *table) next() (fields []string, line int, err error) {
	if t.parquet != nil {
		fields, line, err = t.nextParquet()
	} else {
		fields, line, err = t.nextCSV()
	}
	for k, f := range fields {
		if wrong := unreadable(f); wrong != "" {
			return nil, 0, t.refuse(k, line, wrong)
		}
	}
	return fields, line, err
}

func (t *table) nextCSV() (fields []string, line int, err error) {
	t.source.rowAt(t.reader.InputOffset())
	fields, err = t.reader.Read()
	if errors.Is(err, io.EOF) {
		return nil, 0, err
	}
	if err != nil {
		return nil, 0, t.malformed(err)
	}
	line, _ = t.reader.FieldPos(0)
	return fields, line, nil
}

// refuse is the error of a column with a field that is no text. A column of nodes may
// be the private one: rows are counted there, and none is named.
func (t *table) refuse(column, line int, wrong string) error {
	if t.name != nodesFile {
		return fmt.Errorf("%w: %s %s %d: the field of %q %s; save the file as UTF-8", connector.ErrInput, t.name, t.place(),
			line, t.header[column], wrong)
	}
	count := 1
	for {
		t.source.rowAt(t.reader.InputOffset())
		fields, err := t.reader.Read()
		if err != nil {
			return fmt.Errorf("%w: %s: fields of %q are no text (the first %s), at least %d of them; save the file as UTF-8",
				connector.ErrInput, t.name, t.header[column], wrong, count)
		}
		if unreadable(fields[column]) != "" {
			count++
		}
	}
}

// each hands over the rows; the slice is valid during the call only.
func (t *table) each(ctx context.Context, progress func(string, int64, int64), row func(line int, fields []string) error) error {
	defer func() { t.file.Close() }() // the last part
	if err := t.choose(); err != nil {
		return err
	}
	stage := strings.TrimSuffix(t.name, path.Ext(t.name))
	n := int64(0)
	for ; ; n++ {
		if n%reportEvery == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if progress != nil {
				progress(stage, n, 0)
			}
		}
		fields, line, err := t.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := row(line, fields); err != nil {
			return err
		}
	}
	if progress != nil {
		progress(stage, n, n)
	}
	return nil
}

// Columns returns the columns of nodes.csv and of the relationships that have a name. It
// returns [connector.ErrNotFound] for a file or a column that is not there, and
// [connector.ErrInput] for one that is not readable, and for relationships.csv beside relationships.parquet.
// Beside a snapshot relationships need not be there, and have no columns then.
func (c *CSV) Columns() (nodes, relationships []string, err error) {
	for _, file := range []struct {
		name  string
		names *[]string
	}{{nodesFile, &nodes}, {relationshipsFile, &relationships}} {
		t, err := c.open(file.name, needs[file.name]...)
		if c.snapshot != "" && file.name == relationshipsFile && errors.Is(err, connector.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		_, *file.names = t.named()
		if err := t.file.Close(); err != nil {
			return nil, nil, err
		}
	}
	return nodes, relationships, nil
}

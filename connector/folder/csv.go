// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/graphcloak/graphcloak/connector/store"
)

const (
	nodesFile         = "nodes.csv"
	relationshipsFile = "relationships.csv"

	idColumn     = "id"
	labelsColumn = "labels"
	sourceColumn = "source"
	targetColumn = "target"
	typeColumn   = "type"
)

// reportEvery is the number of rows between two calls of Progress and two looks
// at the context.
const reportEvery = 10_000

// CSV reads a graph from nodes.csv and relationships.csv of a file system.
type CSV struct {
	FS       fs.FS
	Progress func(stage string, done, total int64) // nil: silent

	notices store.Notices
	nodes   store.Memory[map[string]int] // number of each selected node, by the column id
}

// Notices returns what was left out while reading.
func (c *CSV) Notices() []string { return c.notices.List() }

// table is an open CSV file.
type table struct {
	file   fs.File
	name   string
	reader *csv.Reader
	header []string
}

// open reads the header, which must have the wanted columns, each column once.
func (c *CSV) open(name string, wanted ...string) (*table, error) {
	file, err := c.FS.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", store.ErrNotFound, name)
	}
	if err != nil {
		return nil, err
	}
	t := &table{file: file, name: name, reader: csv.NewReader(bufio.NewReaderSize(file, 1<<16))}
	header, err := t.reader.Read()
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("%w: %s has no header line (%w)", store.ErrInput, name, err)
	}
	header[0] = strings.TrimPrefix(header[0], "\ufeff")
	t.header = header
	t.reader.ReuseRecord = true
	for k, h := range header {
		if slices.Contains(header[:k], h) {
			file.Close()
			return nil, fmt.Errorf("%w: %s has the column %q twice", store.ErrInput, name, h)
		}
	}
	for _, w := range wanted {
		if w != "" && !slices.Contains(header, w) {
			file.Close()
			return nil, fmt.Errorf("%s: %w", name, store.NotFound("property", w, header))
		}
	}
	return t, nil
}

func (t *table) column(name string) int { return slices.Index(t.header, name) }

// each hands over the rows; the slice is valid during the call only.
func (t *table) each(ctx context.Context, progress func(string, int64, int64), row func(line int, fields []string) error) error {
	defer t.file.Close()
	stage := strings.TrimSuffix(t.name, ".csv")
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
		fields, err := t.reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%w: %s: %w", store.ErrInput, t.name, err)
		}
		line, _ := t.reader.FieldPos(0)
		if err := row(line, fields); err != nil {
			return err
		}
	}
	if progress != nil {
		progress(stage, n, n)
	}
	return nil
}

// field parses a field; a column that is not there (−1) is a missing property.
func field(fields []string, column int) any {
	if column < 0 {
		return nil
	}
	return store.Parse(fields[column])
}

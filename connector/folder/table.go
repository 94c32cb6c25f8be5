// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"encoding/csv"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/internal/columnar"
)

const (
	nodesFile         = "nodes.csv"
	relationshipsFile = "relationships.csv"
	parquetFile       = "relationships.parquet" // in its place; nodes stay CSV: what a run writes becomes columns of their file

	idColumn     = "id"
	labelsColumn = "labels"
	sourceColumn = "source"
	targetColumn = "target"
	typeColumn   = "type"
)

// needs lists the columns without which a file is no part of a graph.
var needs = map[string][]string{
	nodesFile: {idColumn}, relationshipsFile: {sourceColumn, targetColumn}, parquetFile: {sourceColumn, targetColumn},
}

// table is an open file of CSV, or of Parquet.
type table struct {
	fs     fs.FS
	file   fs.File
	name   string
	header []string // names of the columns; one without a name is no column that can be asked for

	source *source
	reader *csv.Reader
	raw    [][]byte // the fields of the row that was put last

	parquet *columnar.Reader // nil: of CSV
	part    string           // the file that it reads
	parts   []string         // those that come after it
	only    []int            // columns whose fields are asked for, −1 for none; nil: all are
	row     int              // that was read last
}

// unreadable says why a field is no text.
func unreadable(field string) string {
	switch {
	case !utf8.ValidString(field):
		return "is not UTF-8"
	case strings.IndexByte(field, 0) >= 0:
		return "holds a NUL byte"
	}
	return ""
}

// column returns the place of a column, −1 where there is none of the name. Columns
// without a name cannot be asked for.
func (t *table) column(name string) int {
	if name == "" {
		return -1
	}
	return slices.Index(t.header, name)
}

// named returns the columns that have a name, and the names.
func (t *table) named() (columns []int, names []string) {
	for k, name := range t.header {
		if name != "" {
			columns, names = append(columns, k), append(names, name)
		}
	}
	return columns, names
}

// checkHeader refuses names that nobody could tell apart or read.
func (t *table) checkHeader() error {
	seen := make(map[string]bool, len(t.header))
	for _, name := range t.header {
		if wrong := unreadable(name); wrong != "" || strings.ContainsFunc(name, unicode.IsControl) {
			return fmt.Errorf("%w: %s has a column %q with a control character or bytes that are not UTF-8",
				connector.ErrInput, t.name, name)
		}
		form := norm.NFC.String(name) // nobody can tell apart what differs in form only
		if name != "" && seen[form] {
			return fmt.Errorf("%w: %s has the column %q twice", connector.ErrInput, t.name, name)
		}
		seen[form] = true
	}
	return nil
}

// field parses a field; a column that is not there (−1) is a missing property.
func field(fields []string, column int) any {
	if column < 0 {
		return nil
	}
	return connector.Parse(fields[column])
}

// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"bytes"
	"context"
	"slices"
)

// delimiters that may part the columns, in the order in which they are tried.
var delimiters = []byte{',', '\t', ';', '|'}

// delimiter returns the first of the delimiters that stands outside quotation marks in
// the header line, the first line that is not blank; a comma where none does.
func delimiter(start []byte) rune {
	line := start[blank(start):]
	for _, d := range delimiters {
		if fields := split(nil, firstLine(line), d); len(fields) > 1 {
			return rune(d)
		}
	}
	return ','
}

func firstLine(text []byte) []byte {
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	return line
}

// Columns returns the columns of nodes.csv and of relationships.csv that have a name. It
// returns [connector.ErrNotFound] for a file or a column that is not there, and
// [connector.ErrInput] for one that is not readable as CSV.
func (c *CSV) Columns() (nodes, relationships []string, err error) {
	for _, file := range []struct {
		name  string
		names *[]string
	}{{nodesFile, &nodes}, {relationshipsFile, &relationships}} {
		t, err := c.open(file.name, needs[file.name]...)
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

// Properties returns the properties that the columns name, each once and ascending. It
// returns the errors of [CSV.Columns].
func (c *CSV) Properties(context.Context) ([]string, error) {
	nodes, relationships, err := c.Columns()
	names := slices.DeleteFunc(nodes, func(name string) bool { return name == labelsColumn })
	names = append(names, slices.DeleteFunc(relationships, func(name string) bool {
		return slices.Contains([]string{sourceColumn, targetColumn, typeColumn}, name)
	})...)
	slices.Sort(names)
	return slices.Compact(names), err
}

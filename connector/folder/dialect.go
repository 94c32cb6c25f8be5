// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/graphcloak/graphcloak/connector"
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

// Columns of a header of neo4j-admin's import that have a meaning of their own. See
// the Neo4j operations manual, "CSV header format".
var adminColumns = map[string]string{
	"ID": idColumn, "LABEL": labelsColumn,
	"START_ID": sourceColumn, "END_ID": targetColumn, "TYPE": typeColumn,
}

// adminTypes are the property types of neo4j-admin's import.
var adminTypes = []string{
	"int", "long", "float", "double", "boolean", "byte", "short", "char", "string", "point",
	"date", "localtime", "time", "localdatetime", "datetime", "duration", "vector", "IGNORE",
}

// adminColumn is a column name:TYPE(group){options} of neo4j-admin's import.
type adminColumn struct{ property, kind, group string }

// parseAdmin parts a column's name; false where it names none of the types.
func parseAdmin(name string) (adminColumn, bool) {
	property, kind, found := cutLast(name, ':')
	if !found {
		return adminColumn{}, false
	}
	kind, _, _ = strings.Cut(kind, "{")
	kind, group, grouped := strings.Cut(kind, "(")
	if grouped && !strings.HasSuffix(group, ")") {
		return adminColumn{}, false
	}
	_, special := adminColumns[kind]
	if !special && !slices.Contains(adminTypes, strings.TrimSuffix(kind, "[]")) {
		return adminColumn{}, false
	}
	return adminColumn{property, kind, strings.TrimSuffix(group, ")")}, true
}

// cutLast cuts at the last colon before any options in braces: they hold colons too.
func cutLast(name string, sep byte) (before, after string, found bool) {
	end := strings.IndexByte(name, '{')
	if end < 0 {
		end = len(name)
	}
	k := strings.LastIndexByte(name[:end], sep)
	if k < 0 {
		return name, "", false
	}
	return name[:k], name[k+1:], true
}

// interpret returns the names of the columns of a header as a folder names them, "" for
// one to be ignored, and other names that they have as properties. A header of
// neo4j-admin's import is known by one of its ID columns; in any other a colon is part
// of a name. Groups of ids are an ErrInput where a file has more than one: nodes.csv
// has one space of ids.
func interpret(file string, written []string) (names []string, alias map[string]string, err error) {
	names, alias = slices.Clone(written), map[string]string{}
	if !slices.ContainsFunc(written, isAdminID) {
		return names, alias, nil
	}
	groups := map[string]bool{}
	for k, name := range written {
		c, ok := parseAdmin(name)
		if !ok {
			continue
		}
		own, special := adminColumns[c.kind]
		switch {
		case special:
			names[k] = own
			if c.property != "" && c.property != own {
				alias[c.property] = own
			}
		case c.kind == "IGNORE":
			names[k] = ""
		default:
			names[k] = c.property
		}
		if strings.HasSuffix(c.kind, "ID") {
			groups[c.group] = true
		}
	}
	if len(groups) > 1 {
		return nil, nil, fmt.Errorf("%w: %s has ids of %d groups; give all nodes one space of ids", connector.ErrInput, file, len(groups))
	}
	return names, alias, nil
}

func isAdminID(name string) bool {
	c, ok := parseAdmin(name)
	return ok && (c.kind == "ID" || c.kind == "START_ID" || c.kind == "END_ID")
}

// Columns returns the columns of nodes.csv and of relationships.csv as they are read:
// under the names that a selection uses. It returns [connector.ErrNotFound] for a file or
// a column that is not there, and [connector.ErrInput] for one that is not readable as
// CSV.
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

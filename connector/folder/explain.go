// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/report"
)

// hinted is an error that says what to do.
type hinted struct {
	err  error
	hint string
}

func (e *hinted) Error() string { return e.err.Error() }
func (e *hinted) Unwrap() error { return e.err }

// Suggestion is what to do about the error.
func (e *hinted) Suggestion() string { return e.hint }

// What to do about a folder or a file that is no graph.
const (
	layoutHint  = "a folder has nodes.csv with a column id, and relationships.csv or .parquet with the columns source and target"
	headerHint  = "name the columns in the first line, parted by comma, tab, semicolon or bar"
	quoteHint   = "a field with a delimiter, a quotation mark or a line's end stands in quotation marks, each mark in it twice"
	rowsHint    = "give every row a field for every column of the header, empty where there is nothing"
	parquetHint = "write it again as Parquet with the columns source and target, or give relationships.csv in its place"
	weightHint  = "%[2]s has the column %[1]q, and it is not used: every relationship weighs 1; --relationship-weight-property " +
		"%[1]s uses it"
)

// missing is the error of a column that is not there.
func (t *table) missing(w string) error {
	needed := needs[t.name]
	if !slices.Contains(needed, w) {
		return fmt.Errorf("%s: %w", t.name, connector.NotFound("property", w, t.header))
	}
	has, hint := "its first line has %s, not shown because they may be data", headerHint
	if t.parquet != nil {
		has, hint = "it has %s", parquetHint
	}
	return &hinted{fmt.Errorf("%w: %s needs the column %s; "+has+", and none is %q",
		connector.ErrInput, t.name, strings.Join(needed, " and the column "), report.Count(len(t.header), "column"), w), hint}
}

// malformed is the error of text that is no CSV. A line of nodes is a node, and its field may
// be private: it is not named.
func (t *table) malformed(err error) error {
	parse, ok := errors.AsType[*csv.ParseError](err)
	if !ok {
		return fmt.Errorf("%w: %s: %w", connector.ErrInput, t.name, err)
	}
	place, what, hint := fmt.Sprintf("line %d", parse.Line), parse.Err.Error(), ""
	if t.name == nodesFile {
		place = "some row"
	}
	switch {
	case errors.Is(parse.Err, csv.ErrFieldCount):
		what, hint = "there are more or fewer fields than the header has", rowsHint
	case errors.Is(parse.Err, csv.ErrQuote), errors.Is(parse.Err, csv.ErrBareQuote):
		what, hint = "a quotation mark is not closed, or stands within a field that has none around it", quoteHint
	}
	return &hinted{fmt.Errorf("%w: %s, %s: %s", connector.ErrInput, t.name, place, what), hint}
}

// headless is the error of a file without a header line.
func (t *table) headless(err error) error {
	if errors.Is(err, io.EOF) {
		return &hinted{fmt.Errorf("%w: %s is empty", connector.ErrInput, t.name), headerHint}
	}
	return t.malformed(err)
}

// errNoRows says that nodes.csv has a header and nothing below it.
var errNoRows = &hinted{fmt.Errorf("%w: nodes.csv has no row below its header", connector.ErrInput), "give each node a row with its id"}

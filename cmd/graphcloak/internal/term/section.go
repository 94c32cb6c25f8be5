// SPDX-License-Identifier: Apache-2.0

package term

import (
	"errors"
	"fmt"
	"iter"
	"slices"
)

// Section is a part of a result: prose, a table, or both under a title.
type Section struct {
	Title   string
	Answer  string   // what the reader came for, emphasised; in the table format only
	Text    string   // shown in the table format only
	Items   []Item   // likewise
	Columns []string // camelCase; none: no table
	Rows    iter.Seq[[]any]
	None    string // said in place of a table without rows
	Detail  bool   // shown under --verbose only, in the table format
	Last    bool   // shown below the answer of a report
}

// Item is a line of a list with a mark or a name before it, such as a check and how it went. More, which may be empty,
// stands below its text.
type Item struct {
	Mark State
	Text string
	More string
}

// Rows makes rows from a slice, one by one.
func Rows[T any](items []T, row func(T) []any) iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		for _, item := range items {
			if !yield(row(item)) {
				return
			}
		}
	}
}

// Table is a section that is a table of a slice.
func Table[T any](columns []string, items []T, row func(T) []any) Section {
	return Section{Columns: columns, Rows: Rows(items, row)}
}

// Only keeps some columns of a table.
func (s Section) Only(columns []int) Section {
	rows := s.Rows
	names := make([]any, len(s.Columns))
	for i, name := range s.Columns {
		names[i] = name
	}
	pick := func(row []any) []any {
		out := make([]any, len(columns))
		for k, i := range columns {
			out[k] = row[i]
		}
		return out
	}
	s.Columns = nil
	for _, name := range pick(names) {
		s.Columns = append(s.Columns, name.(string))
	}
	s.Rows = func(yield func([]any) bool) {
		for row := range rows {
			if !yield(pick(row)) {
				return
			}
		}
	}
	return s
}

// Without drops the columns in which every row has the text that goes without saying.
func (s Section) Without(usual map[int]string) Section {
	rows := slices.Collect(s.Rows)
	var keep []int
	for i := range s.Columns {
		text, ok := usual[i]
		if !ok || slices.ContainsFunc(rows, func(row []any) bool { return fmt.Sprint(row[i]) != text }) {
			keep = append(keep, i)
		}
	}
	return s.Only(keep)
}

// Facts turns a table of one row into lines of name and value, those that are named or all.
func (s Section) Facts(names ...string) Section {
	rows := s.Rows
	return Section{Columns: []string{"name", "value"}, Rows: func(yield func([]any) bool) {
		for row := range rows {
			for i, name := range s.Columns {
				if (len(names) == 0 || slices.Contains(names, name)) && !yield([]any{name, Cell(row[i], Digits)}) {
					return
				}
			}
		}
	}}
}

// Formats are the forms of a result.
func Formats() []string { return []string{"table", "json", "ndjson", "csv", "parquet"} }

// ErrNoRows is of a result without rows, in a form that has nothing besides.
var ErrNoRows = errors.New("this result has no rows for")

// Form is how a result is written.
type Form struct {
	Name     string // one of [Formats]
	Width    int    // of prose
	Limit    int    // of a table; 0: any
	Colour   bool
	Verbose  bool
	Warnings []string // of the result, which JSON has too
}

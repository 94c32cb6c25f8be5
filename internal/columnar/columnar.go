// SPDX-License-Identifier: Apache-2.0

// Package columnar writes rows as a file of Parquet, and reads such files as rows of texts. The text of a cell
// goes there as it is, for nothing in such a file is read as a formula, as markup or as
// a terminal's; what is no UTF-8 is replaced.
package columnar

import (
	"fmt"
	"iter"
	"math"
	"strings"
)

// Table holds rows by column.
type Table struct {
	rows    int
	columns []column
}

// column is the values of a column as nil, bool, int64, float64 or string, and the kind that holds them all.
type column struct {
	name  string
	kind  kind
	cells []any
}

// kind is the type of a column's values.
type kind int

// A kind holds every value of those before it, but texts no more than themselves.
const (
	unknown kind = iota // no value is present
	boolean
	integer
	float
	text
)

// Collect reads rows: each has a value for every name. A column is of 64-bit integers, of
// doubles, of booleans or of texts, whichever holds all its values as they are, and of
// doubles where it has none; integers beside doubles are doubles, and any other mixture is
// text. A nil, a NaN and an infinity are missing, as in JSON.
func Collect(names []string, rows iter.Seq[[]any]) *Table {
	t := &Table{columns: make([]column, len(names))}
	for row := range rows {
		t.rows++
		for k := range names {
			t.columns[k].cells = append(t.columns[k].cells, canonical(row[k]))
		}
	}
	for k, name := range names {
		t.columns[k].name, t.columns[k].kind = valid(name), kindOf(t.columns[k].cells)
	}
	return t
}

// canonical is a value as nil, bool, int64, float64 or string.
func canonical(v any) any {
	switch v := v.(type) {
	case nil, bool, int64:
		return v
	case int:
		return int64(v)
	case int32:
		return int64(v)
	case uint64:
		if v > math.MaxInt64 {
			return float64(v)
		}
		return int64(v)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return v
	default:
		return valid(fmt.Sprint(v))
	}
}

func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// kindOf is the kind that holds every value.
func kindOf(cells []any) kind {
	found := unknown
	for _, v := range cells {
		k := unknown
		switch v.(type) {
		case nil:
			continue
		case bool:
			k = boolean
		case int64:
			k = integer
		case float64:
			k = float
		case string:
			k = text
		}
		switch {
		case found == unknown || found == k:
			found = k
		case found+k == integer+float:
			found = float
		default:
			return text
		}
	}
	if found == unknown {
		return float
	}
	return found
}

// batch is the number of rows that are written at once.
const batch = 1 << 16

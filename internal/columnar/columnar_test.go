// SPDX-License-Identifier: Apache-2.0

package columnar

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/parquet-go/parquet-go"
)

const hostile = "=cmd|' /C calc'!A0\x1b[31m<script>\u202e"

// mixed are rows with each kind of column, missing values and hostile texts; the last
// column mixes kinds, the one before has no value.
func mixed(n int) (names []string, rows [][]any) {
	for i := range n {
		row := []any{fmt.Sprint("node ", i), i, 1 / float64(i+1), i%2 == 0, nil, i}
		if i%3 == 1 {
			row = []any{hostile, nil, math.NaN(), nil, nil, "x"}
		}
		rows = append(rows, row)
	}
	return []string{"nodeId", "communityId", hostile, "b", "none", "a"}, rows
}

// want are the same cells as a reader must find them.
func want(rows [][]any) [][]string {
	out := make([][]string, len(rows))
	for i, row := range rows {
		for _, v := range row {
			if x, ok := v.(float64); v == nil || ok && math.IsNaN(x) {
				out[i] = append(out[i], "-")
				continue
			}
			out[i] = append(out[i], fmt.Sprint(v))
		}
	}
	return out
}

func TestArrow(t *testing.T) {
	names, rows := mixed(batch + 7)
	var b bytes.Buffer
	if err := Collect(names, slices.Values(rows)).WriteArrow(&b); err != nil {
		t.Fatal(err)
	}
	r, err := ipc.NewFileReader(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got := r.Schema().String(); strings.Count(got, "type=") != 6 {
		t.Errorf("schema %s", got)
	}
	for k, kind := range []string{"utf8", "int64", "float64", "bool", "float64", "utf8"} {
		if f := r.Schema().Field(k); f.Name != names[k] || f.Type.Name() != kind {
			t.Errorf("column %d is %q of %s, want %q of %s", k, f.Name, f.Type.Name(), names[k], kind)
		}
	}
	expected, at := want(rows), 0
	for k := range r.NumRecords() {
		record, err := r.RecordBatch(k)
		if err != nil {
			t.Fatal(err)
		}
		for i := range int(record.NumRows()) {
			for j, c := range record.Columns() {
				if got := arrowCell(c, i); got != expected[at][j] {
					t.Fatalf("row %d, column %d is %q, want %q", at, j, got, expected[at][j])
				}
			}
			at++
		}
	}
	if at != len(rows) {
		t.Errorf("%d rows, want %d", at, len(rows))
	}
}

func arrowCell(c any, i int) string {
	switch c := c.(type) {
	case interface{ IsNull(int) bool }:
		if c.IsNull(i) {
			return "-"
		}
	}
	switch c := c.(type) {
	case *array.String:
		return c.Value(i)
	case *array.Int64:
		return fmt.Sprint(c.Value(i))
	case *array.Float64:
		return fmt.Sprint(c.Value(i))
	case *array.Boolean:
		return fmt.Sprint(c.Value(i))
	}
	return "?"
}

func TestParquet(t *testing.T) {
	names, rows := mixed(batch + 7)
	var b bytes.Buffer
	if err := Collect(names, slices.Values(rows)).WriteParquet(&b); err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for k, kind := range []string{"STRING", "INT(64,true)", "DOUBLE", "BOOLEAN", "DOUBLE", "STRING"} {
		if c := f.Root().Columns()[k]; c.Name() != names[k] || c.Type().String() != kind {
			t.Errorf("column %d is %q of %s, want %q of %s", k, c.Name(), c.Type(), names[k], kind)
		}
	}
	if len(f.RowGroups()) != 2 {
		t.Errorf("%d groups of rows, want 2", len(f.RowGroups()))
	}
	expected, at := want(rows), 0
	r := parquet.NewReader(f)
	defer r.Close()
	buffer := make([]parquet.Row, 100)
	for at < len(rows) {
		n, err := r.ReadRows(buffer)
		if n == 0 {
			t.Fatalf("%d rows, want %d: %v", at, len(rows), err)
		}
		for _, row := range buffer[:n] {
			for j, v := range row {
				got := fmt.Sprint(v)
				if v.IsNull() {
					got = "-"
				}
				if got != expected[at][j] {
					t.Fatalf("row %d, column %d is %q, want %q", at, j, got, expected[at][j])
				}
			}
			at++
		}
	}
}

// No rows make a file too, and a text that is no UTF-8 becomes one.
func TestEdges(t *testing.T) {
	var b bytes.Buffer
	none := Collect([]string{"a"}, slices.Values([][]any(nil)))
	if err := none.WriteArrow(&b); err != nil {
		t.Error(err)
	}
	if err := none.WriteParquet(&b); err != nil {
		t.Error(err)
	}
	odd := Collect([]string{"a"}, slices.Values([][]any{{"\xff"}, {uint64(math.MaxUint64)}}))
	if got := odd.columns[0].texts[0]; got != "\uFFFD" {
		t.Errorf("bytes that are no UTF-8 became %q", got)
	}
}

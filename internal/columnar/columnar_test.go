// SPDX-License-Identifier: Apache-2.0

package columnar

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/graphcloak/graphcloak/internal/must"
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

func TestParquet(t *testing.T) {
	names, rows := mixed(batch + 7)
	var b bytes.Buffer
	must.Do(t, Collect(names, slices.Values(rows)).WriteParquet(&b))
	f := must.Get(parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len())))(t)
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
	if err := none.WriteParquet(&b); err != nil {
		t.Error(err)
	}
	odd := Collect([]string{"a"}, slices.Values([][]any{{"\xff"}, {uint64(math.MaxUint64)}}))
	if got := odd.columns[0].cells[0]; got != "\uFFFD" {
		t.Errorf("bytes that are no UTF-8 became %q", got)
	}
}

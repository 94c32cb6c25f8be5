// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/graphcloak/graphcloak/connector"
)

// Rows come in order with their lines, over many batches, up to the first that cannot be read;
// a caller that stops early or is cancelled ends the reading.
func TestAhead(t *testing.T) {
	const rows = 3*batchRows + 100
	var text strings.Builder
	text.WriteString("id,x\n")
	for k := range rows {
		fmt.Fprintf(&text, "n%d,\"%d\n\"\n", k, k)
	}
	text.WriteString("bad\nbehind,1\n")
	csv := &CSV{FS: fstest.MapFS{nodesFile: {Data: []byte(text.String())}}}
	each := func(ctx context.Context, row func(k, line int, fields []string) error) (int, error) {
		t.Helper()
		table, err := csv.open(nodesFile, idColumn)
		if err != nil {
			t.Fatal(err)
		}
		k := 0
		err = table.each(ctx, nil, func(line int, fields []string) error {
			k++
			return row(k-1, line, fields)
		})
		return k, err
	}
	n, err := each(t.Context(), func(k, line int, fields []string) error {
		if line != 2+2*k || len(fields) != 2 || fields[0] != fmt.Sprintf("n%d", k) || fields[1] != fmt.Sprintf("%d\n", k) {
			t.Fatalf("row %d is line %d, %q", k, line, fields)
		}
		return nil
	})
	if n != rows || !errors.Is(err, connector.ErrInput) {
		t.Errorf("%d rows, %v; want %d and ErrInput", n, err, rows)
	}
	stop := errors.New("stop")
	if n, err := each(t.Context(), func(k, _ int, _ []string) error {
		if k == batchRows+5 {
			return stop
		}
		return nil
	}); n != batchRows+6 || !errors.Is(err, stop) {
		t.Errorf("%d rows, %v; want %d and an end", n, err, batchRows+6)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := each(ctx, func(int, int, []string) error { return nil }); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d rows, %v; want none", n, err)
	}
}

// A batch is cut by its bytes where rows are long.
func TestBatchBytes(t *testing.T) {
	field := strings.Repeat("x", batchBytes/4)
	csv := &CSV{FS: fstest.MapFS{nodesFile: {Data: []byte("id\n" + strings.Repeat(field+"\n", 9))}}}
	table, err := csv.open(nodesFile, idColumn)
	if err != nil {
		t.Fatal(err)
	}
	defer table.file.Close()
	if got := len(table.batch().lines); got != 4 {
		t.Errorf("%d rows of a quarter of a batch", got)
	}
}

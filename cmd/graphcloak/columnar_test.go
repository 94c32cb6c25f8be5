// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// TestColumnarFiles: what release, plan and recover write as Parquet are the rows
// of their CSV, with 64-bit integers, doubles and texts; a hostile id stays the text that it is.
func TestColumnarFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	const hostile = "=1+1<script>\u202e"
	nodes, edges := "id,source\n"+hostile+",1\n", "source,target\n"
	for _, id := range []string{"b", "c", "d", "e", "f"} {
		nodes += id + ",0\n"
	}
	for _, pair := range []string{hostile + ",b", "b,c", "c," + hostile, "d,e", "e,f", "f,d", "c,d"} {
		edges += pair + "\n"
	}
	writeGraph(t, "g", nodes, edges)
	runCommand(t, "plan", "--from", "folder:g", "-o", "plan.json")
	runCommand(t, "release", "--from", "folder:g", "--plan", "plan.json", "--source-property", "source", "-o", "release.json")
	for command, want := range map[string]struct{ columns, types string }{
		"plan --from folder:g --allocation uniform": {"nodeId sigma latticeExponent", "text double int64"},
		"recover --from folder:g --release release.json --mode stream": {
			"nodeId privateHeat privateHeatSigma source sourceProbability communityId communityProbability",
			"text double double double double int64 double",
		},
	} {
		args := strings.Fields(command)
		rows, err := csv.NewReader(bytes.NewReader(runCommand(t, append(args, "--format", "csv")...))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(rows[0], " "); got != want.columns {
			t.Fatalf("%s has the columns %s", command, got)
		}
		types, got := readParquet(t, runCommand(t, append(args, "--format", "parquet")...))
		if types != want.types {
			t.Errorf("%s has columns of %s, want %s", command, types, want.types)
		}
		for i, row := range rows[1:] {
			if strings.HasPrefix(row[0], "'=") { // CSV guards it against a spreadsheet
				row[0] = hostile
			}
			if !slices.Equal(got[i], row) {
				t.Errorf("%s has row %d %q, want %q", command, i, got[i], row)
			}
		}
	}
}

// runCommand runs the command and returns standard output.
func runCommand(t *testing.T, args ...string) []byte {
	t.Helper()
	code, stdout, stderr := called(t, args...)
	if code != 0 {
		t.Fatalf("graphcloak %s: exit %d\n%s", strings.Join(args, " "), code, stderr)
	}
	return []byte(stdout)
}

func readParquet(t *testing.T, data []byte) (types string, rows [][]string) {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range f.Root().Columns() {
		names = append(names, map[string]string{"STRING": "text", "INT(64,true)": "int64", "DOUBLE": "double"}[c.Type().String()])
	}
	r := parquet.NewReader(f)
	defer r.Close()
	buffer := make([]parquet.Row, f.NumRows())
	if n, err := r.ReadRows(buffer); int64(n) != f.NumRows() || err != nil && err != io.EOF {
		t.Fatalf("%d rows of %d: %v", n, f.NumRows(), err)
	}
	for _, row := range buffer {
		var cells []string
		for _, v := range row {
			cell := ""
			if !v.IsNull() {
				cell = v.String()
			}
			cells = append(cells, number(cell))
		}
		rows = append(rows, cells)
	}
	return strings.Join(names, " "), rows
}

// number is a cell as CSV prints it.
func number(cell string) string {
	if x, err := strconv.ParseFloat(cell, 64); err == nil {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return cell
}

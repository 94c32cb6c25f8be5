// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// hostile holds what steers a terminal or a spreadsheet.
var hostile = []string{
	"\x1b[31mred", "\u009b31mred", "a\x7fb", "\x9b31m", "\u202ereversed", "\x00", "a\rb", "a\nb\tc",
	"=1+1", "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "  =1", "\x1b=1", "＝1",
}

// No format lets through what steers a terminal; JSON tells it all the same.
func TestHostileOutput(t *testing.T) {
	for _, format := range []string{"table", "json", "ndjson", "csv"} {
		a, stdout, _ := kit(t, "--format", format)
		rows := rowsOf(hostile, func(s string) []any { return []any{s, -1.5} })
		if err := a.render(map[string]any{"rows": hostile},
			section{title: hostile[0], text: hostile[1], columns: []string{"id", "value"}, rows: rows}); err != nil {
			t.Fatal(err)
		}
		for _, r := range stdout.String() {
			if isTerminalControl(r) && r != '\n' || r == utf8.RuneError && format != "table" && format != "csv" &&
				!strings.Contains(stdout.String(), "\ufffd") {
				t.Errorf("%s lets %U through", format, r)
			}
		}
		if format == "json" {
			var got struct{ Rows []string }
			if err := json.Unmarshal(stdout.Bytes(), &got); err != nil || !slices.EqualFunc(got.Rows, hostile, func(a, b string) bool {
				return a == strings.ToValidUTF8(b, "\ufffd")
			}) {
				t.Errorf("%q, %v, want %q", got.Rows, err, hostile)
			}
		}
	}
}

// A cell of CSV is no formula, and a number stays a number.
func TestSpreadsheet(t *testing.T) {
	for _, text := range hostile {
		cell := spreadsheet(text)
		if strings.ContainsAny(cell[:min(1, len(cell))], "=+-@\t\r") {
			t.Errorf("%q becomes %q", text, cell)
		}
	}
	for _, text := range []string{"-1", "+2.5", "-1e-9", "1", "", "a=b", "a-b"} {
		if got := spreadsheet(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	var b bytes.Buffer
	s := section{columns: []string{"id", "x", "k"}, rows: rowsOf([]string{"=1"}, func(s string) []any { return []any{s, -0.5, -3} })}
	if err := printCSV(&b, s); err != nil {
		t.Fatal(err)
	}
	if rows, err := csv.NewReader(&b).ReadAll(); err != nil || !slices.Equal(rows[1], []string{"'=1", "-0.5", "-3"}) {
		t.Errorf("%q, %v", rows, err)
	}
}

// A log in JSON, whole or in lines, keeps its content.
func TestEscaped(t *testing.T) {
	var b bytes.Buffer
	line := []byte(`{"a":"` + "\u009b\x7f\u202eü" + `"}` + "\n")
	if n, err := (escapingWriter{&b}).Write(line); n != len(line) || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	var got struct{ A string }
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || got.A != "\u009b\x7f\u202eü" || strconv.IsPrint(0x9b) ||
		bytes.ContainsRune(b.Bytes(), 0x9b) {
		t.Errorf("%q, %v", b.Bytes(), err)
	}
}

// TestReorderedNamesStayTwo: a mark that reorders a name is shown, other controls are gone.
func TestReorderedNamesStayTwo(t *testing.T) {
	for text, want := range map[string]string{"bx": "bx", "b\u202ex": "b[U+202E]x", "\x1b[31mb\u009b\n\u200fx": "[31mb [U+200F]x"} {
		if got := visible(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

// Package term writes results and messages for a terminal: one result as table, JSON, NDJSON, CSV or Parquet ([Form]),
// and messages with one line of progress ([Console]). Nothing that it prints steers the terminal.
package term

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Columns of prose: at most, where the width of the screen is not known, and at least.
const (
	ProseWidth   = 100
	DefaultWidth = 80
	LeastWidth   = 40
	minColumn    = 20 // of text beside a name
)

// Steers reports whether a character could steer a terminal: controls, C1 and DEL included, and marks that reorder text.
func Steers(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x61c:
		return true
	}
	return false
}

// Visible is a text without controls, and with marks that reorder it as code points, so that two names stay two, as on a
// page: "b[U+202E]x". Line breaks and tabs become spaces.
func Visible(text string) string {
	if strings.IndexFunc(text, Steers) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || r == '\t':
			b.WriteByte(' ')
		case r > 0xa0 && Steers(r):
			fmt.Fprintf(&b, "[U+%04X]", r)
		case Steers(r):
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// escaped writes as \u escapes what JSON lets through raw and a terminal would act on: DEL, C1 and marks that reorder text.
// They stand in texts alone.
func escaped(data []byte) []byte {
	var out []byte
	done := 0
	for k := 0; k < len(data); {
		r, size := utf8.DecodeRune(data[k:])
		if r >= 0x7f && Steers(r) {
			out = fmt.Appendf(append(out, data[done:k]...), `\u%04x`, r)
			done = k + size
		}
		k += size
	}
	if done == 0 {
		return data
	}
	return append(out, data[done:]...)
}

// JSONWriter writes whole JSON texts, with what steers a terminal escaped.
type JSONWriter struct{ To io.Writer }

func (w JSONWriter) Write(p []byte) (int, error) {
	if _, err := w.To.Write(escaped(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// spreadsheet is a text as a cell of a CSV file that a person opens: without what steers a terminal, and behind an
// apostrophe where it would be taken for a formula (OWASP, CSV Injection). A text that is a number stays one.
func spreadsheet(text string) string {
	clean := Visible(text)
	start, _ := utf8.DecodeRuneInString(strings.TrimLeft(clean, " "))
	if !strings.ContainsRune("=+-@＝＋－＠", start) {
		return clean
	}
	if _, err := strconv.ParseFloat(clean, 64); err == nil {
		return clean
	}
	return "'" + clean
}

// Wrap breaks a line between words. What follows stands as deep as its first word, and that of a list as deep as its text.
// No word is broken: it may have to be copied.
func Wrap(line string, width int) []string {
	body := strings.TrimLeft(line, " ")
	indent := strings.Repeat(" ", len(line)-len(body))
	hang := indent
	if strings.HasPrefix(body, "- ") {
		hang += "  "
	}
	return hanging(indent, hang, body, width)
}

// Reflow breaks paragraphs to a width, whatever lines their source has. What is indented or a list stays a line of its own.
func Reflow(text string, width int) string {
	var out strings.Builder
	paragraph := ""
	flush := func() {
		if paragraph != "" {
			out.WriteString(strings.Join(Wrap(paragraph, width), "\n") + "\n")
			paragraph = ""
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || strings.HasPrefix(line, " ") || strings.HasPrefix(line, "- ") {
			flush()
			out.WriteString(line + "\n")
			continue
		}
		paragraph = strings.TrimLeft(paragraph+" "+line, " ")
	}
	flush()
	return out.String()
}

// wrapped are the lines of a text as rows of a screen, without what steers a terminal.
func wrapped(text string, width int) (rows []string) {
	for line := range strings.Lines(text) {
		for _, row := range Wrap(Visible(strings.TrimSuffix(line, "\n")), width) {
			rows = append(rows, strings.TrimRight(row, " "))
		}
	}
	return rows
}

// hanging breaks a text between words, with an indentation of the first line and one of the others.
func hanging(indent, hang, text string, width int) []string {
	var rows []string
	row, used := indent, 0
	for _, piece := range pieces(strings.TrimRight(text, " "), width-uniseg.StringWidth(hang)) {
		if used > 0 && uniseg.StringWidth(row)+1+uniseg.StringWidth(piece) > width {
			rows = append(rows, row)
			row, used = hang, 0
		}
		if used > 0 {
			row += " "
		}
		row += piece
		used++
	}
	return append(rows, row)
}

// pieces are what stays on a line: words, and a number with its sign, such as 37 % or δ = 0.01, unless it is wider than
// the line.
func pieces(text string, width int) (all []string) {
	joins := false
	for word := range strings.SplitSeq(text, " ") {
		tied := joins || strings.HasPrefix(word, "%") || word == "="
		joins = word == "="
		if last := len(all) - 1; last >= 0 && tied && uniseg.StringWidth(all[last])+1+uniseg.StringWidth(word) <= width {
			all[last] += " " + word
			continue
		}
		all = append(all, word)
	}
	return all
}

// pad fills a text to a width on the screen, which counts what a reader sees as one character as such (UAX 29), wide ones
// twice.
func pad(text string, width int, right bool) string {
	fill := strings.Repeat(" ", max(0, width-uniseg.StringWidth(text)))
	if right {
		return fill + text
	}
	return text + fill
}

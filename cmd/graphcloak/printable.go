// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// isTerminalControl reports whether a character could steer a terminal: controls, C1 and DEL
// included, and marks that reorder text.
func isTerminalControl(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x61c:
		return true
	}
	return false
}

// visible is a text without controls, and with marks that reorder it as code points, so that two
// names stay two, as on a page: "b[U+202E]x". Line breaks and tabs become spaces.
func visible(text string) string {
	if strings.IndexFunc(text, isTerminalControl) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || r == '\t':
			b.WriteByte(' ')
		case r > 0xa0 && isTerminalControl(r):
			fmt.Fprintf(&b, "[U+%04X]", r)
		case isTerminalControl(r):
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// escapeControl writes as \u escapes what JSON lets through raw and a terminal
// would act on: DEL, C1 and marks that reorder text. They stand in texts alone.
func escapeControl(data []byte) []byte {
	var out []byte
	done := 0
	for k := 0; k < len(data); {
		r, size := utf8.DecodeRune(data[k:])
		if r >= 0x7f && isTerminalControl(r) {
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

// escapingWriter writes whole JSON texts, with control characters escaped.
type escapingWriter struct{ to io.Writer }

func (e escapingWriter) Write(p []byte) (int, error) {
	if _, err := e.to.Write(escapeControl(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// spreadsheet is a text as a cell of a CSV file that a person opens: without what
// steers a terminal, and behind an apostrophe where it would be taken for a
// formula (OWASP, CSV Injection). A text that is a number stays one.
func spreadsheet(text string) string {
	clean := visible(text)
	start, _ := utf8.DecodeRuneInString(strings.TrimLeft(clean, " "))
	if !strings.ContainsRune("=+-@＝＋－＠", start) {
		return clean
	}
	if _, err := strconv.ParseFloat(clean, 64); err == nil {
		return clean
	}
	return "'" + clean
}

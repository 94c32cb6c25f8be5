// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/rivo/uniseg"
)

// proseWidth bounds the lines of a text on a wide screen.
const proseWidth = 100

// wrap breaks a line between words. What follows stands as deep as its first word, and
// that of a list as deep as its text. No word is broken: it may have to be copied.
func wrap(line string, width int) []string {
	body := strings.TrimLeft(line, " ")
	indent := strings.Repeat(" ", len(line)-len(body))
	hang := indent
	if strings.HasPrefix(body, "- ") {
		hang += "  "
	}
	return hanging(indent, hang, body, width)
}

// wrapped are the lines of a text as rows of a screen, each with its end, without what steers
// a terminal.
func wrapped(text string, width int) (rows []string) {
	for line := range strings.Lines(text) {
		for _, row := range wrap(visible(strings.TrimSuffix(line, "\n")), width) {
			rows = append(rows, strings.TrimRight(row, " ")+"\n")
		}
	}
	return rows
}

// hanging breaks a text between words, with an indentation of the first line and one of
// the others.
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

// pieces are what stays on a line: words, and a number with its sign, such as 37 % or
// δ = 0.01, unless it is wider than the line.
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

// messageWidth is that of the lines on standard error; 0, without an end, where it is no
// terminal: what reads a pipe takes a line for a message.
func (a *app) messageWidth() int {
	if !a.tty.err {
		return 0
	}
	width := screenWidth(a.stderr)
	if width == 0 {
		width = defaultWidth
	}
	return min(max(width, leastWidth), proseWidth)
}

// laidOut is a message as it stands on standard error, its end without spaces: on a terminal
// what follows the first line stands deeper.
func (a *app) laidOut(text string) string {
	text = strings.TrimRight(visible(text), " ")
	width := a.messageWidth()
	if width == 0 {
		return text
	}
	body := strings.TrimLeft(text, " ")
	indent := strings.Repeat(" ", len(text)-len(body))
	return strings.Join(hanging(indent, indent+"  ", body, width), "\n")
}

// say needs a.talking where others may write. It prints a message on standard error, its mark
// painted where the terminal takes colour.
func (a *app) say(mark string, p paint, text string) {
	if mark != "" {
		text = mark + " " + text
	}
	text = a.laidOut(text)
	if rest, ok := strings.CutPrefix(text, mark); ok {
		text = p.on(mark, a.coloured(a.tty.err)) + rest
	}
	fmt.Fprintln(a.stderr, text)
}

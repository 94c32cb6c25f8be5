// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"
	"golang.org/x/term"
)

// paint is what a piece of text means to a reader, as a parameter of ECMA-48's SGR:
// the terminal's own colours, which serve on light and dark alike.
type paint string

const (
	plain  paint = ""
	strong paint = "1"  // the answer, titles
	bad    paint = "31" // what failed
	good   paint = "32" // what is in order
	// warnings, what waits: yellow is as good as invisible on white, and plain magenta dim on
	// black where the terminal's is dark.
	wary paint = "1;35"
)

// on paints a text, where colour is wanted.
func (p paint) on(text string, coloured bool) string {
	if p == plain || !coloured || text == "" {
		return text
	}
	return "\x1b[" + string(p) + "m" + text + "\x1b[0m"
}

// state is a word that tells how something stands, such as FAILED. A table paints it.
type state string

// Statuses of a run in few letters.
const (
	waits      state = "waits"       // for budget
	overBudget state = "over budget" // by one run alone
)

func (s state) paint() paint {
	switch s {
	case "FAILED", "INVALID", "broken", "OVER_BUDGET", overBudget:
		return bad
	case "ok", "FINISHED":
		return good
	case "WAITING_FOR_BUDGET", waits, "CANCELED", "PAUSED", "unfinished":
		return wary
	}
	return plain
}

// probability is a number from 0 to 1 that a table shows with a bar beside it.
type probability float64

// The bar of a probability of 1 has barWidth columns; the number beside it is as precise
// as a reader can use.
const (
	barWidth  = 10
	barDigits = 3
)

// text is the number as a reader sees it. What is below 1 is not called 1, and no digits are shown that no model carries.
func (p probability) text() string {
	text := cell(p, barDigits)
	switch {
	case text == "1" && p < 1:
		return ">0.999"
	case p > 0 && p < .001:
		return "<0.001"
	}
	return text
}

// drawBar draws a number from 0 to 1 in eighths of a column, or in whole ones where the
// terminal has no such characters. Above 0 there is always something to see.
func drawBar(x float64, width int, ascii bool) string {
	const eighths = " ▏▎▍▌▋▊▉█"
	x = min(max(x, 0), 1) // NaN stays NaN, whose int is not defined
	if !(x > 0) {
		return strings.Repeat(" ", width)
	}
	if ascii {
		n := max(1, int(x*float64(width)+0.5))
		return strings.Repeat("#", n) + strings.Repeat(" ", width-n)
	}
	parts := []rune(eighths)
	n := max(1, int(x*float64(8*width)+0.5))
	drawn := strings.Repeat("█", n/8)
	if n%8 > 0 {
		drawn += string(parts[n%8])
	}
	return drawn + strings.Repeat(" ", width-(n+7)/8)
}

// onlyASCII reports whether the terminal shows ASCII alone: it says so, or its locale
// names another encoding than UTF-8. No locale at all, as in a container, is no sign.
func onlyASCII() bool {
	if os.Getenv("TERM") == "dumb" {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} { // in POSIX's order
		if locale := os.Getenv(name); locale != "" {
			locale = strings.ToLower(strings.ReplaceAll(locale, "-", ""))
			return !strings.Contains(locale, "utf8")
		}
	}
	return false
}

// Columns of prose: where nobody tells the width of the screen, and at least.
const (
	defaultWidth = 80
	leastWidth   = 40
)

// screenWidth returns the columns of a terminal, else what COLUMNS says, else 0.
func screenWidth(stream any) int {
	if f, ok := stream.(interface{ Fd() uintptr }); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	if width, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && width > 0 {
		return width
	}
	return 0
}

// pad fills a text to a width on the screen, which counts what a reader sees as one
// character as such (UAX 29), wide ones twice.
func pad(text string, width int, right bool) string {
	fill := strings.Repeat(" ", max(0, width-uniseg.StringWidth(text)))
	if right {
		return fill + text
	}
	return text + fill
}

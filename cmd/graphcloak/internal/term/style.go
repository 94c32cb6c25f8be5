// SPDX-License-Identifier: Apache-2.0

package term

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// Paint is what a piece of text means to a reader, as a parameter of ECMA-48's SGR: the terminal's own colours, which serve
// on light and dark alike.
type Paint string

const (
	Plain  Paint = ""
	Strong Paint = "1"  // the answer, titles
	Bad    Paint = "31" // what failed
	Good   Paint = "32" // what is in order
	// Wary are warnings, and what waits: yellow is as good as invisible on white, and plain magenta dim on black where the
	// terminal's is dark.
	Wary Paint = "1;35"
)

func (p Paint) on(text string, coloured bool) string {
	if p == Plain || !coloured || text == "" {
		return text
	}
	return "\x1b[" + string(p) + "m" + text + "\x1b[0m"
}

// State is a word for how something stands, such as FAILED. A table paints it.
type State string

// Statuses of a run in few letters.
const (
	Waits      State = "waits"       // for budget
	OverBudget State = "over budget" // by one run alone
)

func (s State) paint() Paint {
	switch s {
	case "FAILED", "INVALID", "broken", "OVER_BUDGET", OverBudget:
		return Bad
	case "ok", "FINISHED":
		return Good
	case "WAITING_FOR_BUDGET", Waits, "CANCELED", "PAUSED", "unfinished":
		return Wary
	}
	return Plain
}

// Probability is a number from 0 to 1 that a table shows with a bar beside it.
type Probability float64

// Precision of numbers in tables, and of those that no model carries further; the other formats keep all digits.
const (
	Digits    = 5
	FewDigits = 3
	barWidth  = 10 // of a probability of 1
)

// text is the number as a reader sees it: what is below 1 is not called 1.
func (p Probability) text() string {
	text := Cell(float64(p), FewDigits)
	switch {
	case text == "1" && p < 1:
		return ">0.999"
	case p > 0 && p < .001:
		return "<0.001"
	}
	return text
}

// Cell is a value as text; a float has so many digits, or all with -1.
func Cell(v any, digits int) string {
	switch v := finite(v).(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'g', digits, 64)
	default:
		return fmt.Sprint(v)
	}
}

// finite turns numbers that JSON does not have into null.
func finite(v any) any {
	if p, ok := v.(Probability); ok {
		v = float64(p)
	}
	if x, ok := v.(float64); ok && (math.IsNaN(x) || math.IsInf(x, 0)) {
		return nil
	}
	return v
}

func isNumber(v any) bool {
	switch v.(type) {
	case int, int32, int64, uint64, float64, Probability:
		return true
	}
	return false
}

// bar draws a number from 0 to 1 in eighths of a column. Above 0 there is always something to see.
func bar(x float64, width int) string {
	const eighths = " ▏▎▍▌▋▊▉█"
	x = min(max(x, 0), 1) // NaN stays NaN, whose int is not defined
	if !(x > 0) {
		return strings.Repeat(" ", width)
	}
	n := max(1, int(x*float64(8*width)+0.5))
	drawn := strings.Repeat("█", n/8)
	if n%8 > 0 {
		drawn += string([]rune(eighths)[n%8])
	}
	return drawn + strings.Repeat(" ", width-(n+7)/8)
}

// IsTerminal reports whether a stream is one.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width returns the columns of a terminal, else what COLUMNS says, else 0.
func Width(stream any) int {
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

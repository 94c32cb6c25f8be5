// SPDX-License-Identifier: Apache-2.0

package documented

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Tolerance is the relative difference at which a shown number that is no whole number
// still holds. The same program gives the same digits; processors of other kinds round
// otherwise in the last ones.
const Tolerance = 1e-3

// forms are what a page shows by its form alone, the longer ones first, and numbers.
var forms = []struct{ name, pattern string }{
	{"id", `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`},
	{"time", `\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?`},
	{"hash", `[0-9a-f]{32,}|[0-9a-f]{5,}…`},
	{"duration", `\d+(?:\.\d+)?(?:ns|µs|ms|s|m|h)(?:\d+(?:\.\d+)?(?:ms|s|m))*\b`},
	{"number", `-?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?`},
}

var (
	form   = anyForm()
	spaces = regexp.MustCompile(`\s+`)
	rules  = regexp.MustCompile(`─+`)
)

// How a page shows an exit code: as the command does, behind its error, or by itself.
var (
	exitShown  = regexp.MustCompile(`\(exit (\d+)\)$`)
	exitRemark = regexp.MustCompile(`^\(exit \d+\)$`)
)

func anyForm() *regexp.Regexp {
	groups := make([]string, len(forms))
	for k, f := range forms {
		groups[k] = "(" + f.pattern + ")"
	}
	return regexp.MustCompile(strings.Join(groups, "|") + "|(…)")
}

// plain is a line without what the width of a terminal or of a column makes of it.
func plain(line string) string {
	return rules.ReplaceAllString(strings.TrimSpace(spaces.ReplaceAllString(line, " ")), "─")
}

// skeleton is a line without its numbers and all that changes from run to run.
func skeleton(line string) string { return form.ReplaceAllString(plain(line), "#") }

// expression is a pattern for a shown line, with a group for each number, and the numbers.
func expression(shown string) (*regexp.Regexp, []string) {
	var b strings.Builder
	var numbers []string
	shown = plain(shown)
	at := 0
	b.WriteString("^")
	for _, m := range form.FindAllStringSubmatchIndex(shown, -1) {
		b.WriteString(regexp.QuoteMeta(shown[at:m[0]]))
		at = m[1]
		kind := 0
		for m[2*kind+2] < 0 {
			kind++
		}
		switch {
		case kind == len(forms):
			b.WriteString(".*?")
		case forms[kind].name == "number":
			numbers = append(numbers, shown[m[0]:m[1]])
			b.WriteString("(" + forms[kind].pattern + ")")
		default:
			b.WriteString("(?:" + forms[kind].pattern + ")")
		}
	}
	b.WriteString(regexp.QuoteMeta(shown[at:]) + "$")
	return regexp.MustCompile(b.String()), numbers
}

// holds says whether a line was printed as a page shows it.
func holds(shown, printed string) bool {
	pattern, numbers := expression(shown)
	m := pattern.FindStringSubmatch(plain(printed))
	if m == nil {
		return false
	}
	for k, want := range numbers {
		if !near(want, m[k+1]) {
			return false
		}
	}
	return true
}

// near says whether two numbers are the same, or within [Tolerance] where one of them is
// no whole number.
func near(a, b string) bool {
	if a == b {
		return true
	}
	if !strings.ContainsAny(a+b, ".e") {
		return false
	}
	x, err := strconv.ParseFloat(strings.ReplaceAll(a, ",", ""), 64)
	y, err2 := strconv.ParseFloat(strings.ReplaceAll(b, ",", ""), 64)
	return err == nil && err2 == nil && math.Abs(x-y) <= Tolerance*max(math.Abs(x), math.Abs(y))
}

// empty says whether a line shows nothing that is printed.
func empty(line string) bool {
	return strings.TrimSpace(line) == "" || exitRemark.MatchString(line)
}

// full are the lines that are not empty.
func full(lines []string) []string {
	var out []string
	for _, line := range lines {
		if !empty(line) {
			out = append(out, line)
		}
	}
	return out
}

// segments are the runs of shown lines between those that stand for any.
func segments(shown []string) [][]string {
	parts := [][]string{nil}
	for _, line := range shown {
		if strings.TrimSpace(line) == "…" {
			parts = append(parts, nil)
			continue
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], line)
	}
	return parts
}

// place is where a segment is found among lines, -1 where it is not. The first segment of
// a page begins with the output, the last one ends with it.
func place(part, lines []string, first, last bool) int {
	for at := 0; at+len(part) <= len(lines); at++ {
		if first && at > 0 || last && at+len(part) < len(lines) {
			if first {
				return -1
			}
			continue
		}
		if matches(part, lines[at:]) == len(part) {
			return at
		}
	}
	return -1
}

// matches counts the lines of a segment that hold.
func matches(part, lines []string) int {
	n := 0
	for k := range min(len(part), len(lines)) {
		if holds(part[k], lines[k]) {
			n++
		}
	}
	return n
}

// differences are the lines of a segment that do not hold, where it fits best.
func differences(part, lines []string, first, last bool) []string {
	best, most := 0, -1
	for at := range max(1, len(lines)-len(part)+1) {
		if first && at > 0 {
			break
		}
		if n := matches(part, lines[at:]); n > most {
			best, most = at, n
		}
	}
	lines = lines[min(best, len(lines)):]
	var out []string
	for k := range max(len(part), len(lines)) {
		switch {
		case k >= len(part):
			if last {
				out = append(out, fmt.Sprintf("prints %q besides", plain(lines[k])))
			}
		case k >= len(lines):
			out = append(out, fmt.Sprintf("does not print %q", plain(part[k])))
		case !holds(part[k], lines[k]):
			out = append(out, fmt.Sprintf("prints %q, shown as %q", plain(lines[k]), plain(part[k])))
		}
	}
	if len(out) == 0 {
		out = append(out, fmt.Sprintf("prints lines between those that end with %q", plain(part[len(part)-1])))
	}
	return out
}

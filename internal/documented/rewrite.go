// SPDX-License-Identifier: Apache-2.0

package documented

import (
	"fmt"
	"slices"
	"strings"
)

// elision is the k-th line of a page that stands for any, as it is indented there.
func elision(shown []string, k int) string {
	for _, line := range shown {
		if strings.TrimSpace(line) == "…" {
			if k--; k == 0 {
				return line
			}
		}
	}
	return "…"
}

// trim takes empty lines and lone exit codes away at both ends.
func trim(part []string) []string {
	for len(part) > 0 && empty(part[0]) {
		part = part[1:]
	}
	for len(part) > 0 && empty(part[len(part)-1]) {
		part = part[:len(part)-1]
	}
	return part
}

// extent is the span of printed lines, from next on, that stand in the place of a segment.
func extent(part, printed []string, next int, first, last bool) (from, to int) {
	if len(part) == 0 {
		if last {
			return len(printed), len(printed)
		}
		return next, next
	}
	from = next
	if !first {
		if at := like(part[0], printed, next); at >= 0 {
			from = at
		}
	}
	if last {
		return from, len(printed)
	}
	to = min(from+len(part), len(printed))
	if at := like(part[len(part)-1], printed, from); at >= 0 {
		to = at + 1
	}
	return from, to
}

// like is the first printed line from a place on that differs from a shown one in its
// numbers at most, -1 where there is none.
func like(shown string, printed []string, from int) int {
	want := skeleton(shown)
	at := slices.IndexFunc(printed[from:], func(line string) bool { return skeleton(line) == want })
	if at < 0 {
		return -1
	}
	return from + at
}

// kept is a line as the page has it where that holds, so that ids, hashes and times stay.
func kept(part []string, line string) string {
	for _, shown := range part {
		if strings.TrimSpace(line) != "" && holds(shown, line) && plain(shown) != plain(line) {
			return shown
		}
	}
	return line
}

// remark adds an exit code that is not 0 and that no line says.
func remark(lines []string, exit int) []string {
	if exit == 0 || slices.ContainsFunc(lines, exitShown.MatchString) {
		return lines
	}
	return append(trim(lines), fmt.Sprintf("(exit %d)", exit))
}

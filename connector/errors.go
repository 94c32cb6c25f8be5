// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"errors"
	"fmt"
	"strings"
)

// Kinds of failure that a caller acts on. Every error of a store that is not one
// of these, or of package privacy, or of the context, is a fault of the program.
var (
	ErrNotFound  = errors.New("not found")           // label, type, property, database, run
	ErrAuth      = errors.New("not allowed")         // password, rights
	ErrReadOnly  = errors.New("read-only")           // database or access mode
	ErrConflict  = errors.New("conflict")            // user's property in the way, unfinished run, changed graph
	ErrInput     = errors.New("data refused")        // weights, keys, readings, queries
	ErrTransient = errors.New("temporarily failing") // server away, busy, out of memory: a retry may help
)

// NotFoundError names what is missing and the nearest thing that is there.
// It matches [ErrNotFound].
type NotFoundError struct {
	Kind       string // "node label", "relationship type", "property", "database", "run"
	Name       string
	Suggestion string // "" where nothing is near
}

// NotFound returns the error for a missing name; have lists the names that exist.
func NotFound(kind, name string, have []string) error {
	return &NotFoundError{Kind: kind, Name: name, Suggestion: Suggest(name, have)}
}

func (e *NotFoundError) Error() string {
	s := fmt.Sprintf("there is no %s %q", e.Kind, e.Name)
	if e.Suggestion != "" {
		s += fmt.Sprintf("; did you mean %q?", e.Suggestion)
	}
	return s
}

// Is reports whether target is [ErrNotFound].
func (e *NotFoundError) Is(target error) bool { return target == ErrNotFound }

// Suggest returns the name of have that is nearest to name by the number of
// edits, case ignored, or "" where the nearest is further than a third of the
// name's length. Of equals the first is taken.
func Suggest(name string, have []string) string {
	best, limit := "", max(1, len(name)/3)+1
	for _, h := range have {
		if d := edits(strings.ToLower(name), strings.ToLower(h), limit); d < limit {
			best, limit = h, d
		}
	}
	return best
}

// edits returns the least number of insertions, deletions, substitutions and
// swaps of neighbours that turn a into b (Damerau–Levenshtein, no letter touched
// twice), or limit where it is at least that. It holds three rows of the table.
func edits(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if len(x)-len(y) >= limit || len(y)-len(x) >= limit {
		return limit
	}
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := range x {
		row[0] = i + 1
		for j := range y {
			substitute := last[j]
			if x[i] != y[j] {
				substitute++
			}
			row[j+1] = min(substitute, row[j]+1, last[j+1]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return min(last[len(y)], limit)
}

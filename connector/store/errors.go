// SPDX-License-Identifier: Apache-2.0

package store

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

// Suggest returns the name of have that is nearest to name by Levenshtein
// distance, case ignored, or "" where the nearest is further than a third of the
// name's length. Of equals the first is taken.
func Suggest(name string, have []string) string {
	best, limit := "", max(1, len(name)/3)+1
	for _, h := range have {
		if d := levenshtein(strings.ToLower(name), strings.ToLower(h), limit); d < limit {
			best, limit = h, d
		}
	}
	return best
}

// levenshtein returns the edit distance of a and b, or limit where it is at least
// that. It holds one row of the table.
func levenshtein(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if len(x)-len(y) >= limit || len(y)-len(x) >= limit {
		return limit
	}
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i, c := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j, d := range y {
			substitute := diagonal
			if c != d {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j]+1, row[j+1]+1)
		}
	}
	return min(row[len(y)], limit)
}

// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"errors"
	"fmt"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/suggest"
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
	return &NotFoundError{Kind: kind, Name: name, Suggestion: suggest.Nearest(name, have)}
}

func (e *NotFoundError) Error() string {
	s := fmt.Sprintf("there is no %s %q", e.Kind, e.Name)
	if e.Suggestion != "" {
		s += fmt.Sprintf("; did you mean %q?", e.Suggestion)
	}
	return s
}

// Is reports whether target is [ErrNotFound], or [graph.ErrNoProperty] for a property.
func (e *NotFoundError) Is(target error) bool {
	return target == ErrNotFound || target == graph.ErrNoProperty && e.Kind == "property"
}

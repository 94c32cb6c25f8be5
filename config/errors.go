// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"strings"
)

// Layer is where a value came from.
type Layer string

// The layers, strongest first.
const (
	LayerJob     Layer = "job" // what a job sets for itself
	LayerFlag    Layer = "flag"
	LayerEnv     Layer = "environment"
	LayerDotEnv  Layer = ".env"
	LayerFile    Layer = "file"
	LayerDefault Layer = "default"
)

// Over reports whether a value of this layer goes before one of another.
func (l Layer) Over(other Layer) bool { return l.strength() < other.strength() }

// strength orders layers: less is stronger.
func (l Layer) strength() int {
	return strings.Index("job flag environment .env file default", string(l))
}

// Origin is where one value came from, such as the flag --tau.
type Origin struct {
	Layer Layer
	Name  string // flag, variable or path; "" for a default
}

func (o Origin) String() string {
	switch {
	case o.Name == "":
		return string(o.Layer)
	case o.Layer == LayerEnv:
		return o.Name
	default:
		return string(o.Layer) + " " + o.Name
	}
}

// Error is one setting that cannot be used. The value of a secret is masked.
type Error struct {
	Key    string
	Value  string
	Want   string
	Origin Origin
}

func (e *Error) Error() string {
	return fmt.Sprintf("config: %s is %q (%s), want %s", e.Key, e.Value, e.Origin, e.Want)
}

// UnknownError is a name in a file that is no setting, or no setting of a file.
type UnknownError struct {
	Key    string
	Path   string
	Line   int    // 0: not known
	Advice string // a likely name, or what to do instead; may be ""

	Forbidden bool // it is a setting, and may not be set there
}

func (e *UnknownError) Error() string {
	place := e.Path
	if e.Line > 0 {
		place = fmt.Sprintf("%s:%d", e.Path, e.Line)
	}
	what := "unknown key"
	if e.Forbidden {
		what = "forbidden key"
	}
	text := fmt.Sprintf("config: %s: %s %q", place, what, e.Key)
	if e.Advice != "" {
		text += ": " + e.Advice
	}
	return text
}

// ConflictError is a set of settings that exclude each other.
type ConflictError struct {
	Keys    []string
	Origins []Origin // of the keys
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("config: %s are given together, want one of them", strings.Join(e.Keys, " and "))
}

// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"
)

// mask stands wherever a secret would be printed.
const mask = "***"

// Secret is text that no formatting, logging or encoding shows.
type Secret string

// Reveal returns the text itself.
func (s Secret) Reveal() string { return string(s) }

// String returns "***", or "" if there is no secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return mask
}

// Format masks the secret under every verb.
func (s Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, s.String()) }

// MarshalText masks the secret in JSON and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue masks the secret in logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

func (s *Secret) parse(text string) error {
	*s = Secret(text)
	return nil
}

// Kinds of graph source.
const (
	FromNeo4j    = "neo4j"
	FromFolder   = "folder"
	FromExample  = "example"
	FromGenerate = "generate"
)

// From says where the graph comes from: neo4j, folder:DIR, example:NAME or
// generate:SPEC. The zero value is no source.
type From struct {
	Kind string
	Arg  string // DIR, NAME or SPEC
}

func (f From) String() string {
	if f.Arg == "" {
		return f.Kind
	}
	return f.Kind + ":" + f.Arg
}

func (f *From) parse(text string) error {
	kind, arg, _ := strings.Cut(text, ":")
	known := slices.Contains([]string{FromFolder, FromExample, FromGenerate}, kind)
	if text != "" && text != FromNeo4j && (!known || arg == "") {
		return errors.New("neo4j, folder:DIR, example:NAME or generate:SPEC")
	}
	*f = From{Kind: kind, Arg: arg}
	return nil
}

// Tau is the diffusion time, or what it may be: From < To where it is not known exactly.
// The zero value is auto.
type Tau struct{ From, To float64 }

// IsRange reports whether τ may be anything from From to To.
func (t Tau) IsRange() bool { return t.From < t.To }

// Value returns one τ, 0 for auto: of a range the middle on a logarithmic scale, in four
// digits where they lie in it.
func (t Tau) Value() float64 {
	if !t.IsRange() {
		return t.From
	}
	middle := math.Sqrt(t.From) * math.Sqrt(t.To)
	if short, err := strconv.ParseFloat(strconv.FormatFloat(middle, 'g', 4, 64), 64); err == nil && t.From <= short && short <= t.To {
		return short
	}
	return min(max(middle, t.From), t.To)
}

func (t Tau) String() string {
	short := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	switch {
	case t == Tau{}:
		return "auto"
	case t.IsRange():
		return short(t.From) + ".." + short(t.To)
	}
	return short(t.From)
}

func (t *Tau) parse(text string) error {
	*t = Tau{}
	if text == "auto" {
		return nil
	}
	low, high, ranges := strings.Cut(text, "..")
	from, err := strconv.ParseFloat(low, 64)
	to := from
	if ranges && err == nil {
		to, err = strconv.ParseFloat(high, 64)
	}
	if err != nil || !(from > 0) || !(to <= math.MaxFloat64) || !(from < to || from == to && !ranges) {
		return errors.New("auto, a number > 0, or where sensors measure FROM..TO with 0 < FROM < TO, such as 1.5..2.5")
	}
	*t = Tau{From: from, To: to}
	return nil
}

// Sources is how many sources are supposed.
type Sources struct {
	Auto  bool // one, or two by evidence
	Count int  // 1 or 2
}

func (n Sources) String() string {
	if n.Auto {
		return "auto"
	}
	return strconv.Itoa(n.Count)
}

func (n *Sources) parse(text string) error {
	switch text {
	case "auto":
		*n = Sources{Auto: true}
	case "1", "2":
		*n = Sources{Count: int(text[0] - '0')}
	default:
		return errors.New("auto, 1 or 2")
	}
	return nil
}

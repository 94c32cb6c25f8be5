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
	"time"
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

func (s *Secret) Parse(text string) error {
	*s = Secret(text)
	return nil
}

// Kinds of graph source.
const (
	FromNeo4j    = "neo4j"
	FromFolder   = "folder"
	FromExample  = "example"
	FromGenerate = "generate"
	FromSnapshot = "snapshot"
)

// From says where the graph comes from: neo4j, folder:DIR, snapshot:FILE, example:NAME or
// generate:SPEC. The zero value is no source.
type From struct {
	Kind string
	Arg  string // DIR, FILE, NAME or SPEC
}

func (f From) String() string {
	if f.Arg == "" {
		return f.Kind
	}
	return f.Kind + ":" + f.Arg
}

func (f *From) Parse(text string) error {
	kind, arg, _ := strings.Cut(text, ":")
	known := slices.Contains([]string{FromFolder, FromSnapshot, FromExample, FromGenerate}, kind)
	if text != "" && text != FromNeo4j && (!known || arg == "") {
		return errors.New("neo4j, folder:DIR, snapshot:FILE, example:NAME or generate:SPEC")
	}
	*f = From{Kind: kind, Arg: arg}
	return nil
}

// number writes a float so that it reads back.
func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// parseRange reads LOW..HIGH, finite and LOW < HIGH.
func parseRange(text string) (low, high float64, ok bool) {
	a, b, _ := strings.Cut(text, "..")
	low, errLow := strconv.ParseFloat(a, 64)
	high, errHigh := strconv.ParseFloat(b, 64)
	return low, high, errLow == nil && errHigh == nil && -math.MaxFloat64 <= low && low < high && high <= math.MaxFloat64
}

// Clip is the public range of a reading; the zero value is none.
type Clip struct{ Low, High float64 }

func (c Clip) String() string {
	if c == (Clip{}) {
		return ""
	}
	return number(c.Low) + ".." + number(c.High)
}

func (c *Clip) Parse(text string) error {
	*c = Clip{}
	if text == "" {
		return nil
	}
	low, high, ok := parseRange(text)
	if !ok {
		return errors.New("LOW..HIGH with LOW < HIGH, such as 0..1 or -1..1")
	}
	*c = Clip{low, high}
	return nil
}

// Deployment is the installation whose sensors share a master secret, and the number of
// that secret in the order of rotation. The zero value is none.
type Deployment struct {
	Name   string
	Number uint32
}

func (d Deployment) String() string {
	if d.Name == "" {
		return ""
	}
	return d.Name + "/" + strconv.FormatUint(uint64(d.Number), 10)
}

func (d *Deployment) Parse(text string) error {
	name, number, numbered := strings.Cut(text, "/")
	n, err := uint64(1), error(nil)
	if numbered {
		n, err = strconv.ParseUint(number, 10, 32)
	}
	if err != nil || numbered && name == "" {
		return errors.New("NAME or NAME/NUMBER such as hall/2, with a number from 0 to 4294967295")
	}
	if *d = (Deployment{name, uint32(n)}); name == "" {
		*d = Deployment{}
	}
	return nil
}

// Span is a length of time in whole seconds: days such as 30d, weeks such as 4w, or a
// duration such as 36h.
type Span time.Duration

const (
	day = 24 * time.Hour
	// maxSpan is some hundred years.
	maxSpan = 100 * 366 * day
)

var errSpan = errors.New("whole seconds up to 100 years, such as 30d, 4w or 36h")

// ParseSpan reads a length of time, which is not 0.
func ParseSpan(text string) (Span, error) {
	unit := map[string]time.Duration{"d": day, "w": 7 * day}[text[max(0, len(text)-1):]]
	if unit == 0 {
		d, err := time.ParseDuration(text)
		if err != nil || d < time.Second || d%time.Second != 0 || d > maxSpan {
			return 0, errSpan
		}
		return Span(d), nil
	}
	n, err := strconv.ParseInt(text[:len(text)-1], 10, 64)
	if err != nil || n < 1 || n > int64(maxSpan/unit) {
		return 0, errSpan
	}
	return Span(time.Duration(n) * unit), nil
}

// String is in days where the span is a number of them, and "" for 0.
func (s Span) String() string {
	d := time.Duration(s)
	switch {
	case d == 0:
		return ""
	case d%day == 0:
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	return d.String()
}

func (s *Span) Parse(text string) (err error) {
	if text == "" {
		*s = 0
		return nil
	}
	*s, err = ParseSpan(text)
	return err
}

// MarshalText makes JSON and YAML of it.
func (s Span) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

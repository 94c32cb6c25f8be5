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

// ResidualBound is the rule for the radius of the residual, or the radius.
type ResidualBound struct {
	Rule   string  // auto | projected | chi2 | hsu | paper | normal; "" if the radius is given
	Radius float64 // ≥ 0
}

func residualRules() []string { return []string{"auto", "projected", "chi2", "hsu", "paper", "normal"} }

func (b ResidualBound) String() string {
	if b.Rule != "" {
		return b.Rule
	}
	return strconv.FormatFloat(b.Radius, 'g', -1, 64)
}

func (b *ResidualBound) parse(text string) error {
	if slices.Contains(residualRules(), text) {
		*b = ResidualBound{Rule: text}
		return nil
	}
	radius, err := strconv.ParseFloat(text, 64)
	if err != nil || !(radius > 0) || math.IsInf(radius, 1) {
		return errors.New(strings.Join(residualRules(), "|") + " or a number > 0")
	}
	*b = ResidualBound{Radius: radius}
	return nil
}

// Tau is the diffusion time; 0: auto.
type Tau float64

func (t Tau) String() string {
	if t == 0 {
		return "auto"
	}
	return strconv.FormatFloat(float64(t), 'g', -1, 64)
}

func (t *Tau) parse(text string) error {
	*t = 0
	if text == "auto" {
		return nil
	}
	tau, err := strconv.ParseFloat(text, 64)
	if err != nil || !(tau > 0) || math.IsInf(tau, 1) {
		return errors.New("auto or a number > 0")
	}
	*t = Tau(tau)
	return nil
}

// Sources is how many sources are supposed.
type Sources struct {
	Auto  bool // one, or two by evidence
	Count int  // 0 to 20; 0: by evidence
}

func (n Sources) String() string {
	if n.Auto {
		return "auto"
	}
	return strconv.Itoa(n.Count)
}

func (n *Sources) parse(text string) error {
	if text == "auto" {
		*n = Sources{Auto: true}
		return nil
	}
	count, err := strconv.Atoi(text)
	if err != nil || count < 0 || count > 20 {
		return errors.New("auto or an integer from 0 to 20")
	}
	*n = Sources{Count: count}
	return nil
}

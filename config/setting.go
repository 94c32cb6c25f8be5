// SPDX-License-Identifier: Apache-2.0

package config

import (
	"math"
	"strings"
	"time"
	"unicode"
)

// Group is a set of settings that a command takes as a whole.
type Group string

// The groups, in the order of help and reference.
const (
	GroupConnection Group = "Connection"
	GroupSource     Group = "Graph source"
	GroupProjection Group = "Projection"
	GroupQueries    Group = "Queries"
	GroupDiffusion  Group = "Diffusion"
	GroupSensors    Group = "Sensors"
	GroupSignal     Group = "Signal"
	GroupPrivacy    Group = "Privacy"
	GroupScenario   Group = "Scenarios"
	GroupBudget     Group = "Budget"
	GroupEscrow     Group = "Escrow"
	GroupNoise      Group = "Known noise"
	GroupRecovery   Group = "Recovery"
	GroupCommunity  Group = "Communities"
	GroupServer     Group = "Server"
	GroupWrite      Group = "Mode"
	GroupReport     Group = "Report"
	GroupOutput     Group = "Output"
	GroupExecution  Group = "Execution"
	GroupSchedule   Group = "Schedule"
	GroupTerminal   Group = "Terminal"
)

// Groups lists all groups in order.
func Groups() []Group {
	return []Group{
		GroupConnection, GroupSource, GroupProjection, GroupQueries, GroupDiffusion, GroupSensors, GroupSignal, GroupPrivacy, GroupScenario,
		GroupBudget, GroupEscrow, GroupNoise,
		GroupRecovery, GroupCommunity, GroupServer, GroupWrite, GroupReport, GroupOutput, GroupExecution, GroupSchedule, GroupTerminal,
	}
}

// Setting is one row of the table.
type Setting struct {
	Key     string   // camelCase: the name in a file
	Group   Group    //
	Flag    string   // kebab-case
	Short   string   // one letter, or ""
	Env     []string // environment variables, the first that is set wins
	Default string   // as text
	Values  []string // the only values allowed; nil: see Range
	Help    string   // one line

	arg    string  // placeholder in help
	wants  bounds  // of a number
	check  checker // of a text
	noFile bool    // refused in a file: a choice of one invocation
	// notEmpty: an empty flag is an unset variable of a script that would spend without it.
	notEmpty bool
	field    func(*Config) any
}

// names reports whether the values are names in the store, which tell what is read or
// written there.
func (s Setting) names() bool {
	return s.Key == "propertyPrefix" || strings.Contains(s.arg, "LABEL") || strings.Contains(s.arg, "TYPE") ||
		strings.Contains(s.arg, "PROPERTY")
}

// checker returns what is wanted if a text is not acceptable, else "".
type checker func(text string) string

// bounds is an interval of numbers; its zero value is all of them.
type bounds struct {
	min, max         float64
	openMin, openMax bool
	text             string // "" if any finite number will do
}

func above(x float64, text string) bounds {
	return bounds{min: x, max: math.MaxFloat64, openMin: true, text: text}
}

func atLeast(x float64, text string) bounds {
	return bounds{min: x, max: math.MaxFloat64, text: text}
}

func (b bounds) contain(x float64) bool {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return false
	}
	if b.text == "" {
		return true
	}
	return (x > b.min || x == b.min && !b.openMin) && (x < b.max || x == b.max && !b.openMax)
}

// Secret reports whether the value must not be shown.
func (s Setting) Secret() bool {
	_, ok := s.field(new(Config)).(*Secret)
	return ok
}

// Type returns the kind of value: text, list, number, integer, boolean or duration.
func (s Setting) Type() string {
	switch s.field(new(Config)).(type) {
	case *[]string:
		return "list"
	case *float64, **float64:
		return "number"
	case *int, *int64:
		return "integer"
	case *bool:
		return "boolean"
	case *time.Duration:
		return "duration"
	default:
		return "text"
	}
}

// Want says in words which values are allowed.
func (s Setting) Want() string {
	if s.Values != nil {
		return strings.Join(s.Values, "|")
	}
	article := map[string]string{
		"list": "names separated by commas", "number": "a number", "integer": "an integer",
		"boolean": "true or false", "duration": "a duration such as 90s or 1h30m", "text": "text",
	}[s.Type()]
	return strings.TrimSpace(article + " " + s.wants.text)
}

// kebab turns nodeLabels into node-labels.
func kebab(key string) string { return split(key, '-', unicode.ToLower) }

// upperSnake turns nodeLabels into NODE_LABELS.
func upperSnake(key string) string { return split(key, '_', unicode.ToUpper) }

// split separates camelCase at capitals; digits belong to the word before them,
// so that neo4jUri gives NEO4J_URI.
func split(key string, sep rune, letter func(rune) rune) string {
	var b strings.Builder
	for _, r := range key {
		if unicode.IsUpper(r) {
			b.WriteRune(sep)
		}
		b.WriteRune(letter(r))
	}
	return b.String()
}

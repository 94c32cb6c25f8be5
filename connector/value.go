// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"fmt"
	"math"
	"strconv"

	"github.com/graphcloak/graphcloak/graph"
)

// A value is what a store holds under a property: nil where it is missing,
// int64, float64, string, bool, or anything else, which is always refused.

// Positive reads a weight or length. The second result says what is wrong.
func Positive(v any) (float64, string) {
	switch x := v.(type) {
	case nil:
		return 0, "is missing"
	case int64:
		if x > 0 {
			return float64(x), ""
		}
		return 0, fmt.Sprintf("is %d", x)
	case float64:
		if x > 0 && !math.IsInf(x, 1) {
			return x, ""
		}
		return 0, fmt.Sprintf("is %v", x)
	case string:
		return 0, fmt.Sprintf("is the text %q", clip(x))
	}
	return 0, "is " + typeName(v)
}

// Reading reads a private number, or a truth value as 1 or 0; a missing one is NaN. ok is false for what is no
// finite number; nothing is said of it.
func Reading(v any) (x float64, ok bool) {
	switch x := v.(type) {
	case nil:
		return math.NaN(), true
	case int64:
		return float64(x), true
	case float64:
		return x, !math.IsNaN(x) && !math.IsInf(x, 0)
	case bool:
		if x {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

// Key reads a property that identifies a node.
func Key(v any) (graph.ID, string) {
	switch x := v.(type) {
	case nil:
		return "", "is missing"
	case int64:
		return graph.ID(strconv.FormatInt(x, 10)), ""
	case string:
		return graph.ID(x), ""
	case float64:
		return "", fmt.Sprintf("is %v, want a whole number or text", x)
	}
	return "", "is " + typeName(v) + ", want a whole number or text"
}

// Flag reads a property that marks a sensor: true, or a number other than 0.
func Flag(v any) (marked bool, wrong string) {
	switch x := v.(type) {
	case nil:
		return false, ""
	case bool:
		return x, ""
	case int64:
		return x != 0, ""
	case float64:
		if math.IsNaN(x) {
			return false, "is NaN"
		}
		return x != 0, ""
	case string:
		return false, fmt.Sprintf("is the text %q, want true, false or a number", clip(x))
	}
	return false, "is " + typeName(v) + ", want true, false or a number"
}

// Category reads a property that names a category. kind is "" where the value is
// missing; values of different kinds do not mix.
func Category(v any) (text, kind, wrong string) {
	switch x := v.(type) {
	case nil:
		return "", "", ""
	case string:
		return x, "text", ""
	case int64:
		return strconv.FormatInt(x, 10), "whole numbers", ""
	case bool:
		return strconv.FormatBool(x), "truth values", ""
	case float64:
		return "", "", fmt.Sprintf("is %v, want text or a whole number", x)
	}
	return "", "", "is " + typeName(v) + ", want text or a whole number"
}

// Parse reads a field of a CSV file as the narrowest value that writes back as
// the same text: nil for the empty field, a whole number, a number, true or
// false, else text. "007" is text, for as a number it would lose its zeros.
func Parse(field string) any {
	switch {
	case field == "":
		return nil
	case field == "true", field == "false":
		return field == "true"
	case !numeric(field):
		return field
	}
	if i, err := strconv.ParseInt(field, 10, 64); err == nil && strconv.FormatInt(i, 10) == field {
		return i
	}
	if x, err := strconv.ParseFloat(field, 64); err == nil {
		return x
	}
	return field
}

// numeric reports whether s can be a decimal number: no hexadecimal, and no zero
// in front of another digit.
func numeric(s string) bool {
	switch s {
	case "NaN", "Inf", "+Inf", "-Inf":
		return true
	}
	digits := s
	if s[0] == '-' || s[0] == '+' {
		digits = s[1:]
	}
	if len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' {
		return false
	}
	for _, c := range s {
		switch {
		case c >= '0' && c <= '9', c == '.', c == 'e', c == 'E', c == '-', c == '+':
		default:
			return false
		}
	}
	return true
}

func typeName(v any) string {
	if _, ok := v.([]any); ok {
		return "a list"
	}
	return fmt.Sprintf("a %T", v)
}

func clip(s string) string {
	if len(s) <= 40 {
		return s
	}
	return s[:40] + "…"
}

// SPDX-License-Identifier: Apache-2.0

// Package tau says what is known of the diffusion time τ of e^{-τL}: one number, anything in a range, or nothing.
package tau

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Range is what τ may be: anything from From to To, or one number where they are the same. The zero value is a τ that is
// to be searched.
type Range struct{ From, To float64 }

// At is a τ that is known.
func At(x float64) Range { return Range{x, x} }

// IsSearched reports whether nothing is known.
func (r Range) IsSearched() bool { return r == Range{} }

// IsWide reports whether τ may be several numbers.
func (r Range) IsWide() bool { return r.From < r.To }

// Check refuses what is no time: bounds that are not finite and > 0, and an end before the start.
func (r Range) Check() error {
	if r.IsSearched() || r.From > 0 && r.From <= r.To && r.To <= math.MaxFloat64 {
		return nil
	}
	return fmt.Errorf("tau from %v to %v, want 0 < from ≤ to", r.From, r.To)
}

// Value returns one τ, 0 where it is searched: of a range the middle on a logarithmic scale, in four
// digits where they lie in it.
func (r Range) Value() float64 {
	if !r.IsWide() {
		return r.From
	}
	middle := math.Sqrt(r.From) * math.Sqrt(r.To)
	if short, err := strconv.ParseFloat(strconv.FormatFloat(middle, 'g', 4, 64), 64); err == nil && r.From <= short && short <= r.To {
		return short
	}
	return min(max(middle, r.From), r.To)
}

// String is auto, a number, or FROM..TO.
func (r Range) String() string {
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	switch {
	case r.IsSearched():
		return "auto"
	case r.IsWide():
		return number(r.From) + ".." + number(r.To)
	}
	return number(r.From)
}

var errParse = errors.New("auto, a number > 0, or where sensors measure FROM..TO with 0 < FROM < TO, such as 1.5..2.5")

// Parse reads what [Range.String] writes. The error says what is wanted.
func (r *Range) Parse(text string) error {
	*r = Range{}
	if text == "auto" {
		return nil
	}
	low, high, wide := strings.Cut(text, "..")
	if !wide {
		high = low
	}
	x, err := strconv.ParseFloat(low, 64)
	y, err2 := strconv.ParseFloat(high, 64)
	if err != nil || err2 != nil || !(x > 0) || !(y <= math.MaxFloat64) || x > y || wide && x == y {
		return errParse
	}
	*r = Range{x, y}
	return nil
}

// MarshalJSON writes [Range.Value].
func (r Range) MarshalJSON() ([]byte, error) { return json.Marshal(r.Value()) }

// UnmarshalJSON reads a number; 0 is a τ that is searched.
func (r *Range) UnmarshalJSON(data []byte) error {
	var x float64
	err := json.Unmarshal(data, &x)
	*r = At(x)
	return err
}

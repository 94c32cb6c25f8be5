// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/internal/suggest"
)

// set parses and stores one value, whatever layer it came from.
func (c *Config) set(s Setting, raw any, o Origin) error {
	shown, want := s.store(s.field(c), raw)
	if s.notEmpty && raw == "" && o.Layer == LayerFlag {
		want = "a value, or no flag"
	}
	c.raw[s.Key] = shown
	if want == "" {
		return nil
	}
	text := clip(redact(fmt.Sprint(raw)))
	if s.Secret() {
		text = mask
	}
	return &Error{Key: s.Key, Value: text, Want: want, Origin: o}
}

// maxText bounds a text or a list in bytes.
const maxText = 1 << 16

// clip keeps what a message needs of a value.
func clip(text string) string {
	const most = 100
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// unfit says why a text cannot be a name, a path or a query: a query alone has
// lines.
func (s Setting) unfit(text string) string {
	switch {
	case len(text) > maxText:
		return fmt.Sprintf("at most %d bytes", maxText)
	case !utf8.ValidString(text):
		return "UTF-8"
	case strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) && !(strings.HasSuffix(s.Key, "Query") && (r == '\n' || r == '\r' || r == '\t'))
	}):
		return "no control characters"
	}
	return ""
}

// redact masks what stands before the @ of an address.
func redact(text string) string {
	start, end := strings.Index(text, "://"), strings.LastIndex(text, "@")
	if start < 0 || end < start {
		return text
	}
	return text[:start+3] + mask + text[end:]
}

// store parses raw into field. It returns the value to show; if it is not
// acceptable, also what is wanted.
func (s Setting) store(field, raw any) (shown any, want string) {
	if list, ok := field.(*[]string); ok {
		return s.storeList(list, raw)
	}
	text, ok := scalar(raw)
	if !ok {
		return nil, s.Want()
	}
	if blank, ok := raw.(string); ok && blank != "" && text == "" {
		return nil, "text that is not blank"
	}
	if wrong := s.unfit(text); wrong != "" && !s.Secret() {
		return clip(text), wrong
	}
	switch field := field.(type) {
	case *string:
		return s.storeText(field, text)
	case *bool:
		value, err := strconv.ParseBool(text)
		*field = value
		return value, s.wantIf(err != nil)
	case *float64:
		value, err := strconv.ParseFloat(text, 64)
		*field = value
		return value, s.wantIf(err != nil || !s.wants.contain(value))
	case **float64:
		if text == "" {
			return nil, ""
		}
		*field = new(float64)
		return s.store(*field, text)
	case parser:
		if err := field.Parse(text); err != nil {
			return text, err.Error()
		}
		if t, ok := field.(*tau.Range); ok && t.From > 0 && !t.IsWide() {
			return t.From, ""
		}
		return field.String(), ""
	}
	panic("config: no parser for " + s.Key)
}

func (s Setting) storeList(field *[]string, raw any) (shown any, want string) {
	items, ok := parseList(raw)
	if !ok {
		return nil, s.Want()
	}
	for _, item := range items {
		if wrong := s.unfit(item); wrong != "" {
			return nil, wrong
		}
	}
	*field = items
	return items, ""
}

func (s Setting) wantIf(bad bool) string {
	if bad {
		return s.Want()
	}
	return ""
}

func (s Setting) storeText(field *string, text string) (any, string) {
	*field = text
	if s.Values != nil && text != "" {
		at := slices.IndexFunc(s.Values, func(v string) bool { return strings.EqualFold(v, text) })
		if at < 0 {
			want := s.Want()
			if near := suggest.Nearest(text, s.Values); near != "" {
				want += "; did you mean " + near + "?"
			}
			return text, want
		}
		*field = s.Values[at]
	}
	if s.check != nil {
		if want := s.check(text); want != "" {
			return text, want
		}
	}
	return *field, ""
}

// scalar turns what YAML or JSON made of a value into text.
func scalar(raw any) (string, bool) {
	switch raw := raw.(type) {
	case nil:
		return "", true
	case string:
		return strings.TrimSpace(raw), true
	case float64:
		if raw == math.Trunc(raw) && math.Abs(raw) < 1<<53 {
			return strconv.FormatFloat(raw, 'f', -1, 64), true
		}
		return strconv.FormatFloat(raw, 'g', -1, 64), true
	case bool, int, int64, uint64:
		return fmt.Sprint(raw), true
	}
	return "", false
}

// parseList reads a list, or text with commas in which double quotes protect a
// comma. A lone * means all, as in GDS, and so does an empty list.
func parseList(raw any) ([]string, bool) {
	var items []string
	switch raw := raw.(type) {
	case nil:
	case []string:
		for _, text := range raw {
			more, ok := parseList(text)
			if !ok || text == "" {
				return nil, false
			}
			items = append(items, more...)
		}
	case []any:
		for _, x := range raw {
			item, ok := x.(string)
			if !ok {
				return nil, false
			}
			items = append(items, item)
		}
	case string:
		if raw == "" {
			return nil, true
		}
		r := csv.NewReader(strings.NewReader(raw))
		r.TrimLeadingSpace = true
		fields, err := r.Read()
		if _, end := r.Read(); err != nil || end != io.EOF { // a second line would be lost
			return nil, false
		}
		items = fields
	default:
		return nil, false
	}
	if slices.ContainsFunc(items, func(item string) bool { return strings.TrimSpace(item) == "" }) {
		return nil, false // not all of them: a variable may have been empty
	}
	if len(items) == 1 && items[0] == "*" {
		items = nil
	}
	return items, true
}

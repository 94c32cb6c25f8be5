// SPDX-License-Identifier: Apache-2.0

package config

import (
	"math"
	"reflect"
	"strings"
	"sync"
	"unicode"
)

// Group is a set of settings that a command takes as a whole.
type Group string

// Setting is one row of the table.
type Setting struct {
	Key     string // camelCase: the name in a file
	Group   Group
	Flag    string   // kebab-case; "" of a secret
	Short   string   // one letter, or ""
	Env     []string // environment variables, the first that is set wins
	Default string   // as text
	Values  []string // the only values allowed; nil: see Want
	Help    string   // one line
	For     string   // who chooses it differently from the next

	arg    string // placeholder in help
	wants  bounds // of a number
	check  func(text string) (want string)
	noFile bool // refused in a file: a choice of one invocation
	// notEmpty: an empty flag is an unset variable of a script that would spend without it.
	notEmpty bool
}

// row is a setting by its key, the placeholder of its value, one line of help, who chooses it differently, and what else there is.
func row(key, arg, help, choice string, more ...Setting) (s Setting) {
	if len(more) > 0 {
		s = more[0]
	}
	s.Key, s.arg, s.Help, s.For = key, arg, help, choice
	return s
}

// parser is a field that reads itself.
type parser interface {
	Parse(text string) error
	String() string
}

// places finds the field of each key: its tag, or its name with a small first letter.
var places = sync.OnceValue(func() map[string][]int {
	found := make(map[string][]int)
	var visit func(t reflect.Type, at []int)
	visit = func(t reflect.Type, at []int) {
		for f := range t.Fields() {
			path := append(at[:len(at):len(at)], f.Index...)
			if _, leaf := reflect.New(f.Type).Interface().(parser); f.Type.Kind() == reflect.Struct && !leaf {
				visit(f.Type, path)
				continue
			}
			key := f.Tag.Get("key")
			if key == "" {
				key = strings.ToLower(f.Name[:1]) + f.Name[1:]
			}
			found[key] = path
		}
	}
	visit(reflect.TypeFor[Config](), nil)
	return found
})

// field returns a pointer to the field of the setting.
func (s Setting) field(c *Config) any {
	return reflect.ValueOf(c).Elem().FieldByIndex(places()[s.Key]).Addr().Interface()
}

// defaultIn returns the default, which a command may have of its own.
func (s Setting) defaultIn(own map[string]string) string {
	if d, ok := own[s.Key]; ok {
		return d
	}
	return s.Default
}

// bounds is an interval of numbers; its zero value is all of them.
type bounds struct {
	min, max         float64
	openMin, openMax bool
	whole            bool
	text             string // "" if any finite number will do
}

func above(x float64) bounds {
	return bounds{min: x, max: math.MaxFloat64, openMin: true, text: "> " + number(x)}
}

func (b bounds) contain(x float64) bool {
	if math.IsNaN(x) || math.IsInf(x, 0) || b.whole && x != math.Trunc(x) {
		return false
	}
	return b.text == "" || (x > b.min || x == b.min && !b.openMin) && (x < b.max || x == b.max && !b.openMax)
}

// Secret reports whether the value must not be shown.
func (s Setting) Secret() bool {
	_, ok := s.field(new(Config)).(*Secret)
	return ok
}

// Type returns the kind of value: text, list, number or boolean.
func (s Setting) Type() string {
	switch s.field(new(Config)).(type) {
	case *[]string:
		return "list"
	case *float64, **float64:
		return "number"
	case *bool:
		return "boolean"
	}
	return "text"
}

// Want says in words which values are allowed.
func (s Setting) Want() string {
	if s.Values != nil {
		return strings.Join(s.Values, "|")
	}
	kinds := map[string]string{"list": "names separated by commas", "number": "a number", "boolean": "true or false", "text": "text"}
	return strings.TrimSpace(kinds[s.Type()] + " " + s.wants.text)
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

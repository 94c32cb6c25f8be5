// SPDX-License-Identifier: Apache-2.0

// Package strictjson reads JSON documents that come from outside. encoding/json
// takes the last of two equal keys and keys in any case, so that two readers of one
// file may see different things in it.
package strictjson

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ErrInvalid says that a document is not what it should be.
var ErrInvalid = errors.New("invalid JSON document")

// MaxDepth bounds the nesting of a document; ours stay below ten.
const MaxDepth = 64

// Unmarshal decodes exactly one document into v. Keys that v does not have, equal
// keys in one object, keys in another case, invalid UTF-8, numbers that do not fit,
// arrays of another length, text behind the document and nesting beyond [MaxDepth]
// are refused with [ErrInvalid]. The message names the place, never the value.
// A key that is missing leaves its field as it is: [Compare] finds it.
func Unmarshal(data []byte, v any) error {
	if err := checkDepth(data); err != nil {
		return err
	}
	if err := jsonv2.Unmarshal(data, v, jsonv2.RejectUnknownMembers(true)); err != nil {
		return explain(data, err)
	}
	return nil
}

// checkDepth refuses deep nesting before any decoder follows it.
func checkDepth(data []byte) error {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > MaxDepth {
				return fmt.Errorf("%w: nested more than %d deep", ErrInvalid, MaxDepth)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}

// explain says what is wrong and where, without the value. What a type's own
// decoder says passes through.
func explain(data []byte, err error) error {
	if e, ok := errors.AsType[*jsonv2.SemanticError](err); ok {
		at := place(e.JSONPointer)
		switch {
		case errors.Is(e.Err, jsonv2.ErrUnknownName):
			return fmt.Errorf("%w: %s is no key of it (case counts)", ErrInvalid, at)
		case e.Err != nil && decodesItself(e.GoType, e.JSONKind):
			return within(at, e.JSONPointer, e.Err)
		}
		return fmt.Errorf("%w: %s holds a %s that does not fit there", ErrInvalid, at, e.JSONKind)
	}
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		at := place(e.JSONPointer)
		switch {
		case errors.Is(e.Err, jsontext.ErrDuplicateName):
			return fmt.Errorf("%w: %s is there twice", ErrInvalid, at)
		case errors.Is(e.Err, io.ErrUnexpectedEOF):
			return fmt.Errorf("%w: it ends after %d bytes, within %s", ErrInvalid, len(data), at)
		}
		return fmt.Errorf("%w: no JSON at byte %d, within %s", ErrInvalid, e.ByteOffset, at)
	}
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: it is empty", ErrInvalid)
	}
	return fmt.Errorf("%w: it cannot be read", ErrInvalid)
}

// within adds the place to what a type's own decoder says.
func within(at string, p jsontext.Pointer, err error) error {
	switch {
	case p != "" && errors.Is(err, ErrInvalid):
		return fmt.Errorf("%s: %w", at, err)
	case p != "":
		return fmt.Errorf("%w: %s: %w", ErrInvalid, at, err)
	case errors.Is(err, ErrInvalid):
		return err
	}
	return fmt.Errorf("%w: %w", ErrInvalid, err)
}

// decodesItself reports whether a value of that kind is handed to a method of t.
func decodesItself(t reflect.Type, kind jsontext.Kind) bool {
	if t == nil {
		return false
	}
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) ||
		p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) && kind == '"'
}

// place quotes a JSON pointer, whose names are the document's own.
func place(p jsontext.Pointer) string {
	const longest = 120
	switch text := string(p); {
	case text == "":
		return "the document"
	case len(text) > longest:
		return fmt.Sprintf("%.*q…", longest, text)
	default:
		return fmt.Sprintf("%q", text)
	}
}

// Compare refuses a document, which has been decoded, that does not say the same as want: a key more or
// less, or another value. White space, the order of keys and the spelling of numbers
// and strings do not count. The message names the first difference in the order of
// RFC 8785; one in the string at the JSON pointer last, which may be a digest of the
// rest, only where there is no other.
func Compare(data, want []byte, last string) error {
	if bytes.Equal(bytes.Trim(data, " \t\r\n"), want) { // as we write it: most are
		return nil
	}
	got, err := Canonical(data)
	if err != nil {
		return err
	}
	expected, err := Canonical(want)
	if err != nil {
		return err
	}
	if bytes.Equal(got, expected) {
		return nil
	}
	return difference(got, expected, jsontext.Pointer(last))
}

// canonical is the form of RFC 8785, but with integers of any size exact.
var canonical = jsonv2.JoinOptions(jsontext.CanonicalizeRawFloats(true), jsontext.ReorderRawObjects(true))

// Canonical returns the form of RFC 8785, but with integers of any size exact.
func Canonical(data []byte) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(len(data) + len(data)/4 + 64) // as much as the encoder wants left at the end
	e := jsontext.NewEncoder(&b, canonical)
	if err := e.WriteValue(data); err != nil {
		return nil, explain(data, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}

// difference returns the first one of two canonical documents, which differ.
func difference(got, want []byte, last jsontext.Pointer) error {
	g, w := jsontext.NewDecoder(bytes.NewReader(got)), jsontext.NewDecoder(bytes.NewReader(want))
	for {
		a, errA := g.ReadToken()
		b, errB := w.ReadToken()
		if errA != nil || errB != nil { // both have ended: they differ in last alone
			return fmt.Errorf("%w: %s is not that of the rest: it was changed after it was made", ErrInvalid, place(last))
		}
		if a.Kind() == b.Kind() && a.String() == b.String() || a.Kind() == '"' && b.Kind() == '"' && last != "" &&
			w.StackPointer() == last && g.StackPointer() == last {
			continue
		}
		key := func(d *jsontext.Decoder, t jsontext.Token) bool {
			kind, n := d.StackIndex(d.StackDepth())
			return t.Kind() == '"' && kind == '{' && n%2 == 1
		}
		switch more, less := key(g, a), key(w, b); {
		case more && (!less || a.String() < b.String()):
			return fmt.Errorf("%w: %s is no key of it", ErrInvalid, place(g.StackPointer()))
		case less:
			return fmt.Errorf("%w: %s is missing", ErrInvalid, place(w.StackPointer()))
		}
		return fmt.Errorf("%w: %s is not what the rest of it gives", ErrInvalid, place(w.StackPointer()))
	}
}

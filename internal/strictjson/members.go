// SPDX-License-Identifier: Apache-2.0

package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// Object joins members, each one JSON value, to an object, by ascending name.
func Object(members map[string]Pieces) Pieces {
	pieces := Pieces{{'{'}}
	for k, name := range slices.Sorted(maps.Keys(members)) {
		var before []byte
		if k > 0 {
			before = []byte{','}
		}
		before, _ = jsontext.AppendQuote(before, name) // fails for no UTF-8, of which a decoder leaves nothing
		pieces = append(append(pieces, append(before, ':')), members[name]...)
	}
	return append(pieces, []byte{'}'})
}

// InPieces are members of an object for [Object].
func InPieces(members map[string]json.RawMessage) map[string]Pieces {
	pieces := make(map[string]Pieces, len(members))
	for name, text := range members {
		pieces[name] = Pieces{text}
	}
	return pieces
}

// Pieces are a text in parts, in their order: a long text is not copied to be put into another.
type Pieces [][]byte

// Join returns the text.
func (p Pieces) Join() []byte { return bytes.Join(p, nil) }

func (p Pieces) reader() io.Reader {
	readers := make([]io.Reader, len(p))
	for k, piece := range p {
		readers[k] = bytes.NewReader(piece)
	}
	return io.MultiReader(readers...)
}

// IsSpaced reports whether data, which is JSON, is want but for white space between tokens.
func IsSpaced(data []byte, want Pieces) bool {
	quoted, escaped := false, false
	var piece []byte
	for _, b := range data {
		if !quoted && (b == ' ' || b == '\n' || b == '\t' || b == '\r') {
			continue
		}
		for len(piece) == 0 && len(want) > 0 {
			piece, want = want[0], want[1:]
		}
		if len(piece) == 0 || b != piece[0] {
			return false
		}
		piece = piece[1:]
		if b == '"' && !escaped {
			quoted = !quoted
		}
		escaped = quoted && b == '\\' && !escaped
	}
	return len(piece) == 0 && len(want.Join()) == 0
}

// A list is written in parts of so many elements, of which so many are made at once.
const (
	elements = 1 << 10
	atOnce   = 16
)

// WriteList writes a list of n as encoding/json writes it, and holds no more of it than some parts; at is called by several goroutines.
func WriteList[T any](w io.Writer, n int, at func(i int) T) error {
	return writeParts(w, (n+elements-1)/elements, func(k int) ([]byte, error) {
		part := make([]T, min(elements, n-k*elements))
		for i := range part {
			part[i] = at(k*elements + i)
		}
		return json.Marshal(part)
	})
}

// writeParts writes one list of what n lists hold, in their order; part returns each as JSON without white space around it.
func writeParts(w io.Writer, n int, part func(k int) ([]byte, error)) error {
	var texts [atOnce][]byte
	var errs [atOnce]error
	before, after := "[", "]"
	for first := 0; first < n; first += atOnce {
		count := min(atOnce, n-first)
		parallel.Each(count, func(k int) { texts[k], errs[k] = part(first + k) })
		for k, text := range texts[:count] {
			if errs[k] != nil {
				return errs[k]
			}
			if _, err := io.WriteString(w, before); err != nil {
				return err
			}
			if _, err := w.Write(text[1 : len(text)-1]); err != nil {
				return err
			}
			before = ","
		}
	}
	if n == 0 {
		after = "[]"
	}
	_, err := io.WriteString(w, after)
	return err
}

// Length returns the length of what write writes.
func Length(write func(io.Writer) error) (n int, err error) {
	var c counter
	err = write(&c)
	return int(c), err
}

type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// Text returns what write writes. It calls it twice, first for the length: a long text is held once.
func Text(write func(io.Writer) error) ([]byte, error) {
	n, err := Length(write)
	if err != nil {
		return nil, err
	}
	b := bytes.NewBuffer(make([]byte, 0, n))
	err = write(b)
	return b.Bytes(), err
}

// longValue is the length, in bytes, from which [WriteCanonical] writes the parts of a value one by one, and of a part of a list.
const longValue = 1 << 16

// WriteCanonical writes what [Canonical] returns for the object of these members, and holds no more of it than some elements of its
// lists. Names are ASCII, at every depth. It returns [ErrInvalid] where a member is no JSON.
func WriteCanonical(w io.Writer, members map[string]json.RawMessage) error {
	c := canonicalWriter{w: w}
	c.object(members)
	return c.err
}

// canonicalWriter writes nothing more after an error.
type canonicalWriter struct {
	w   io.Writer
	err error
}

func (c *canonicalWriter) write(text []byte, err error) {
	if c.err == nil {
		c.err = err
	}
	if c.err == nil {
		_, c.err = c.w.Write(text)
	}
}

// object writes the members by ascending name: the order of RFC 8785 for ASCII.
func (c *canonicalWriter) object(members map[string]json.RawMessage) {
	c.write([]byte("{"), nil)
	for k, name := range slices.Sorted(maps.Keys(members)) {
		if k > 0 {
			c.write([]byte(","), nil)
		}
		c.write(jsontext.AppendQuote(nil, name))
		c.write([]byte(":"), nil)
		c.value(members[name])
	}
	c.write([]byte("}"), nil)
}

func (c *canonicalWriter) value(v []byte) {
	switch {
	case len(v) < longValue:
		c.write(Canonical(v))
	case v[0] == '{':
		members, err := Members(v)
		if err != nil && !errors.Is(err, ErrInvalid) {
			err = explain(v, err)
		}
		c.write(nil, err)
		c.object(members)
	case v[0] == '[' && v[len(v)-1] == ']':
		c.list(v[1 : len(v)-1])
	default:
		c.write(Canonical(v))
	}
}

// list writes a list between its brackets.
func (c *canonicalWriter) list(inner []byte) {
	if c.err != nil {
		return
	}
	parts := cut(inner)
	c.err = writeParts(c.w, len(parts), func(k int) ([]byte, error) {
		text, err := Canonical(slices.Concat([]byte("["), parts[k], []byte("]")))
		if err == nil && len(text) == len("[]") && len(parts) > 1 {
			return nil, fmt.Errorf("%w: an element is missing", ErrInvalid)
		}
		return text, err
	})
}

// cut cuts a list, without its brackets, at commas between elements, into parts of [longValue] and more.
func cut(inner []byte) (parts [][]byte) {
	depth, quoted, from := 0, false, 0
	for i := 0; i < len(inner); i++ {
		switch b := inner[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			depth++
		case b == '}' || b == ']':
			depth--
		case b == ',' && depth == 0 && i-from >= longValue:
			parts = append(parts, inner[from:i])
			from = i + 1
		}
	}
	return append(parts, inner[from:])
}

// Print writes a text with a line's end, on many lines unless indent is "". It holds no more of the result than a part.
func Print(w io.Writer, text Pieces, indent string) error {
	unchecked := jsontext.AllowDuplicateNames(true) // the text is a program's: no names are remembered
	d := jsontext.NewDecoder(text.reader(), unchecked)
	form := []jsontext.Options{unchecked, jsontext.PreserveRawStrings(true)}
	if indent != "" {
		form = append(form, jsontext.WithIndent(indent))
	}
	e := jsontext.NewEncoder(w, form...)
	for {
		t, err := d.ReadToken()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := e.WriteToken(t); err != nil {
			return err
		}
	}
}

// end reads the end of a value, behind which there is nothing.
func end(d *jsontext.Decoder) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return fmt.Errorf("%w: something is behind a value", ErrInvalid)
	}
	return nil
}

// Members returns the members of an object, which stay parts of its text.
func Members(object []byte) (map[string]json.RawMessage, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(object))
	if d.PeekKind() != '{' {
		return nil, fmt.Errorf("%w: it is no object", ErrInvalid)
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	members := make(map[string]json.RawMessage)
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		v, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		at := d.InputOffset()
		members[key] = object[at-int64(len(v)) : at : at] // v itself lasts until the next read
	}
	return members, end(d)
}

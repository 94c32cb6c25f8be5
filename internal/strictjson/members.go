// SPDX-License-Identifier: Apache-2.0

package strictjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// Object joins members to an object, by ascending name, as encoding/json writes a map, but
// without a look at them: names need no escape, and members are as encoding/json writes
// them.
func Object(members map[string]Pieces) Pieces {
	pieces := Pieces{{'{'}}
	for k, name := range slices.Sorted(maps.Keys(members)) {
		before := `"` + name + `":`
		if k > 0 {
			before = "," + before
		}
		pieces = append(append(pieces, []byte(before)), members[name]...)
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

// A list is written in parts of so many elements, of which so many are made at once.
const (
	elements = 1 << 10
	atOnce   = 16
)

// WriteList writes a list of n as encoding/json writes it, and holds no more of it than some parts; at is called by several goroutines.
func WriteList[T any](w io.Writer, n int, at func(i int) T) error {
	var texts [atOnce][]byte
	var errs [atOnce]error
	before := "["
	for first := 0; first < n; first += atOnce * elements {
		count := min(atOnce, (n-first+elements-1)/elements)
		parallel.Each(count, func(k int) {
			from := first + k*elements
			part := make([]T, min(elements, n-from))
			for i := range part {
				part[i] = at(from + i)
			}
			texts[k], errs[k] = json.Marshal(part)
		})
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
	after := "]"
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

// longValue is the length, in bytes, from which [WriteCanonical] writes the parts of a value one by one.
const longValue = 1 << 16

// WriteCanonical writes what [Canonical] returns for the object of these members, without holding it. Names are ASCII, at every
// depth. It returns [ErrInvalid] where a member is no JSON.
func WriteCanonical(w io.Writer, members map[string]json.RawMessage) error {
	if err := writeMembers(jsontext.NewEncoder(withoutNewline{w}, canonical), members); err != nil {
		return explain(nil, err)
	}
	return nil
}

// writeMembers writes them by ascending name: that of RFC 8785 for ASCII.
func writeMembers(e *jsontext.Encoder, members map[string]json.RawMessage) error {
	if err := e.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if err := e.WriteToken(jsontext.String(name)); err != nil {
			return err
		}
		if err := writeValue(e, members[name]); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndObject)
}

func writeValue(e *jsontext.Encoder, value []byte) error {
	kind := jsontext.Value(value).Kind()
	if len(value) < longValue || kind != '{' && kind != '[' {
		return e.WriteValue(value)
	}
	if kind == '{' {
		members, err := Members(value)
		if err != nil {
			return err
		}
		return writeMembers(e, members)
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(value))
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	err := e.WriteToken(jsontext.BeginArray)
	for err == nil && d.PeekKind() != ']' {
		var v jsontext.Value
		if v, err = d.ReadValue(); err == nil {
			err = writeValue(e, v)
		}
	}
	if err == nil {
		err = end(d)
	}
	if err != nil {
		return err
	}
	return e.WriteToken(jsontext.EndArray)
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

// withoutNewline leaves out the line's end that an encoder writes behind a value. There is none within canonical JSON.
type withoutNewline struct{ io.Writer }

func (w withoutNewline) Write(p []byte) (int, error) {
	_, err := w.Writer.Write(bytes.TrimSuffix(p, []byte{'\n'}))
	return len(p), err
}

// SPDX-License-Identifier: Apache-2.0

package strictjson

import (
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"slices"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// Text that encoding/json wrote is made canonical in pieces of at least pieceSize bytes, as
// many at a time as given by batch.
const (
	pieceSize = 1 << 16
	batch     = 64
)

// WriteCanonical writes [Canonical] of a text that encoding/json wrote: without white space.
// Long objects and arrays are made canonical in parts, by all processors, so that no copy of
// the whole is held. It returns the errors of Canonical and of w.
func WriteCanonical(w io.Writer, text []byte) error {
	switch {
	case len(text) < 2*pieceSize:
	case text[0] == '{':
		if names, values, ok := split(text); ok {
			return writeObject(w, names, values)
		}
	case text[0] == '[':
		return writeArray(w, text)
	}
	out, err := Canonical(text)
	if err != nil {
		return err
	}
	_, err = w.Write(out)
	return err
}

// WriteCanonicalMembers is [WriteCanonical] of the [Object] with these members, in less time
// where the names are plain letters and digits.
func WriteCanonicalMembers(w io.Writer, members map[string]json.RawMessage) error {
	names := slices.Sorted(maps.Keys(members))
	if len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return !plain([]byte(name)) }) {
		return WriteCanonical(w, Object(members).Join())
	}
	values := make([][]byte, len(names))
	for k, name := range names {
		values[k] = members[name]
	}
	return writeObject(w, names, values)
}

func writeObject(w io.Writer, names []string, values [][]byte) error {
	order := make([]int, len(names))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(names[i], names[j]) })
	before := "{"
	for _, k := range order {
		if _, err := io.WriteString(w, before+`"`+names[k]+`":`); err != nil {
			return err
		}
		if err := WriteCanonical(w, values[k]); err != nil {
			return err
		}
		before = ","
	}
	_, err := io.WriteString(w, "}")
	return err
}

// writeArray writes the elements in pieces, each of them an array of its own whose brackets
// are left out. Some are written while those behind them are made.
func writeArray(w io.Writer, text []byte) error {
	before := "["
	behind := writerBehind{w: w}
	defer behind.wait() // for w is the caller's again then
	for rest := text[1 : len(text)-1]; len(rest) > 0; {
		var pieces [][]byte
		for len(rest) > 0 && len(pieces) < batch {
			end := pieceEnd(rest)
			pieces = append(pieces, rest[:end])
			rest = rest[min(end+1, len(rest)):]
		}
		errs := make([]error, len(pieces))
		parallel.Rows(len(pieces), pieceSize, func(lo, hi int) {
			for k := lo; k < hi; k++ {
				pieces[k], errs[k] = Canonical(slices.Concat([]byte{'['}, pieces[k], []byte{']'}))
			}
		})
		for k := range pieces {
			if errs[k] != nil {
				return errs[k]
			}
			pieces[k] = pieces[k][:len(pieces[k])-1]
			pieces[k][0] = before[0]
			before = ","
		}
		if err := behind.write(pieces); err != nil {
			return err
		}
	}
	if err := behind.wait(); err != nil {
		return err
	}
	_, err := io.WriteString(w, "]")
	return err
}

// writerBehind writes on a goroutine of its own, one list of pieces at a time.
type writerBehind struct {
	w    io.Writer
	done chan struct{} // of the list that is being written; nil: none
	err  error         // of the last
	net  parallel.Net
}

// write begins to write, once what came before is written, and returns the error of that.
func (b *writerBehind) write(pieces [][]byte) error {
	if err := b.wait(); err != nil {
		return err
	}
	b.done = make(chan struct{})
	go func() {
		defer close(b.done)
		defer b.net.Catch()
		for _, piece := range pieces {
			if _, b.err = b.w.Write(piece); b.err != nil {
				return
			}
		}
	}()
	return nil
}

// wait returns once nothing is being written, with the error of it.
func (b *writerBehind) wait() error {
	if b.done != nil {
		<-b.done
		b.done = nil
		b.net.Raise()
	}
	return b.err
}

// pieceEnd returns the end of the first elements of at least pieceSize bytes in all.
func pieceEnd(elements []byte) int {
	end := 0
	for end < len(elements) && end < pieceSize {
		if end > 0 {
			end++ // the comma
		}
		end += valueEnd(elements[end:], ',')
	}
	if end == len(elements)-1 { // nothing behind the last comma: no JSON
		end++
	}
	return end
}

// split returns the members of an object whose names are distinct and of plain letters and
// digits.
func split(object []byte) (names []string, values [][]byte, ok bool) {
	seen := make(map[string]bool)
	for rest := object[1 : len(object)-1]; len(rest) > 0; {
		end := valueEnd(rest, ':')
		if end < 2 || end == len(rest) || !plain(rest[1:end-1]) || seen[string(rest[1:end-1])] {
			return nil, nil, false
		}
		seen[string(rest[1:end-1])] = true
		names, rest = append(names, string(rest[1:end-1])), rest[end+1:]
		end = valueEnd(rest, ',')
		values, rest = append(values, rest[:end]), rest[min(end+1, len(rest)):]
	}
	return names, values, true
}

func plain(name []byte) bool {
	return !slices.ContainsFunc(name, func(c byte) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9')
	})
}

// structure marks the bytes that say where a value ends: all others are passed over.
var structure = func() (marks [256]bool) {
	for _, c := range `"{}[],:` {
		marks[c] = true
	}
	return marks
}()

// valueEnd returns where the mark, a comma or a colon, stands first outside of strings, objects
// and arrays, or the length.
func valueEnd(text []byte, mark byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if !structure[c] {
			continue
		}
		switch {
		case c == '"':
			i = stringEnd(text, i+1)
		case c == mark && depth == 0:
			return i
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
	}
	return len(text)
}

// stringEnd returns where the quotation mark stands that ends the string whose text begins at
// i, or the length.
func stringEnd(text []byte, i int) int {
	for i < len(text) && text[i] != '"' {
		if text[i] == '\\' {
			i++
		}
		i++
	}
	return i
}

// SPDX-License-Identifier: Apache-2.0

package document

import (
	"bytes"
	"slices"

	"github.com/graphcloak/graphcloak/internal/parallel"
	"github.com/graphcloak/graphcloak/internal/strictjson"
)

// long is the length of a text that is taken apart, and of the parts that are made canonical by themselves, in bytes.
const long = 1 << 16

// canonical returns the pieces of the canonical form of a text without white space, in which no name of a long object has an
// escape, as encoding/json writes ours. Long arrays are worked on by all processors, a few elements at a time.
func canonical(text []byte) (strictjson.Pieces, error) {
	switch {
	case len(text) > long && text[0] == '{':
		return canonicalObject(text)
	case len(text) > long && text[0] == '[':
		return canonicalArray(text)
	}
	whole, err := strictjson.Canonical(text)
	return strictjson.Pieces{whole}, err
}

func canonicalObject(text []byte) (pieces strictjson.Pieces, err error) {
	members := split(text, 0)
	slices.SortFunc(members, bytes.Compare) // a name that begins another one ends with a quote, which is below all letters
	for k, m := range members {
		name, value, _ := bytes.Cut(m, []byte(`":`))
		inner, err := canonical(value)
		if err != nil {
			return nil, err
		}
		before := byte(',')
		if k == 0 {
			before = '{'
		}
		pieces = append(append(pieces, []byte{before}, name, []byte(`":`)), inner...)
	}
	return append(pieces, []byte{'}'}), nil
}

func canonicalArray(text []byte) (strictjson.Pieces, error) {
	pieces := strictjson.Pieces(split(text, long))
	err := parallel.Try(len(pieces), long, func(lo, hi int) error {
		for k := lo; k < hi; k++ {
			elements, err := strictjson.Canonical(slices.Concat([]byte{'['}, pieces[k], []byte{']'}))
			if err != nil {
				return err
			}
			if k > 0 {
				elements[0] = ','
			}
			pieces[k] = elements[:len(elements)-1]
		}
		return nil
	})
	return append(pieces, []byte{']'}), err
}

// split cuts what is between the brackets of an object or array into parts of at least so many bytes, without the commas at
// which it cuts.
func split(text []byte, least int) (parts [][]byte) {
	depth, quoted, begin := 0, false, 1
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case c == ',' && depth == 1 && i-begin >= least:
			parts = append(parts, text[begin:i])
			begin = i + 1
		}
	}
	return append(parts, text[begin:len(text)-1])
}

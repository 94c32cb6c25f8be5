// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

const (
	byteOrderMark = "\ufeff"

	// maxRow bounds the bytes of a row. A quotation mark that is left open makes one
	// field of the rest of a file.
	maxRow    = 16 << 20
	readAhead = 1 << 16
)

// source hands a file to the reader of CSV, row by row bounded, and keeps the
// bytes of the row that is being read where it is to be written again.
type source struct {
	r    io.Reader
	keep bool

	mark  int64 // bytes of a byte-order mark
	read  int64 // bytes that were handed over
	row   int64 // where the row begins
	bytes []byte
}

// begin returns the reader behind a byte-order mark.
func (s *source) begin() (*bufio.Reader, error) {
	r := bufio.NewReaderSize(s, readAhead)
	start, _ := r.Peek(len(byteOrderMark)) // an error comes again
	if string(start) == byteOrderMark {
		s.mark = int64(len(byteOrderMark))
		s.bytes = bytes.TrimPrefix(s.bytes, []byte(byteOrderMark))
		_, err := r.Discard(len(byteOrderMark))
		return r, err
	}
	if bytes.HasPrefix(start, []byte{0xff, 0xfe}) || bytes.HasPrefix(start, []byte{0xfe, 0xff}) {
		return nil, errors.New("is UTF-16: save it as UTF-8")
	}
	return r, nil
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.read += int64(n)
	if s.keep {
		s.bytes = append(s.bytes, p[:n]...)
	}
	if s.read-s.mark-s.row > maxRow+readAhead {
		return n, fmt.Errorf("a row has more than %d bytes: is a quotation mark left open?", maxRow)
	}
	return n, err
}

// rowAt says where the next row begins, from the end of the byte-order mark.
func (s *source) rowAt(offset int64) {
	if s.keep {
		s.bytes = s.bytes[offset-s.row:]
	}
	s.row = offset
}

// blank returns the length of the blank lines that raw begins with: they are no
// rows.
func blank(raw []byte) int {
	n := 0
	for {
		rest := raw[n:]
		switch {
		case bytes.HasPrefix(rest, []byte("\n")):
			n++
		case bytes.HasPrefix(rest, []byte("\r\n")):
			n += 2
		default:
			return n
		}
	}
}

// split parts a row at the delimiters outside quotation marks, behind other fields.
func split(fields [][]byte, row []byte, delimiter byte) [][]byte {
	start, quoted := 0, false
	for k, c := range row {
		switch {
		case c == '"':
			quoted = !quoted
		case c == delimiter && !quoted:
			fields = append(fields, row[start:k])
			start = k + 1
		}
	}
	return append(fields, row[start:])
}

// delimiters that may part the columns, in the order in which they are tried.
var delimiters = []byte{',', '\t', ';', '|'}

// delimiter returns the first of the delimiters that stands outside quotation marks in
// the header line, the first line that is not blank; a comma where none does.
func delimiter(start []byte) rune {
	line, _, _ := bytes.Cut(start[blank(start):], []byte{'\n'})
	for _, d := range delimiters {
		if len(split(nil, line, d)) > 1 {
			return rune(d)
		}
	}
	return ','
}

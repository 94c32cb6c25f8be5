// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"

	"github.com/graphcloak/graphcloak/connector"
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

// copyTo writes the table with another header and what change makes of each row,
// without the columns that are not used.
func (t *table) copyTo(ctx context.Context, w *bufio.Writer, header []string, used []bool, progress func(string, int64, int64),
	change func([]string) []string,
) error {
	if t.source.mark > 0 {
		w.WriteString(byteOrderMark)
	}
	if err := t.put(w, t.header, header, used); err != nil {
		return errors.Join(err, t.file.Close())
	}
	err := t.each(ctx, progress, func(_ int, fields []string) error {
		return t.put(w, fields, change(fields), used)
	})
	if err != nil {
		return err
	}
	w.Write(t.source.bytes) // blank lines at the end
	return w.Flush()
}

// put writes the row that was handed over last with other values: those that did not
// change byte by byte, quotes, blank lines and the end of the line included.
// Columns that are not used are left out; those beyond the old ones are new.
func (t *table) put(w *bufio.Writer, was, now []string, used []bool) error {
	raw := t.source.bytes[:t.reader.InputOffset()-t.source.row]
	lead := raw[:blank(raw)]
	body := bytes.TrimSuffix(bytes.TrimSuffix(raw[len(lead):], []byte{'\n'}), []byte{'\r'})
	end := raw[len(lead)+len(body):]
	t.raw = split(t.raw[:0], body, byte(t.reader.Comma))
	fields := t.raw
	if len(fields) != len(was) {
		return fmt.Errorf("%w: %s has a row that cannot be rewritten", connector.ErrInput, t.name)
	}
	w.Write(lead)
	written := 0
	for k, text := range now {
		if used != nil && !used[k] {
			continue
		}
		if written > 0 {
			w.WriteByte(byte(t.reader.Comma))
		}
		written++
		if k < len(was) && text == was[k] {
			w.Write(fields[k])
		} else if err := putField(w, text, t.reader.Comma); err != nil {
			return err
		}
	}
	_, err := w.Write(end)
	return err // that of any write before
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

// plain reports whether a text is written as it is, whatever the delimiter.
func plain(text string) bool {
	for k := range len(text) {
		switch c := text[k]; {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '.', c == '-', c == '+':
		default:
			return false
		}
	}
	return true
}

func putField(w *bufio.Writer, text string, delimiter rune) error {
	if plain(text) {
		_, err := w.WriteString(text)
		return err
	}
	var field bytes.Buffer
	c := csv.NewWriter(&field)
	c.Comma = delimiter
	if err := c.Write([]string{text}); err != nil {
		return err
	}
	c.Flush()
	w.Write(bytes.TrimSuffix(field.Bytes(), []byte{'\n'}))
	return c.Error()
}
